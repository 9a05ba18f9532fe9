// wsload.c - a WebSocket client that measures echo servers: binary messages, masked, no compression.
//   cc -O2 -o wsload wsload.c
//   wsload -p PORT -P SERVER_PID [-s SIZE] [-d DEPTH] [-t SECONDS]    DEPTH messages are in flight
//   wsload -p PORT -P SERVER_PID -g BYTES                             one message of so many bytes, and what memory it took
//   wsload -p PORT -P SERVER_PID -n CONNS                             memory of CONNS idle WebSockets
// Every byte that comes back is checked. One JSON line on stdout, with the CPU time of all the server's threads. Exit 1
// on any mismatch.
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int port, pid;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) {
  struct timespec t; clockid_t c;
  if (clock_getcpuclockid(pid, &c) || clock_gettime(c, &t)) return 0;
  return t.tv_sec + t.tv_nsec / 1e9;
}
static void die(const char *what) { fprintf(stderr, "wsload: %s: %s\n", what, strerror(errno)); exit(1); }
static void give(int fd, const char *p, size_t n) {
  while (n) { ssize_t r = send(fd, p, n, MSG_NOSIGNAL); if (r <= 0) die("send"); p += r; n -= r; }
}
static void take(int fd, char *p, size_t n) {
  while (n) { ssize_t r = recv(fd, p, n, 0); if (r <= 0) die("recv"); p += r; n -= r; }
}
static int dial(void) {
  struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, (void *)&a, sizeof a)) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const char *ask = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  give(fd, ask, strlen(ask));
  char head[4096]; size_t n = 0;
  while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4)) { if (n == sizeof head) die("head"); take(fd, head + n++, 1); }
  if (memcmp(head, "HTTP/1.1 101 ", 13)) { fprintf(stderr, "wsload: %.40s\n", head); exit(1); }
  return fd;
}
// One frame; its length.
static size_t frame(char *out, const char *payload, size_t n, const unsigned char *mask) {
  size_t h = 2; out[0] = (char)0x82;
  if (n < 126) out[1] = n;
  else if (n < 65536) { out[1] = 126; out[2] = n >> 8; out[3] = n; h = 4; }
  else { out[1] = 127; for (int i = 0; i < 8; i++) out[2 + i] = (uint64_t)n >> (56 - 8 * i); h = 10; }
  if (mask) { out[1] |= 0x80; memcpy(out + h, mask, 4); h += 4; }
  for (size_t i = 0; i < n; i++) out[h + i] = payload[i] ^ (mask ? mask[i % 4] : 0);
  return h + n;
}
static long status_bytes(const char *key) {
  char f[64], l[256]; long v = 0; snprintf(f, sizeof f, "/proc/%d/status", pid);
  FILE *h = fopen(f, "r"); if (!h) return 0;
  while (fgets(l, sizeof l, h)) if (!strncmp(l, key, strlen(key))) v = atol(l + strlen(key));
  fclose(h); return v * 1024;
}

static long resident(void) { return status_bytes("VmRSS:"); }
// One message as one frame, and whatever frames come back.
static void stream(uint64_t n) {
  static char piece[65536], in[65536]; const unsigned char mask[4] = { 0, 0, 0, 0 };
  memset(piece, 0x5a, sizeof piece);
  int fd = dial();
  char warm[32]; give(fd, warm, frame(warm, "x", 1, mask)); take(fd, in, 2);
  // An end of a fragment may follow; read frames until FIN.
  unsigned char h[10]; memcpy(h, in, 2);
  for (uint64_t got = 0;;) {
    uint64_t len = h[1]; if (len == 126) { take(fd, (char *)h + 2, 2); len = h[2] << 8 | h[3]; }
    take(fd, in, len); got += len; if (h[0] & 0x80) { if (got != 1) die("warm"); break; } take(fd, (char *)h, 2);
  }
  usleep(300000);
  long before = resident();
  if (!fork()) {
    unsigned char head[14] = { 0x82, 0xff }; for (int i = 0; i < 8; i++) head[2 + i] = n >> (56 - 8 * i);
    give(fd, (char *)head, 14);
    for (uint64_t left = n; left;) { size_t m = left < sizeof piece ? left : sizeof piece; give(fd, piece, m); left -= m; }
    _exit(0);
  }
  double t0 = now(), c0 = cpu(); long most = before; uint64_t got = 0; int last = 0, looks = 0;
  while (!last) {
    take(fd, (char *)h, 2); last = h[0] & 0x80; uint64_t len = h[1] & 0x7f;
    if (len == 126) { take(fd, (char *)h + 2, 2); len = h[2] << 8 | h[3]; }
    else if (len == 127) { take(fd, (char *)h + 2, 8); len = 0; for (int i = 0; i < 8; i++) len = len << 8 | h[2 + i]; }
    got += len;
    while (len) { size_t m = len < sizeof in ? len : sizeof in; take(fd, in, m); if (memcmp(in, piece, m)) die("bytes differ"); len -= m; }
    if (looks++ % 64 == 0) { long r = resident(); if (r > most) most = r; }
  }
  if (got != n) die("length");
  double dt = now() - t0;
  printf("{\"bytes\":%lu,\"memory\":%ld,\"srv_cpu_s\":%.2f,\"MiBps\":%.0f}\n", n, most - before, cpu() - c0, n / dt / 1048576);
}

int main(int ac, char **av) {
  int o; long conns = 0; uint64_t length = 0; size_t size = 16, depth = 1; double secs = 1;
  while ((o = getopt(ac, av, "p:P:s:d:t:n:g:")) != -1) switch (o) {
    case 'p': port = atoi(optarg); break; case 'P': pid = atoi(optarg); break; case 's': size = atol(optarg); break;
    case 'd': depth = atol(optarg); break; case 't': secs = atof(optarg); break; case 'n': conns = atol(optarg); break;
    case 'g': length = strtoull(optarg, 0, 0); break;
    default: return 2;
  }
  if (length) { stream(length); return 0; }
  if (conns) {
    struct rlimit rl; getrlimit(RLIMIT_NOFILE, &rl); rl.rlim_cur = rl.rlim_max; setrlimit(RLIMIT_NOFILE, &rl);
    dial(); usleep(300000); long before = resident();
    for (long i = 0; i < conns; i++) dial();
    usleep(500000);
    printf("{\"conns\":%ld,\"bytes_per_conn\":%.0f}\n", conns, (double)(resident() - before) / conns);
    return 0;
  }
  const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
  char *payload = malloc(size), *out = malloc((size + 14) * depth), *in = malloc((size + 14) * depth), *want = malloc((size + 14) * depth);
  for (size_t i = 0; i < size; i++) payload[i] = i * 31 + 7;
  size_t sent = 0, back = 0;
  for (size_t i = 0; i < depth; i++) { sent += frame(out + sent, payload, size, mask); back += frame(want + back, payload, size, 0); }
  int fd = dial(); uint64_t done = 0;
  for (int i = 0; i < 20; i++) { give(fd, out, sent); take(fd, in, back); }
  double t0 = now(), c0 = cpu();
  while (now() - t0 < secs) {
    give(fd, out, sent); take(fd, in, back);
    if (memcmp(in, want, back)) { fprintf(stderr, "wsload: bytes differ\n"); return 1; }
    done += depth;
  }
  double dt = now() - t0, c = cpu() - c0;
  printf("{\"size\":%zu,\"depth\":%zu,\"n\":%lu,\"rate\":%.0f,\"srv_cpu_us\":%.3f,\"MiBps\":%.1f}\n", size, depth, done, done / dt, c * 1e6 / done, done * size / dt / 1048576);
  return 0;
}
