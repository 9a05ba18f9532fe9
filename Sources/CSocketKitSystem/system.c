#define _GNU_SOURCE
#include "CSocketKitSystem.h"

#include <errno.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Thread_local void *csystem_word_of_thread;

int csystem_accept4(int listener, void *address, unsigned int *length, int flags) {
  return accept4(listener, address, length, flags);
}

int csystem_receive_queue(int descriptor) {
  int bytes;
  return ioctl(descriptor, SIOCINQ, &bytes) < 0 ? -1 : bytes;
}

int csystem_send_queue(int descriptor) {
  int bytes;
  return ioctl(descriptor, SIOCOUTQ, &bytes) < 0 ? -1 : bytes;
}

void csystem_name_thread(const char *name) {
  pthread_setname_np(pthread_self(), name);
}

int csystem_thread_number(void) {
  return gettid();
}

const char *csystem_secure_getenv(const char *name) {
  return secure_getenv(name);
}

int64_t csystem_peer_user(int descriptor) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
  return credentials.uid;
}

int csystem_peer_process(int descriptor) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return 0;
  return credentials.pid;
}
