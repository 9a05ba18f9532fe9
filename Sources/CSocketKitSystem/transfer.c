#define _GNU_SOURCE
#include "CSocketKitSystem.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if (defined(__x86_64__) || defined(__aarch64__)) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)

static long transfer(long number, long descriptor, const void *bytes, size_t count, long flags) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = flags;
  register long r8 __asm__("r8") = 0;
  register long r9 __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(descriptor), "S"(bytes), "d"(count), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = descriptor;
  register const void *x1 __asm__("x1") = bytes;
  register size_t x2 __asm__("x2") = count;
  register long x3 __asm__("x3") = flags;
  register long x4 __asm__("x4") = 0;
  register long x5 __asm__("x5") = 0;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#endif
}

long csystem_receive(int descriptor, void *bytes, size_t count, int flags) {
  return transfer(SYS_recvfrom, descriptor, bytes, count, flags);
}

long csystem_send(int descriptor, const void *bytes, size_t count, int flags) {
  return transfer(SYS_sendto, descriptor, bytes, count, flags);
}

#else

// A sanitizer must see these calls, and it sees those of the C library only.
long csystem_receive(int descriptor, void *bytes, size_t count, int flags) {
  ssize_t result = recv(descriptor, bytes, count, flags);
  return result < 0 ? -errno : result;
}

long csystem_send(int descriptor, const void *bytes, size_t count, int flags) {
  ssize_t result = send(descriptor, bytes, count, flags);
  return result < 0 ? -errno : result;
}

#endif
