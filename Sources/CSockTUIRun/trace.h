// What the files of the tracer share.
#pragma once
#include <stdint.h>

#include "CSockTUICalls.h"

#if defined(__x86_64__)
#define CRUN_MACHINE 0xC000003EU /* AUDIT_ARCH_X86_64 */
#elif defined(__aarch64__)
#define CRUN_MACHINE 0xC00000B7U /* AUDIT_ARCH_AARCH64 */
#else
#define CRUN_MACHINE 0U
#endif

// What a call does to descriptors, and where its amount is.
enum crun_form {
  // The descriptor, an address and its size.
  CRUN_BYTES,
  // The descriptor, and an array of pieces.
  CRUN_VECTOR,
  // The descriptor, and one struct msghdr, or an array of struct mmsghdr.
  CRUN_MESSAGE, CRUN_MESSAGES,
  // sendfile(2) and splice(2).
  CRUN_FILE, CRUN_PIPE,
  // The descriptor, and no amount.
  CRUN_PLAIN,
  // The number of a descriptor becomes free, or another's: its own, the second argument, or those of a range.
  CRUN_CLOSE, CRUN_DUPLICATE, CRUN_RANGE,
  // An array of descriptors, sets of them, or an epoll, with a time in milliseconds or in memory.
  CRUN_POLL, CRUN_POLL_UNTIL, CRUN_SELECT, CRUN_SELECT_UNTIL, CRUN_EPOLL, CRUN_EPOLL_UNTIL,
  // clone(2) with its flags in the first argument, or at its address.
  CRUN_CLONE, CRUN_CLONE_AT,
  // A thread's descriptors become its own.
  CRUN_UNSHARE,
};

struct crun_row {
  int number;
  const char *name;
  enum crun_form form;
};

extern const struct crun_row crun_rows[];
extern const int crun_row_count;

// The bytes that a call asks for, or -1 if it names none, or they can't be read.
int64_t crun_asked(const struct crun_row *row, int thread, const uint64_t arguments[6]);

// What a call that waits for descriptors asks.
struct crun_poll {
  // In nanoseconds, or -1 for forever.
  int64_t timeout;
  // How many descriptors it names, or -1 if they are in the kernel. The first of them are in `descriptors`.
  int count, listed;
  int descriptors[1024];
};

// Returns 0 if the call waits for no descriptors.
int crun_is_poll(const struct crun_row *row);

// Reads what the call asks. Returns 0 if it does not wait, or if that can't be read.
int crun_read_poll(const struct crun_row *row, int thread, const uint64_t arguments[6], struct crun_poll *out);

// The bytes of the messages that a call has moved.
int64_t crun_moved(int thread, const uint64_t arguments[6], int64_t messages);

// Makes the memory through which calls are handed on. Returns a descriptor that closes on exec, or -1 with errno.
int crun_make_calls(void);

// Hands a record on, or counts it. Returns 0 if there was no room.
int crun_put_call(struct crun_calls *calls, const struct crun_traced_call *call);
void crun_count_strange(struct crun_calls *calls);
void crun_count_hidden(struct crun_calls *calls);

// Returns the process that was noted at this place, 0 if none was yet, or -1 if there are too many.
int crun_ring(const struct crun_calls *calls, unsigned place);

// Makes room for what is traced. Returns 0, or -1 without memory.
int crun_prepare_trace(struct crun_calls *calls, int watch);

// Traces what it was let to trace, until there is none of it.
_Noreturn void crun_trace(void);

// MARK: In the new process

// Starts the tracer of the calling process, which its filter does not concern yet. A tracer that could not be started has
// an error.
struct crun_tracer crun_start_tracer(void);

// Hands the tracer over, and closes its descriptors. Returns 0 if that fails.
int crun_send_tracer(int socket, struct crun_tracer tracer);

// Lets the calls of this process stop for its tracer. Returns 0, or -1 with errno. A process with this filter and no tracer
// gets ENOSYS from each of these calls, so a tracer stays until the end.
int crun_install_trace(void);
