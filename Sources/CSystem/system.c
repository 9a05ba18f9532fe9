#define _GNU_SOURCE
#include "CSystem.h"

int csystem_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
  return accept4(listener, address, length, flags);
}
