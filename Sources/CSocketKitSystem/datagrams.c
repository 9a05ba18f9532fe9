// recvmmsg, sendmmsg, and control messages, which are macros in C and nothing in Swift.
#define _GNU_SOURCE
#include "CSocketKitSystem.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

// The first bytes of each datagram lie close together; what goes beyond lies apart, in memory that small datagrams
// never touch.
#define SLOTS 64
#define HEAD 2048

struct slot {
  struct sockaddr_storage source;
  // Room for the larger of in_pktinfo and in6_pktinfo.
  union {
    struct cmsghdr aligned;
    char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
  } control;
};

struct csystem_inbox {
  struct mmsghdr messages[SLOTS];
  struct iovec parts[SLOTS][2];
  struct slot slots[SLOTS];
  struct csystem_arrival arrivals[SLOTS];
  unsigned limit, usable;
  unsigned char *tails;
  size_t tails_size;
  unsigned char heads[SLOTS][HEAD];
};

struct csystem_inbox *csystem_inbox_make(size_t tails_size) {
  struct csystem_inbox *inbox = calloc(1, sizeof *inbox);
  if (!inbox) return NULL;
  inbox->tails = malloc(tails_size);
  inbox->tails_size = tails_size;
  if (inbox->tails) return inbox;
  free(inbox);
  return NULL;
}

void csystem_inbox_free(struct csystem_inbox *inbox) {
  free(inbox->tails);
  free(inbox);
}

static void ready(struct csystem_inbox *inbox, unsigned index) {
  struct msghdr *header = &inbox->messages[index].msg_hdr;
  header->msg_namelen = sizeof inbox->slots[index].source;
  header->msg_controllen = sizeof inbox->slots[index].control;
}

static void prepare(struct csystem_inbox *inbox, unsigned limit) {
  size_t head = limit < HEAD ? limit : HEAD, tail = limit - head;
  size_t usable = tail ? inbox->tails_size / tail : SLOTS;
  inbox->limit = limit;
  inbox->usable = usable < SLOTS ? (unsigned)usable : SLOTS;
  for (unsigned i = 0; i < inbox->usable; i++) {
    struct msghdr *header = &inbox->messages[i].msg_hdr;
    inbox->parts[i][0] = (struct iovec){inbox->heads[i], head};
    inbox->parts[i][1] = (struct iovec){inbox->tails + i * tail, tail};
    header->msg_iov = inbox->parts[i];
    header->msg_iovlen = tail ? 2 : 1;
    header->msg_name = &inbox->slots[i].source;
    header->msg_control = &inbox->slots[i].control;
    ready(inbox, i);
  }
}

static void describe(struct csystem_inbox *inbox, unsigned index) {
  struct msghdr *header = &inbox->messages[index].msg_hdr;
  struct csystem_arrival *arrival = &inbox->arrivals[index];
  unsigned length = inbox->messages[index].msg_len;
  unsigned kept = length < inbox->limit ? length : inbox->limit;
  unsigned head = kept < HEAD ? kept : HEAD;
  *arrival = (struct csystem_arrival){
      .head = inbox->heads[index], .head_length = head,
      .tail = inbox->parts[index][1].iov_base, .tail_length = kept - head,
      .length = length, .source = &inbox->slots[index].source, .source_length = header->msg_namelen};
  for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
      const struct in_pktinfo *info = (const void *)CMSG_DATA(part);
      arrival->interface = info->ipi_ifindex;
      arrival->family = AF_INET;
      memcpy(arrival->destination, &info->ipi_addr, 4);
    } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
      const struct in6_pktinfo *info = (const void *)CMSG_DATA(part);
      arrival->interface = info->ipi6_ifindex;
      arrival->family = AF_INET6;
      memcpy(arrival->destination, &info->ipi6_addr, 16);
    }
  }
}

int csystem_inbox_receive(struct csystem_inbox *inbox, int descriptor, unsigned most, unsigned limit) {
  if (inbox->limit != limit) prepare(inbox, limit);
  if (most > inbox->usable) most = inbox->usable;
  // MSG_TRUNC as a flag: the length is the datagram's own, also where its end was cut off.
  int count = recvmmsg(descriptor, inbox->messages, most, MSG_DONTWAIT | MSG_TRUNC, NULL);
  for (int i = 0; i < count; i++) {
    describe(inbox, i);
    ready(inbox, i);
  }
  return count;
}

const struct csystem_arrival *csystem_inbox_arrival(const struct csystem_inbox *inbox, unsigned index) {
  return &inbox->arrivals[index];
}

int csystem_send_datagrams(int descriptor, const struct csystem_departure *departures, unsigned count) {
  struct mmsghdr messages[SLOTS];
  struct iovec parts[SLOTS];
  if (count > SLOTS) count = SLOTS;
  memset(messages, 0, count * sizeof *messages);
  for (unsigned i = 0; i < count; i++) {
    struct msghdr *header = &messages[i].msg_hdr;
    parts[i] = (struct iovec){(void *)departures[i].bytes, departures[i].length};
    header->msg_iov = &parts[i];
    header->msg_iovlen = 1;
    header->msg_name = (void *)departures[i].destination;
    header->msg_namelen = departures[i].destination_length;
  }
  return sendmmsg(descriptor, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int csystem_dissolve(int descriptor) {
  struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  return connect(descriptor, &nobody, sizeof nobody);
}

int csystem_memory(int descriptor, struct csystem_memory *out) {
  uint32_t values[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof values;
  if (getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, values, &length) < 0) return errno;
  out->received = values[SK_MEMINFO_RMEM_ALLOC];
  out->receive_buffer = values[SK_MEMINFO_RCVBUF];
  out->drops = length > SK_MEMINFO_DROPS * sizeof *values ? values[SK_MEMINFO_DROPS] : 0;
  return 0;
}
