// Linux calls and constants that Swift's Glibc module does not show. No logic.
#pragma once
#include "runtime.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// recv(2) and send(2) as direct system calls, without the C library's cancellation point and errno. Return a byte
// count, or -errno. Under a sanitizer, and except on x86-64 and arm64, they call the library.
long csystem_receive(int descriptor, void *bytes, size_t count, int flags);
long csystem_send(int descriptor, const void *bytes, size_t count, int flags);

// accept4(2). `address` points to a struct sockaddr.
int csystem_accept4(int listener, void *address, unsigned int *length, int flags);

// SIOCINQ and SIOCOUTQ. Return a byte count, or -1 with errno.
int csystem_receive_queue(int descriptor);
int csystem_send_queue(int descriptor);

// The part of TCP_INFO that this project shows. Fields that the kernel did not fill are -1.
struct csystem_tcp_info {
  int state;
  int64_t rtt_microseconds, congestion_window, retransmits, not_sent;
  // For a listener, the number of connections waiting for accept, and the limit.
  int64_t waiting, waiting_limit;
  int64_t busy_microseconds, receiver_limited_microseconds, buffer_limited_microseconds;
  int is_application_limited;  // -1: not known
  int64_t bytes_sent, bytes_acked, bytes_received, delivery_rate;
};

// Returns 0, or errno.
int csystem_tcp_info(int descriptor, struct csystem_tcp_info *out);

// A word private to the calling thread, or NULL until it is set.
extern _Thread_local void *csystem_word_of_thread;
static inline void *csystem_thread_word(void) { return csystem_word_of_thread; }
static inline void csystem_set_thread_word(void *word) { csystem_word_of_thread = word; }

// Names the calling thread. A name has at most 15 bytes.
void csystem_name_thread(const char *name);

// Returns the kernel's number of the calling thread (gettid), which /proc uses.
int csystem_thread_number(void);

// secure_getenv(3). Also returns NULL if the program runs with more privileges than its caller (set-uid, set-gid,
// capabilities).
const char *csystem_secure_getenv(const char *name);

// Returns the user of a Unix-domain socket's peer (SO_PEERCRED), or -1 with errno if it is unknown.
int64_t csystem_peer_user(int descriptor);

// Returns the process that listened at the other end of a connected Unix-domain socket, numbered in this process's PID
// namespace, or 0 if it has no number there.
int csystem_peer_process(int descriptor);

// Returns a descriptor for queries about the sockets of this host (sock_diag(7)), or -1 with errno.
int csystem_diag_open(void);

// Queries how many connections wait at a Unix-domain listener of this process, and how many may. Returns 0, or errno,
// which is ENOENT if the kernel lacks the interface.
int csystem_unix_backlog(int listener, int64_t *waiting, int64_t *limit);

// A buffer that receives up to 64 datagrams at a time, with the kernel's facts about each.
struct csystem_inbox;

// One datagram: its first and remaining bytes, its full length (larger if it was truncated), and its source, a struct
// sockaddr. From IP_PKTINFO it has the interface index, the family (each 0 if unknown) and the destination.
struct csystem_arrival {
  const void *head, *tail;
  unsigned head_length, tail_length, length;
  const void *source;
  unsigned source_length, interface;
  int family;
  uint64_t destination[2];
};

// `tails_size` is the room for bytes beyond the first 2,048 of each datagram. Returns NULL if memory is short.
struct csystem_inbox *csystem_inbox_make(size_t tails_size);
void csystem_inbox_free(struct csystem_inbox *inbox);

// recvmmsg(2). Receives at most `most` datagrams of at most `limit` bytes each. Returns their number, or -1 with errno.
int csystem_inbox_receive(struct csystem_inbox *inbox, int descriptor, unsigned most, unsigned limit);
const struct csystem_arrival *csystem_inbox_arrival(const struct csystem_inbox *inbox, unsigned index);

// A datagram to send. `destination` is a struct sockaddr, or NULL for the connected peer.
struct csystem_departure {
  const void *bytes, *destination;
  size_t length;
  unsigned destination_length;
};

// sendmmsg(2). Sends at most 64 datagrams. Returns how many the kernel accepted, or -1 with errno.
int csystem_send_datagrams(int descriptor, const struct csystem_departure *departures, unsigned count);

// connect(2) to AF_UNSPEC, which removes the socket's peer. Returns 0, or -1 with errno.
int csystem_dissolve(int descriptor);

// SO_MEMINFO.
struct csystem_memory {
  unsigned received, receive_buffer, drops;
};

// Returns 0, or errno.
int csystem_memory(int descriptor, struct csystem_memory *out);

// process_vm_readv(2). Reads up to `size` bytes of another process's memory. Returns their number, or -1 with errno.
ptrdiff_t csystem_read_memory(int process, uint64_t address, void *into, size_t size);

// pidfd_open(2) and pidfd_getfd(2). Returns a duplicate of another process's descriptor, closed on exec, or -1 with
// errno.
int csystem_duplicate(int process, int descriptor);

// sched_setaffinity(2). Pins the calling thread to one CPU. Returns 0, or -1 with errno.
int csystem_stay_on_processor(int processor);

// malloc_trim(3). Gives freed memory back to the system where the C library can, and from now on large blocks at once.
void csystem_trim_memory(void);

// setns(2). Moves the calling thread into a network namespace. Returns 0, or -1 with errno.
int csystem_enter_network(int namespace);

// Returns SO_PEEK_OFF, or -1 if it is not set or the kernel does not report it.
int csystem_peek_offset(int descriptor);

// Returns whether the kernel encrypts writes or decrypts reads (the TCP_ULP "tls").
int csystem_has_kernel_tls(int descriptor);
