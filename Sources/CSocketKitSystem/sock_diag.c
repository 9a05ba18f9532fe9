// What the kernel says of any socket of this host: sock_diag(7), one question and one answer at a time.
#include "CSocketKitSystem.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
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

int csystem_diag_tcp(int descriptor, int family, const void *local, uint16_t local_port, const void *remote,
                     uint16_t remote_port, struct csystem_diag *out) {
  struct {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
  } request;
  memset(&request, 0, sizeof request);
  request.body.sdiag_family = family;
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  request.body.id.idiag_sport = htons(local_port);
  request.body.id.idiag_dport = htons(remote_port);
  size_t size = family == AF_INET6 ? 16 : 4;
  memcpy(request.body.id.idiag_src, local, size);
  memcpy(request.body.id.idiag_dst, remote, size);
  request.body.id.idiag_cookie[0] = request.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  _Alignas(struct nlmsghdr) char buffer[8192];
  if (ask(descriptor, &request, sizeof request, buffer, sizeof buffer) < 0) return errno;
  struct nlmsghdr *answer = (struct nlmsghdr *)buffer;
  if (answer->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg))) return EPROTO;
  struct inet_diag_msg *message = NLMSG_DATA(answer);
  // Where there is no such connection, the kernel names a listener that would have taken it.
  if (message->id.idiag_dport != request.body.id.idiag_dport || message->idiag_state == 10) return ENOENT;
  out->inode = message->idiag_inode;
  out->receive_queue = message->idiag_rqueue;
  // The kernel counts a FIN that was not read yet as one byte (CLOSE-WAIT, LAST-ACK, CLOSING).
  int state = message->idiag_state;
  out->state = state;
  out->has_unread_end = out->receive_queue > 0 && (state == 8 || state == 9 || state == 11);
  if (out->has_unread_end) out->receive_queue--;
  out->send_queue = message->idiag_wqueue;
  return 0;
}

int csystem_diag_unix(int descriptor, uint64_t inode, struct csystem_diag *out) {
  struct {
    struct nlmsghdr header;
    struct unix_diag_req body;
  } request;
  memset(&request, 0, sizeof request);
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0U;
  request.body.udiag_ino = inode;
  request.body.udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
  request.body.udiag_cookie[0] = request.body.udiag_cookie[1] = ~0U;
  _Alignas(struct nlmsghdr) char buffer[8192];
  if (ask(descriptor, &request, sizeof request, buffer, sizeof buffer) < 0) return errno;
  struct nlmsghdr *answer = (struct nlmsghdr *)buffer;
  if (answer->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg))) return EPROTO;
  struct unix_diag_msg *message = NLMSG_DATA(answer);
  out->inode = out->peer = 0;
  out->receive_queue = out->send_queue = -1;
  out->state = out->has_unread_end = 0;
  int left = answer->nlmsg_len - NLMSG_LENGTH(sizeof *message);
  struct rtattr *attribute = (struct rtattr *)((char *)message + NLMSG_ALIGN(sizeof *message));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(uint32_t)) {
      out->peer = *(uint32_t *)RTA_DATA(attribute);
    } else if (attribute->rta_type == UNIX_DIAG_RQLEN && RTA_PAYLOAD(attribute) >= sizeof(struct unix_diag_rqlen)) {
      struct unix_diag_rqlen *lengths = RTA_DATA(attribute);
      out->receive_queue = lengths->udiag_rqueue;
      out->send_queue = lengths->udiag_wqueue;
    }
  }
  out->inode = message->udiag_ino;
  return 0;
}
