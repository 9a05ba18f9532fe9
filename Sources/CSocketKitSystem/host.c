// Calls that look at other processes.
#define _GNU_SOURCE
#include "CSocketKitSystem.h"

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

ptrdiff_t csystem_read_memory(int process, uint64_t address, void *into, size_t size) {
  struct iovec here = {.iov_base = into, .iov_len = size};
  struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
  return process_vm_readv(process, &here, 1, &there, 1, 0);
}

// By number: older C libraries have no functions for these. The numbers are those of every machine.
int csystem_duplicate(int process, int descriptor) {
  int handle = syscall(434, process, 0);
  if (handle < 0) return -1;
  int duplicate = syscall(438, handle, descriptor, 0);
  close(handle);
  return duplicate;
}

// Blocks of a megabyte are mapped from now on, so that freeing one gives it back at once: left alone, the C library
// raises that limit to 32 MiB.
void csystem_trim_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  malloc_trim(0);
#endif
}

int csystem_stay_on_processor(int processor) {
  cpu_set_t set;
  if (processor < 0 || processor >= CPU_SETSIZE) return -1;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

int csystem_enter_network(int namespace) {
  return setns(namespace, CLONE_NEWNET);
}

int csystem_peek_offset(int descriptor) {
  int offset = -1;
  socklen_t length = sizeof offset;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEEK_OFF, &offset, &length) < 0 ? -1 : offset;
}

int csystem_has_kernel_tls(int descriptor) {
  char name[16] = "";
  socklen_t length = sizeof name - 1;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_ULP, name, &length) < 0) return 0;
  return strcmp(name, "tls") == 0;
}
