// What is read of the processes under the filter, and done to their descriptors.
#define _GNU_SOURCE
#include "CSockTUIRun.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

// MARK: Processes

int crun_process(int thread) {
  char text[2048];
  snprintf(text, sizeof text, "/proc/%d/status", thread);
  int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return thread;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  if (count <= 0) return thread;
  text[count] = 0;
  const char *line = strstr(text, "\nTgid:");
  return line ? atoi(line + 6) : thread;
}

int crun_take(int thread, int descriptor) {
  // A thread may have descriptors of its own, and its process's first thread may be gone. Before Linux 6.9, there is a
  // descriptor for that first thread only.
  int process = syscall(434 /* pidfd_open */, thread, O_EXCL /* PIDFD_THREAD */);
  if (process < 0 && errno == EINVAL) process = syscall(434, crun_process(thread), 0);
  if (process < 0) return -1;
  int taken = syscall(438 /* pidfd_getfd */, process, descriptor, 0), error = errno;
  close(process);
  errno = error;
  return taken;
}

int crun_read(int thread, uint64_t address, void *bytes, size_t count) {
  struct iovec here = {bytes, count}, there = {(void *)(uintptr_t)address, count};
  return process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)count;
}

int crun_write(int thread, uint64_t address, const void *bytes, size_t count) {
  struct iovec here = {(void *)bytes, count}, there = {(void *)(uintptr_t)address, count};
  return process_vm_writev(thread, &here, 1, &there, 1, 0) == (ssize_t)count;
}

// Copies a text that ends within `size` bytes. A page of it may be followed by none.
static int read_text(int thread, uint64_t address, char *text, size_t size) {
  for (size_t length = 0; length < size;) {
    size_t piece = 4096 - (address + length) % 4096;
    if (piece > size - length) piece = size - length;
    if (!crun_read(thread, address + length, text + length, piece)) return 0;
    if (memchr(text + length, 0, piece)) return 1;
    length += piece;
  }
  return 0;
}

static int file_gains_rights(const char *path) {
  struct stat facts;
  if (stat(path, &facts) < 0 || !S_ISREG(facts.st_mode)) return 0;
  // Without the right to execute, the group's bit means another thing.
  const int is_other_group = (facts.st_mode & S_ISGID) && (facts.st_mode & S_IXGRP) && facts.st_gid != getegid();
  return ((facts.st_mode & S_ISUID) && facts.st_uid != geteuid()) || is_other_group ||
         getxattr(path, "security.capability", NULL, 0) > 0;
}

int crun_gains_rights(const struct crun_notice *notice, char name[CRUN_NAME]) {
  char path[4096], whole[4200];
  if (!read_text(notice->thread, notice->arguments[1], path, sizeof path)) return 0;
  const int folder = (int)notice->arguments[0];
  if (path[0] == '/') snprintf(whole, sizeof whole, "/proc/%d/root%s", notice->thread, path);
  else if (folder == AT_FDCWD) snprintf(whole, sizeof whole, "/proc/%d/cwd/%s", notice->thread, path);
  else snprintf(whole, sizeof whole, "/proc/%d/fd/%d%s%s", notice->thread, folder, path[0] ? "/" : "", path);
  if (!file_gains_rights(whole)) return 0;
  const char *last = strrchr(path, '/');
  snprintf(name, CRUN_NAME, "%.255s", last ? last + 1 : path);
  return 1;
}

// MARK: Sockets that can't be duplicated

static int is_same_file(const char *one, const char *other) {
  struct stat first, second;
  return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

// The flags that a descriptor was opened with, or 0.
static unsigned flags_of(int thread, int descriptor) {
  char path[64], line[128];
  unsigned flags = 0;
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", thread, descriptor);
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file) && sscanf(line, "flags: %o", &flags) != 1) {}
  if (file) fclose(file);
  return flags;
}

int crun_describe_from_outside(int thread, int descriptor, struct crun_socket *out) {
  static const struct { const char *name; int family, type, protocol; } kinds[] = {
      {"TCP", AF_INET, SOCK_STREAM, IPPROTO_TCP}, {"TCPv6", AF_INET6, SOCK_STREAM, IPPROTO_TCP},
      {"MPTCP", AF_INET, SOCK_STREAM, 262}, {"MPTCPv6", AF_INET6, SOCK_STREAM, 262},
      {"UDP", AF_INET, SOCK_DGRAM, IPPROTO_UDP}, {"UDPv6", AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
  };
  char path[64], space[64], name[32] = "";
  struct stat file;
  memset(out, 0, sizeof *out);
  snprintf(path, sizeof path, "/proc/%d/fd/%d", thread, descriptor);
  if (stat(path, &file) < 0) return errno;
  if (!S_ISSOCK(file.st_mode)) return ENOTSOCK;
  out->cookie = file.st_ino;
  if (getxattr(path, "system.sockprotoname", name, sizeof name - 1) < 0) return errno;
  for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++)
    if (strcmp(kinds[index].name, name) == 0) {
      out->family = kinds[index].family;
      out->type = kinds[index].type;
      out->protocol = kinds[index].protocol;
    }
  snprintf(space, sizeof space, "/proc/%d/ns/net", thread);
  out->is_foreign = !is_same_file(space, "/proc/self/ns/net");
  const unsigned flags = flags_of(thread, descriptor);
  out->is_nonblocking = (flags & O_NONBLOCK) != 0;
  out->closes_on_exec = (flags & O_CLOEXEC) != 0;
  return 0;
}

int crun_open_like(const struct crun_socket *kind) {
  return socket(kind->family, kind->type | SOCK_CLOEXEC, kind->protocol);
}

uint64_t crun_file(int socket) {
  struct stat file;
  return fstat(socket, &file) < 0 ? 0 : file.st_ino;
}

int crun_replace(int filter, uint64_t id, int socket, int descriptor, int closes_on_exec) {
  struct seccomp_notif_addfd place = {
      .id = id, .flags = SECCOMP_ADDFD_FLAG_SETFD, .srcfd = socket, .newfd = descriptor,
      .newfd_flags = closes_on_exec ? O_CLOEXEC : 0};
  return ioctl(filter, SECCOMP_IOCTL_NOTIF_ADDFD, &place) < 0 ? errno : 0;
}

int crun_may_replace(int filter, int process) {
  char byte;
  // There is no memory at 0, and no call with this number.
  if (!crun_read(process, 0, &byte, 1) && errno != EFAULT) return errno;
  int error = crun_replace(filter, 0, filter, 0, 1);
  return error == ENOENT ? 0 : error;
}
