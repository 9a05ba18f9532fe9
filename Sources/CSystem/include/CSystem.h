// Linux calls that Swift's Glibc module does not show. No logic.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/socket.h>

int csystem_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
