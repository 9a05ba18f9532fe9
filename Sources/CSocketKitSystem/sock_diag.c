// What only sock_diag(7) says of a socket of this process, and the descriptor for all other questions.
#include "CSocketKitSystem.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

int csystem_diag_open(void) {
  int descriptor = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (descriptor < 0) return -1;
  // The kernel answers at once or never.
  struct timeval limit = {.tv_sec = 0, .tv_usec = 200000};
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return descriptor;
}

// Sends one request and waits for its answer; its length, or -1 with errno. `buffer` is aligned for a header.
static ssize_t ask(int descriptor, void *request, size_t length, void *buffer, size_t room) {
  static unsigned sequence;
  struct nlmsghdr *header = request;
  header->nlmsg_len = length;
  header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
  header->nlmsg_flags = NLM_F_REQUEST;
  header->nlmsg_seq = __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED);
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  if (sendto(descriptor, request, length, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0) return -1;
  for (int tries = 0; tries < 8; tries++) {
    ssize_t count = recv(descriptor, buffer, room, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    struct nlmsghdr *answer = buffer;
    if (!NLMSG_OK(answer, count)) break;
    if (answer->nlmsg_seq != header->nlmsg_seq) continue;
    if (answer->nlmsg_type == NLMSG_ERROR) {
      struct nlmsgerr *error = NLMSG_DATA(answer);
      errno = answer->nlmsg_len >= NLMSG_LENGTH(sizeof *error) && error->error ? -error->error : EPROTO;
      return -1;
    }
    return count;
  }
  errno = EPROTO;
  return -1;
}

int csystem_unix_backlog(int listener, int64_t *waiting, int64_t *limit) {
  struct stat facts;
  if (fstat(listener, &facts) < 0) return errno;
  struct {
    struct nlmsghdr header;
    struct unix_diag_req body;
  } request;
  memset(&request, 0, sizeof request);
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0U;
  request.body.udiag_ino = facts.st_ino;
  request.body.udiag_show = UDIAG_SHOW_RQLEN;
  request.body.udiag_cookie[0] = request.body.udiag_cookie[1] = ~0U;
  int descriptor = csystem_diag_open();
  if (descriptor < 0) return errno;
  _Alignas(struct nlmsghdr) char buffer[8192];
  int problem = ask(descriptor, &request, sizeof request, buffer, sizeof buffer) < 0 ? errno : 0;
  close(descriptor);
  if (problem) return problem;
  struct nlmsghdr *answer = (struct nlmsghdr *)buffer;
  int left = (int)answer->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct unix_diag_msg));
  char *message = NLMSG_DATA(answer);
  struct rtattr *attribute = (struct rtattr *)(message + NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    struct unix_diag_rqlen *lengths = RTA_DATA(attribute);
    if (attribute->rta_type != UNIX_DIAG_RQLEN || RTA_PAYLOAD(attribute) < sizeof *lengths) continue;
    *waiting = lengths->udiag_rqueue;
    *limit = lengths->udiag_wqueue;
    return 0;
  }
  return EPROTO;
}
