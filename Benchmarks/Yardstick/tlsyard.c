// tlsyard.c - plain OpenSSL on blocking sockets: a reference server and the client of all TLS servers.
//   cc -O2 -o tlsyard tlsyard.c -lssl -lcrypto
//   tlsyard serve -m sink|source|echo -c CERT -k KEY       one connection after the other; prints "ready PORT".
//                                                          echo only accepts and holds, for idle, with OpenSSL's buffers released
//   tlsyard load -p PORT -P SERVER_PID [-n N] [-b BYTES] sink|source|idle   prints one line of JSON
// Protocols as in refserver.c, inside TLS; idle opens N connections, each of which has BYTES (0) echoed
// first, and measures the server's memory for each.
// Loopback only. The client checks the length of what it gets, and its pattern.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buf[65536], pattern[65536 + 256];

static void die(const char *what) { perror(what); ERR_print_errors_fp(stderr); exit(1); }
static uint64_t now(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static uint64_t cpu(int pid) { clockid_t c; if (clock_getcpuclockid(pid, &c)) return 0; return now(c); }
static long rss(int pid) {
  char path[64], line[256]; long kb = 0; snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *f = fopen(path, "r"); if (!f) return 0;
  while (fgets(line, sizeof line, f)) if (sscanf(line, "VmRSS: %ld", &kb) == 1) break;
  fclose(f); return kb;
}
static int get(SSL *s, void *p, size_t n) {  // exactly n bytes; 0 at the end
  for (size_t have = 0; have < n;) { int r = SSL_read(s, (char *)p + have, n - have); if (r <= 0) return 0; have += r; }
  return 1;
}
static void put(SSL *s, const void *p, size_t n) { if (SSL_write(s, p, n) != (int)n) die("SSL_write"); }

static void serve(SSL *s, int source) {
  uint64_t n;
  while (get(s, &n, 8)) {
    for (uint64_t k = 0; k < n;) {
      size_t want = n - k < sizeof buf ? n - k : sizeof buf;
      if (source) { put(s, pattern + k % 256, want); k += want; continue; }
      int r = SSL_read(s, buf, want); if (r <= 0) return; k += r;
    }
    if (!source) put(s, &n, 8);
  }
}
static void server(int argc, char **argv) {
  const char *mode = "sink", *cert = 0, *key = 0; int o;
  while ((o = getopt(argc, argv, "m:c:k:")) > 0) { if (o == 'm') mode = optarg; else if (o == 'c') cert = optarg; else if (o == 'k') key = optarg; }
  SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
  if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1 || SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) die("certificate");
  if (!strcmp(mode, "echo")) SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  int l = socket(AF_INET, SOCK_STREAM, 0), on = 1; struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  socklen_t len = sizeof a; if (bind(l, (void *)&a, len) || listen(l, 128)) die("listen");
  getsockname(l, (void *)&a, &len); printf("ready %d\n", ntohs(a.sin_port)); fflush(stdout);
  for (;;) {
    int c = accept(l, 0, 0); if (c < 0) die("accept");
    setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL *s = SSL_new(ctx); SSL_set_fd(s, c);
    if (!strcmp(mode, "echo")) { if (SSL_accept(s) != 1) die("SSL_accept"); continue; }
    if (SSL_accept(s) == 1) { serve(s, !strcmp(mode, "source")); SSL_shutdown(s); }
    SSL_free(s); close(c);
  }
}

static SSL *dial(SSL_CTX *ctx, int port) {
  int c = socket(AF_INET, SOCK_STREAM, 0), on = 1; struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  if (connect(c, (void *)&a, sizeof a)) die("connect");
  setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  SSL *s = SSL_new(ctx); SSL_set_fd(s, c); if (SSL_connect(s) != 1) die("SSL_connect");
  return s;
}
static int load(int argc, char **argv) {
  int port = 0, pid = 0, o; uint64_t n = 1u << 30; size_t said = 0;
  while ((o = getopt(argc, argv, "p:P:n:b:")) > 0) { if (o == 'p') port = atoi(optarg); else if (o == 'P') pid = atoi(optarg); else if (o == 'n') n = strtoull(optarg, 0, 10); else if (o == 'b') said = atoi(optarg) < (int)sizeof buf ? atoi(optarg) : sizeof buf; }
  const char *mode = argv[optind];
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  if (!strcmp(mode, "idle")) {
    SSL **all = calloc(n, sizeof *all); for (int i = 0; i < 20; i++) dial(ctx, port);
    usleep(300000); long r0 = rss(pid); uint64_t c0 = cpu(pid);
    for (uint64_t i = 0; i < n; i++) {
      all[i] = dial(ctx, port);
      if (said) { put(all[i], pattern, said); if (!get(all[i], buf, said)) die("echo"); }
    }
    usleep(500000); long r1 = rss(pid);
    printf("{\"mode\":\"idle\",\"n\":%lu,\"bytes_per_conn\":%.0f,\"srv_cpu_us_per_conn\":%.1f}\n", n, (r1 - r0) * 1024.0 / n, (cpu(pid) - c0) / 1e3 / n);
    return 0;
  }
  SSL *s = dial(ctx, port); int source = !strcmp(mode, "source"); uint64_t back = 0;
  uint64_t t0 = now(CLOCK_MONOTONIC), c0 = cpu(pid);
  put(s, &n, 8);
  for (uint64_t k = 0; k < n;) {
    size_t want = n - k < sizeof buf ? n - k : sizeof buf;
    if (!source) { put(s, pattern + k % 256, want); k += want; continue; }
    int r = SSL_read(s, buf, want); if (r <= 0) die("SSL_read");
    if (memcmp(buf, pattern + k % 256, r)) { fprintf(stderr, "wrong bytes at %lu\n", k); return 1; }
    k += r;
  }
  if (!source && (!get(s, &back, 8) || back != n)) die("wrong answer");
  uint64_t dt = now(CLOCK_MONOTONIC) - t0;
  printf("{\"mode\":\"%s\",\"bytes\":%lu,\"MiBps\":%.1f,\"srv_cpu_s\":%.3f,\"cipher\":\"%s\"}\n", mode, n, n / (dt / 1e9) / 1048576, (cpu(pid) - c0) / 1e9, SSL_get_cipher(s));
  return 0;
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  for (size_t k = 0; k < sizeof pattern; k++) pattern[k] = (char)(31 * k + 7);
  if (argc > 1 && !strcmp(argv[1], "serve")) server(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "load")) return load(argc - 1, argv + 1);
  fprintf(stderr, "usage: see the first lines of tlsyard.c\n"); return 2;
}
