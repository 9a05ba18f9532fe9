// Linux calls and constants that Swift's Glibc module does not show. No logic.
#pragma once
#include "runtime.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// recv(2) and send(2), without the C library's look at the thread, which may be cancelled, and without its errno: bytes, or
// -errno. The library's own on other processors, and under a sanitizer.
long csystem_receive(int descriptor, void *bytes, size_t count, int flags);
long csystem_send(int descriptor, const void *bytes, size_t count, int flags);

// accept4(2); `address` is a struct sockaddr.
int csystem_accept4(int listener, void *address, unsigned int *length, int flags);

// SIOCINQ, SIOCOUTQ: bytes, or -1 with errno.
int csystem_receive_queue(int descriptor);
int csystem_send_queue(int descriptor);

// The part of TCP_INFO that this project shows. Fields beyond what the kernel filled are -1.
struct csystem_tcp_info {
  int state;
  int64_t rtt_microseconds, congestion_window, retransmits, not_sent;
  // Of a listener: connections that wait for accept, and how many may.
  int64_t waiting, waiting_limit;
  int64_t busy_microseconds, receiver_limited_microseconds, buffer_limited_microseconds;
  int is_application_limited;  // -1: not known
  int64_t bytes_sent, bytes_acked, bytes_received, delivery_rate;
};

// 0, or errno.
int csystem_tcp_info(int descriptor, struct csystem_tcp_info *out);

// A word of the calling thread's own; NULL until it is set.
extern _Thread_local void *csystem_word_of_thread;
static inline void *csystem_thread_word(void) { return csystem_word_of_thread; }
static inline void csystem_set_thread_word(void *word) { csystem_word_of_thread = word; }

// Names the calling thread; at most 15 bytes.
void csystem_name_thread(const char *name);

// The kernel's number of the calling thread (gettid), by which /proc names it.
int csystem_thread_number(void);

// secure_getenv(3): null as well where the program runs with more rights than its caller (set-uid, set-gid, capabilities).
const char *csystem_secure_getenv(const char *name);

// The user at the other end of a Unix-domain socket (SO_PEERCRED); -1 with errno when it is not known.
int64_t csystem_peer_user(int descriptor);

// The process that listened at the other end of a connected Unix-domain socket, as this process's PID namespace numbers
// it; 0 when it has no number there.
int csystem_peer_process(int descriptor);

// What the kernel says of any socket of this host (sock_diag(7)).
struct csystem_diag {
  uint64_t inode;
  // Of a Unix-domain socket: the inode of the other end; 0: none.
  uint64_t peer;
  // Bytes, or -1 where it is not said.
  int64_t receive_queue, send_queue;
  // Of a TCP socket: its state as the kernel numbers it, and whether a FIN is among what was not read yet.
  int state, has_unread_end;
};

// A descriptor for the questions below, or -1 with errno.
int csystem_diag_open(void);

// The TCP connection with these ends (in network order, as many bytes as the family has). 0, or errno: ENOENT when there
// is none.
int csystem_diag_tcp(int descriptor, int family, const void *local, uint16_t local_port, const void *remote,
                     uint16_t remote_port, struct csystem_diag *out);

// The Unix-domain socket with this inode. 0, or errno.
int csystem_diag_unix(int descriptor, uint64_t inode, struct csystem_diag *out);

// Memory into which datagrams are received, 64 at a time, and what the kernel said of each.
struct csystem_inbox;

// One datagram: its first and its further bytes, its own length (longer where its end was cut off), a struct sockaddr,
// and of IP_PKTINFO the interface's index (0: not known), the family (0: not known) and the destination.
struct csystem_arrival {
  const void *head, *tail;
  unsigned head_length, tail_length, length;
  const void *source;
  unsigned source_length, interface;
  int family;
  uint64_t destination[2];
};

// `tails_size`: bytes for what goes beyond the first 2,048 of each datagram. NULL: no memory.
struct csystem_inbox *csystem_inbox_make(size_t tails_size);
void csystem_inbox_free(struct csystem_inbox *inbox);

// recvmmsg(2): how many came, at most `most`, of each no more than `limit` bytes; or -1 with errno.
int csystem_inbox_receive(struct csystem_inbox *inbox, int descriptor, unsigned most, unsigned limit);
const struct csystem_arrival *csystem_inbox_arrival(const struct csystem_inbox *inbox, unsigned index);

// A datagram to be sent; `destination` is a struct sockaddr, NULL: the connected peer.
struct csystem_departure {
  const void *bytes, *destination;
  size_t length;
  unsigned destination_length;
};

// sendmmsg(2): how many the kernel took, of at most 64; or -1 with errno.
int csystem_send_datagrams(int descriptor, const struct csystem_departure *departures, unsigned count);

// connect(2) to AF_UNSPEC: the socket has no peer any more. 0, or -1 with errno.
int csystem_dissolve(int descriptor);

// SO_MEMINFO.
struct csystem_memory {
  unsigned received, receive_buffer, drops;
};

// 0, or errno.
int csystem_memory(int descriptor, struct csystem_memory *out);

// process_vm_readv(2): reads up to `size` bytes of another process's memory; how many, or -1 with errno.
ptrdiff_t csystem_read_memory(int process, uint64_t address, void *into, size_t size);

// pidfd_open(2) and pidfd_getfd(2): a duplicate of another process's descriptor, closed on exec; or -1 with errno.
int csystem_duplicate(int process, int descriptor);

// sched_setaffinity(2): keeps the calling thread on one CPU. 0, or -1 with errno.
int csystem_stay_on_processor(int processor);

// setns(2): moves the calling thread into a network namespace. 0, or -1 with errno.
int csystem_enter_network(int namespace);

// SO_PEEK_OFF, or -1 where none is set or the kernel does not tell.
int csystem_peek_offset(int descriptor);

// Whether the kernel encrypts what is written or decrypts what is read (the TCP_ULP "tls").
int csystem_has_kernel_tls(int descriptor);
