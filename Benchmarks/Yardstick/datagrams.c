// Datagrams in C: the sender of all receivers, and the receiver that is the reference.
//   datagrams send PORT COUNT SIZE    sendmmsg of 64 at a time to 127.0.0.1:PORT; prints "sent N"
//   datagrams receive                 epoll and recvmmsg of 64 at a time; prints "ready PORT", and after a line on stdin
//                                     and when its queue is empty "received N delivered N bytes N drops N own 0 cpu NS"
//   datagrams receive bare            the same without asking for source, destination and interface
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define ROOM 2048

static void die(const char *what) { perror(what); exit(1); }

static struct sockaddr_in loopback(int port) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int send_all(int port, long count, int size) {
  static char payload[65536];
  struct mmsghdr messages[BATCH] = {0};
  struct iovec part = {payload, size};
  struct sockaddr_in to = loopback(port);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  long sent = 0;
  memset(payload, 1, sizeof payload);
  for (int i = 0; i < BATCH; i++) {
    messages[i].msg_hdr = (struct msghdr){.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
  }
  while (sent < count) {
    int n = sendmmsg(fd, messages, count - sent < BATCH ? count - sent : BATCH, 0);
    if (n < 0) die("sendmmsg");
    sent += n;
  }
  printf("sent %ld\n", sent);
  return 0;
}

static long cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static unsigned memory(int fd, int which) {
  unsigned values[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof values;
  if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, values, &length) < 0) die("SO_MEMINFO");
  return values[which];
}

static struct { char control[CMSG_SPACE(sizeof(struct in6_pktinfo))]; struct sockaddr_storage from; } slots[BATCH];
static char buffers[BATCH][ROOM];

int main(int argc, char **argv) {
  if (argc == 5 && !strcmp(argv[1], "send")) return send_all(atoi(argv[2]), atol(argv[3]), atoi(argv[4]));
  int bare = argc == 3 && !strcmp(argv[2], "bare"), on = 1;
  if (argc < 2 || strcmp(argv[1], "receive")) return fprintf(stderr, "datagrams: send or receive\n"), 2;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), set = epoll_create1(0);
  struct sockaddr_in own = loopback(0);
  socklen_t length = sizeof own;
  if (bind(fd, (void *)&own, sizeof own) < 0 || getsockname(fd, (void *)&own, &length) < 0) die("bind");
  if (!bare && setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) < 0) die("IP_PKTINFO");
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd}, line = {.events = EPOLLIN, .data.fd = 0};
  if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) < 0 || epoll_ctl(set, EPOLL_CTL_ADD, 0, &line) < 0) die("epoll_ctl");
  struct mmsghdr messages[BATCH] = {0};
  struct iovec parts[BATCH];
  for (int i = 0; i < BATCH; i++) {
    parts[i] = (struct iovec){buffers[i], ROOM};
    messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
  }
  printf("ready %d\n", ntohs(own.sin_port));
  fflush(stdout);
  long received = 0, bytes = 0, before = cpu(), interfaces = 0, ports = 0;
  for (int ended = 0; !ended || memory(fd, SK_MEMINFO_RMEM_ALLOC) > 0;) {
    struct epoll_event ready[8];
    int events = epoll_wait(set, ready, 8, ended ? 1 : -1);
    for (int e = 0; e < events; e++) {
      if (ready[e].data.fd == 0) {
        ended = 1;
        epoll_ctl(set, EPOLL_CTL_DEL, 0, NULL);
        continue;
      }
      for (int round = 0; round < 16; round++) {
        for (int i = 0; i < BATCH && !bare; i++) {
          messages[i].msg_hdr.msg_name = &slots[i].from;
          messages[i].msg_hdr.msg_namelen = sizeof slots[i].from;
          messages[i].msg_hdr.msg_control = slots[i].control;
          messages[i].msg_hdr.msg_controllen = sizeof slots[i].control;
        }
        int n = recvmmsg(fd, messages, BATCH, 0, NULL);
        if (n < 0 && errno == EAGAIN) break;
        if (n < 0) die("recvmmsg");
        for (int i = 0; i < n; i++) {
          bytes += messages[i].msg_len + (unsigned char)buffers[i][0];
          if (bare) continue;
          struct cmsghdr *part = CMSG_FIRSTHDR(&messages[i].msg_hdr);
          if (part) interfaces += ((struct in_pktinfo *)CMSG_DATA(part))->ipi_ifindex;
          ports += ((struct sockaddr_in *)&slots[i].from)->sin_port;
        }
        received += n;
        if (n < BATCH) break;
      }
    }
  }
  long spent = cpu() - before;
  printf("received %ld delivered %ld bytes %ld drops %u own 0 cpu %ld\n", received, received, bytes,
         memory(fd, SK_MEMINFO_DROPS), spent);
  return interfaces < 0 && ports < 0;
}
