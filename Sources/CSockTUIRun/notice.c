// What is done to the calls of a program under the filter, and to its sockets.
#define _GNU_SOURCE
#include "CSockTUIRun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// From newer headers than some that this is built with.
#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif
#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

// MARK: Calls

// The kernel numbers calls one after another, so two rarely have the same place.
#define PLACES (CRUN_MEMORY / sizeof(uint64_t))
struct crun_waiting {
  _Atomic uint64_t calls[PLACES];
};

struct crun_waiting *crun_map(int memory) {
  void *mapped = memory < 0 ? MAP_FAILED
                            : mmap(NULL, sizeof(struct crun_waiting), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

void crun_unmap(struct crun_waiting *waiting) {
  if (waiting) munmap(waiting, sizeof *waiting);
}

void crun_pass_all(int filter, struct crun_waiting *waiting) {
  for (size_t place = 0; waiting && place < PLACES; place++)
    if (waiting->calls[place] != 0) crun_answer(filter, waiting, waiting->calls[place], 0, 1);
}

int crun_receive(int filter, struct crun_waiting *waiting, struct crun_notice *out) {
  struct seccomp_notif notice;
  memset(&notice, 0, sizeof notice);
  if (ioctl(filter, SECCOMP_IOCTL_NOTIF_RECV, &notice) < 0) return errno;
  if (waiting) waiting->calls[notice.id % PLACES] = notice.id;
  out->id = notice.id;
  out->thread = notice.pid;
  memcpy(out->arguments, notice.data.args, sizeof out->arguments);
  switch (notice.data.nr) {
    case __NR_connect: out->call = CRUN_CONNECT; break;
    case __NR_getpeername: out->call = CRUN_PEER_NAME; break;
    case __NR_getsockname: out->call = CRUN_OWN_NAME; break;
    case __NR_getsockopt: out->call = CRUN_ERROR; break;
    case __NR_listen: out->call = CRUN_LISTEN; break;
    case __NR_execveat: out->call = CRUN_EXEC; break;
    case __NR_execve:
      out->call = CRUN_EXEC;
      memmove(out->arguments + 1, out->arguments, sizeof *out->arguments);
      out->arguments[0] = (uint64_t)AT_FDCWD;
      break;
    default: out->call = CRUN_URING;
  }
  return 0;
}

int crun_answer(int filter, struct crun_waiting *waiting, uint64_t id, int error, int passes) {
  struct seccomp_notif_resp answer = {
      .id = id, .error = -error, .flags = passes ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
  int result = ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0 ? errno : 0;
  if (waiting && waiting->calls[id % PLACES] == id) waiting->calls[id % PLACES] = 0;
  return result;
}

int crun_waits(int filter, uint64_t id) { return ioctl(filter, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0; }

// MARK: Sockets

static int option_of(int socket, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(socket, level, name, &value, &length) < 0 ? -1 : value;
}

static int option(int socket, int name) { return option_of(socket, SOL_SOCKET, name); }

static uint64_t cookie(int socket, int name) {
  uint64_t value = 0;
  socklen_t length = sizeof value;
  return getsockopt(socket, SOL_SOCKET, name, &value, &length) < 0 ? 0 : value;
}

int crun_name(int socket, void *address) {
  socklen_t length = sizeof(struct sockaddr_storage);
  memset(address, 0, length);
  return getsockname(socket, address, &length) < 0 ? errno : 0;
}

uint64_t crun_cookie(int socket) { return cookie(socket, SO_COOKIE); }

uint64_t crun_space(int socket) { return cookie(socket, SO_NETNS_COOKIE); }

int crun_describe(int socket, uint64_t own, struct crun_socket *out) {
  memset(out, 0, sizeof *out);
  if ((out->family = option(socket, SO_DOMAIN)) < 0) return errno;
  out->type = option(socket, SO_TYPE);
  out->protocol = option(socket, SO_PROTOCOL);
  out->cookie = crun_cookie(socket);
  out->is_foreign = crun_space(socket) != own;
  out->is_fast_open = option_of(socket, IPPROTO_TCP, TCP_FASTOPEN_CONNECT) > 0;
  out->is_nonblocking = (fcntl(socket, F_GETFL) & O_NONBLOCK) != 0;
  char device[16] = "";
  socklen_t length = sizeof device - 1;
  if (getsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, device, &length) == 0)
    out->is_on_device = device[0] != 0 && strcmp(device, "lo") != 0;
  struct timeval timeout = {0};
  length = sizeof timeout;
  getsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, &length);
  out->timeout = timeout.tv_sec * 1000000LL + timeout.tv_usec;
  return 0;
}

static socklen_t length_of(const void *address) {
  return ((const struct sockaddr *)address)->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

int crun_connect(int socket, const void *address) {
  return connect(socket, address, length_of(address)) < 0 ? errno : 0;
}

int crun_bind_host(int socket, const void *address) {
  struct sockaddr_storage host;
  memcpy(&host, address, sizeof host);
  // The port has the same place in both families.
  ((struct sockaddr_in *)&host)->sin_port = 0;
  int one = 1;
  setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  return bind(socket, (struct sockaddr *)&host, length_of(&host)) < 0 ? errno : 0;
}

void crun_dissolve(int socket_) {
  struct sockaddr nothing = {.sa_family = AF_UNSPEC};
  if (connect(socket_, &nothing, sizeof nothing) < 0) {}
}

int crun_has_peer(int socket) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  return getpeername(socket, (struct sockaddr *)&peer, &length) == 0;
}

int crun_drain_error(int socket) { return option(socket, SO_ERROR); }

void crun_reset(int socket) {
  struct linger now = {1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(socket);
}

// Closes a socket that could not be made ready, and keeps errno.
static int give_up(int socket) {
  int error = errno;
  close(socket);
  errno = error;
  return -1;
}

static int open_stream(int family, int shares_port) {
  int socket_ = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
  if (socket_ < 0 || !shares_port) return socket_;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  return socket_;
}

int crun_listen(int family, int is_full, void *address, int *filler) {
  int listener = open_stream(family, is_full);
  if (listener < 0) return -1;
  memset(address, 0, sizeof(struct sockaddr_storage));
  ((struct sockaddr *)address)->sa_family = family;
  if (family == AF_INET6) ((struct sockaddr_in6 *)address)->sin6_addr = in6addr_loopback;
  else ((struct sockaddr_in *)address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, address, length_of(address)) < 0) return give_up(listener);
  if (crun_name(listener, address) != 0 || listen(listener, is_full ? 0 : 1024) < 0) return give_up(listener);
  if (!is_full) return listener;
  // A backlog of 0 has room for one.
  *filler = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (*filler < 0) return give_up(listener);
  if (crun_connect(*filler, address) == 0) return listener;
  close(*filler);
  return give_up(listener);
}

// The number of a socket by its own address and its peer's, in the form of inet_diag_sockid.
static void fill_place(struct inet_diag_sockid *place, const void *source, const void *destination) {
  const struct sockaddr_in *from = source, *to = destination;
  place->idiag_sport = from->sin_port;
  place->idiag_dport = to->sin_port;
  if (from->sin_family == AF_INET6) {
    memcpy(place->idiag_src, &((const struct sockaddr_in6 *)source)->sin6_addr, 16);
    memcpy(place->idiag_dst, &((const struct sockaddr_in6 *)destination)->sin6_addr, 16);
  } else {
    place->idiag_src[0] = from->sin_addr.s_addr;
    place->idiag_dst[0] = to->sin_addr.s_addr;
  }
}

int crun_open_diagnosis(void) { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG); }

// The answer to one question, or -1. A late answer to an earlier one is passed over.
static ssize_t ask(int kernel, struct nlmsghdr *request, void *answer, size_t size) {
  static _Thread_local uint32_t number;
  request->nlmsg_seq = ++number;
  if (send(kernel, request, request->nlmsg_len, 0) != (ssize_t)request->nlmsg_len) return -1;
  ssize_t count;
  do count = recv(kernel, answer, size, 0);
  while (count >= NLMSG_HDRLEN && ((struct nlmsghdr *)answer)->nlmsg_seq != number);
  return count;
}

int crun_is_gone(int kernel, uint64_t cookie, const void *source, const void *destination) {
  struct {
    struct nlmsghdr head;
    struct inet_diag_req_v2 asked;
  } request = {{sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0}, {0}};
  request.asked.sdiag_family = ((const struct sockaddr *)source)->sa_family;
  request.asked.sdiag_protocol = IPPROTO_TCP;
  request.asked.idiag_states = ~0U;
  fill_place(&request.asked.id, source, destination);
  request.asked.id.idiag_cookie[0] = (uint32_t)cookie;
  request.asked.id.idiag_cookie[1] = (uint32_t)(cookie >> 32);
  union { struct nlmsghdr head; char bytes[1024]; } answer;
  ssize_t count = ask(kernel, &request.head, &answer, sizeof answer);
  if (count < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) || answer.head.nlmsg_type != NLMSG_ERROR) return 0;
  int error = ((struct nlmsgerr *)NLMSG_DATA(&answer.head))->error;
  // There is none, or another one has its place.
  return error == -ENOENT || error == -ESTALE;
}

int crun_open_towards(const void *from, const void *to) {
  int opened = open_stream(((const struct sockaddr *)from)->sa_family, 1);
  if (opened < 0) return -1;
  if (bind(opened, from, length_of(from)) < 0) return give_up(opened);
  errno = crun_connect(opened, to);
  if (errno == 0) return opened;
  if (errno != EINPROGRESS) return give_up(opened);
  struct pollfd polled = {opened, POLLOUT, 0};
  if (poll(&polled, 1, 1000) != 1) errno = ETIMEDOUT;
  else errno = crun_drain_error(opened);
  return errno == 0 ? opened : give_up(opened);
}

static int is_same_name(const struct sockaddr_storage *one, const struct sockaddr_storage *other) {
  // What comes before the address, and its length, depend on the family. Flow and scope are not compared.
  const int is_v6 = one->ss_family == AF_INET6;
  const size_t place = is_v6 ? offsetof(struct sockaddr_in6, sin6_addr) : offsetof(struct sockaddr_in, sin_addr);
  return one->ss_family == other->ss_family &&
         ((const struct sockaddr_in *)one)->sin_port == ((const struct sockaddr_in *)other)->sin_port &&
         memcmp((const char *)one + place, (const char *)other + place, is_v6 ? 16 : 4) == 0;
}

int crun_accept_from(int listener, const void *from, unsigned *strangers) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += 1;
  while (1) {
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int accepted = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0 && from && is_same_name(&peer, from)) return accepted;
    if (accepted >= 0) {
      *strangers += 1;
      crun_reset(accepted);
    } else if (!from) {
      return -1;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec)) return -1;
    struct pollfd polled = {listener, POLLIN, 0};
    if (accepted < 0) poll(&polled, 1, 100);
  }
}

int crun_event(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int crun_wait(const int *descriptors, int count, int milliseconds) {
  struct pollfd polled[8] = {{0}};
  if (count > 8) count = 8;
  for (int index = 0; index < count; index++) polled[index] = (struct pollfd){descriptors[index], POLLIN, 0};
  if (poll(polled, count, milliseconds) <= 0) return 0;
  int bits = 0;
  for (int index = 0; index < count; index++)
    if (polled[index].revents & POLLIN) bits |= 1 << index;
  return polled[0].revents & (POLLHUP | POLLERR | POLLNVAL) ? bits | CRUN_HUNG_UP : bits;
}
