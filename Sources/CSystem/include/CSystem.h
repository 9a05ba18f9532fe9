// Linux calls and constants that Swift's Glibc module does not show. No logic.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// accept4(2); `address` is a struct sockaddr.
int csystem_accept4(int listener, void *address, unsigned int *length, int flags);

// SIOCINQ, SIOCOUTQ: bytes, or -1 with errno.
int csystem_receive_queue(int descriptor);
int csystem_send_queue(int descriptor);

// The part of TCP_INFO that this project shows. Fields beyond what the kernel filled are -1.
struct csystem_tcp_info {
  int state;
  int64_t rtt_microseconds, congestion_window, retransmits, unacked, not_sent;
  int64_t busy_microseconds, receiver_limited_microseconds, buffer_limited_microseconds;
  int is_application_limited;  // -1: not known
  int64_t bytes_sent, bytes_received, delivery_rate;
};

// 0, or errno.
int csystem_tcp_info(int descriptor, struct csystem_tcp_info *out);

// Names the calling thread; at most 15 bytes.
void csystem_name_thread(const char *name);
