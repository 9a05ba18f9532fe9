// Linux calls that take the connects of another program through a relay: seccomp_unotify(2), pidfd_getfd(2). No policy.
// An address is a pointer to a struct sockaddr_storage.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "CSockTUICalls.h"

// The calls that a program under the filter makes, and that wait for an answer.
enum crun_call {
  CRUN_CONNECT, CRUN_PEER_NAME, CRUN_OWN_NAME, CRUN_ERROR, CRUN_URING, CRUN_LISTEN, CRUN_EXEC,
};

// One call that waits. `thread` is the caller's number. The arguments of CRUN_EXEC are those of execveat(2).
struct crun_notice {
  uint64_t id;
  int thread;
  enum crun_call call;
  uint64_t arguments[6];
};

// What a program that is about to run reports: 0, or errno of the step that failed.
struct crun_report {
  int error;
  // 1: fork, 2: seccomp, 3: exec.
  int step;
  // The processes of the guard and of the tracer, children of the receiver. 0 for none. They end with the program.
  int guard, tracer;
};

// MARK: In the new process

// If `arguments` are those of a process that was started to become a program under the filter, becomes that program.
// Returns only if they are not. The form is NAME --become DESCRIPTOR PATH ARGUMENTS..., or --become-traced.
void crun_become(char *const *arguments);

// MARK: In this process

// Makes the two sockets for the reports of a new process: ours, and the one that it inherits. Both close on exec. Returns
// 0, or errno.
int crun_report_pair(int ends[2]);

// What comes with a report: the filter, what the guard watches, and the memory of waiting calls. -1 for none.
struct crun_gift {
  int filter, guard, memory;
};

// Waits for the report of the new process. Returns false if the process ended without one.
int crun_receive_report(int socket, struct crun_report *report, struct crun_gift *gift);

// The calls that were taken and not answered, in memory that the guard shares, so that none waits forever. Returns NULL if
// there is none; then nothing is remembered.
enum { CRUN_MEMORY = 4096 * sizeof(uint64_t) };
struct crun_waiting;
struct crun_waiting *crun_map(int memory);
void crun_unmap(struct crun_waiting *waiting);

// Takes a notice. Returns 0, or errno; ENOENT if the caller no longer waits.
int crun_receive(int filter, struct crun_waiting *waiting, struct crun_notice *out);

// Answers a call: `error` is 0 or an errno, and with `passes` the kernel does the call as if there were no filter.
// Returns 0, or errno.
int crun_answer(int filter, struct crun_waiting *waiting, uint64_t id, int error, int passes);

// Lets all calls pass that are remembered.
void crun_pass_all(int filter, struct crun_waiting *waiting);

// Whether the caller still waits.
int crun_waits(int filter, uint64_t id);

// Returns the process of a thread, or `thread` if it is not known.
int crun_process(int thread);

// Whether a program that is about to run would gain rights by its file, if it were not for the filter, which keeps them
// from it. Writes its name, as UTF-8 or not, if it does.
enum { CRUN_NAME = 256 };
int crun_gains_rights(const struct crun_notice *notice, char name[CRUN_NAME]);

// MARK: A terminal

// Opens a terminal. Returns our end, which closes on exec, and writes the path of the other end, or returns -1 with errno.
int crun_open_terminal(char path[CRUN_NAME]);
void crun_resize_terminal(int terminal, int columns, int rows);

// MARK: Descriptors and memory of other processes

// pidfd_getfd(2) for the process of a thread. Returns a descriptor that closes on exec, or -1 with errno.
int crun_take(int thread, int descriptor);

// process_vm_readv(2) and process_vm_writev(2). Return whether all bytes were copied.
int crun_read(int thread, uint64_t address, void *bytes, size_t count);
int crun_write(int thread, uint64_t address, const void *bytes, size_t count);

// The facts of a socket that decide whether and how its connect is taken.
struct crun_socket {
  uint64_t cookie;
  int family, type, protocol;
  int is_nonblocking, is_on_device, is_foreign, is_fast_open, closes_on_exec;
  // SO_SNDTIMEO in microseconds, or 0 for none.
  int64_t timeout;
};

// The number of a socket's network namespace, or 0 where the kernel has none.
uint64_t crun_space(int socket);

// Reads the facts. `own` is the number of the own network namespace. Returns 0, or errno.
int crun_describe(int socket, uint64_t own, struct crun_socket *out);

// What /proc tells of a descriptor of another thread, where it may not be duplicated: see `crun_socket`, whose cookie is the
// number of the socket's file. Returns 0, or errno.
int crun_describe_from_outside(int thread, int descriptor, struct crun_socket *out);

// Opens a socket of the same kind, which closes on exec. Returns -1 with errno.
int crun_open_like(const struct crun_socket *socket);

// The number of a socket's file, or 0.
uint64_t crun_file(int socket);

// Puts a duplicate of `socket` in the place of a caller's descriptor (SECCOMP_IOCTL_NOTIF_ADDFD). Returns 0, or errno; ENOENT
// if the caller no longer waits.
int crun_replace(int filter, uint64_t id, int socket, int descriptor, int closes_on_exec);

// Returns 0 if sockets of a process can be replaced and its memory be read, or errno.
int crun_may_replace(int filter, int process);

// Returns SO_COOKIE, or 0 if it is no socket.
uint64_t crun_cookie(int socket);

// Listens on a loopback port that the kernel chooses. If `is_full`, the queue of connections is full, so that the kernel
// drops every request, and sockets of `crun_open_towards` can share the port. `filler` is then the socket that fills it.
// Returns the listener, or -1 with errno.
int crun_listen(int family, int is_full, void *address, int *filler);

// connect(2) and getsockname(2) with lengths by family. Return 0, or errno.
int crun_connect(int socket, const void *address);
int crun_name(int socket, void *address);

// bind(2) to the address, without its port. Returns 0, or errno.
int crun_bind_host(int socket, const void *address);

// connect(2) to AF_UNSPEC: the socket can connect again.
void crun_dissolve(int socket);

// Whether the socket has a peer.
int crun_has_peer(int socket);

// Takes the socket's error (SO_ERROR), which is 0 from then on.
int crun_drain_error(int socket);

// Opens a connection from `from`, a full listener's address, to a socket that is connecting to it, by a simultaneous open.
// Returns a nonblocking socket once it is established, or -1 with errno.
int crun_open_towards(const void *from, const void *to);

// A socket for questions to the kernel about others (sock_diag(7)), or -1.
int crun_open_diagnosis(void);

// Whether the socket with a number (SO_COOKIE) no longer connects from one address to another. Another socket may have
// taken its place. `kernel` is of crun_open_diagnosis. Returns 0 where the kernel does not say.
int crun_is_gone(int kernel, uint64_t cookie, const void *source, const void *destination);

// Accepts the connection from an address, which is established, and resets all others. Returns -1 if it does not come
// within a second, or without an address when there are no others. `strangers` counts the others.
int crun_accept_from(int listener, const void *from, unsigned *strangers);

// Closes with RST instead of FIN.
void crun_reset(int socket);

// eventfd(2), nonblocking, closed on exec. Returns -1 with errno.
int crun_event(void);

// poll(2) for input on up to 8 descriptors. Returns a bit for each that has some, in their order, and CRUN_HUNG_UP if the
// first has hung up.
#define CRUN_HUNG_UP 256
int crun_wait(const int *descriptors, int count, int milliseconds);
