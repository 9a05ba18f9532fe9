// Apart from system.c: <linux/tcp.h> has the newer fields, and clashes with <netinet/tcp.h>.
#include "CSocketKitSystem.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define FILLED(length, field) \
  ((length) >= offsetof(struct tcp_info, field) + sizeof(((struct tcp_info *)0)->field))
#define TAKE(field) (FILLED(length, field) ? (int64_t)info.field : -1)

int csystem_tcp_info(int descriptor, struct csystem_tcp_info *out) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) < 0) return errno;
  out->state = info.tcpi_state;
  out->rtt_microseconds = TAKE(tcpi_rtt);
  out->congestion_window = TAKE(tcpi_snd_cwnd);
  out->retransmits = TAKE(tcpi_total_retrans);
  out->waiting = TAKE(tcpi_unacked);
  out->waiting_limit = TAKE(tcpi_sacked);
  out->not_sent = TAKE(tcpi_notsent_bytes);
  out->busy_microseconds = TAKE(tcpi_busy_time);
  out->receiver_limited_microseconds = TAKE(tcpi_rwnd_limited);
  out->buffer_limited_microseconds = TAKE(tcpi_sndbuf_limited);
  // A bit field, which has no offset; the kernel that has the delivery rate has it.
  out->is_application_limited = FILLED(length, tcpi_delivery_rate) ? info.tcpi_delivery_rate_app_limited : -1;
  out->bytes_sent = TAKE(tcpi_bytes_sent);
  out->bytes_acked = TAKE(tcpi_bytes_acked);
  out->bytes_received = TAKE(tcpi_bytes_received);
  out->delivery_rate = TAKE(tcpi_delivery_rate);
  return 0;
}
