// The part of libpcap (pcap(3PCAP)) that captures. It is loaded when it is asked for, so that the program runs without it.
// No logic.
#pragma once
#include <stdint.h>
#include <sys/time.h>

struct cpcap_handle;  // pcap_t

// struct pcap_pkthdr: with PCAP_TSTAMP_PRECISION_NANO, tv_usec has nanoseconds.
struct cpcap_header {
  struct timeval time;
  uint32_t captured, length;
};

// struct bpf_program
struct cpcap_program {
  unsigned length;
  void *instructions;
};

// struct pcap_stat: since the capture began.
struct cpcap_counts {
  unsigned received, dropped, dropped_by_interface;
};

// What functions return where it is not 0 (PCAP_ERROR and the like).
enum {
  CPCAP_ERROR = -1,
  CPCAP_NO_SUCH_DEVICE = -5,
  CPCAP_NO_PERMISSION = -8,
  CPCAP_NOT_UP = -9,
};

// PCAP_TSTAMP_PRECISION_NANO, PCAP_NETMASK_UNKNOWN, PCAP_ERRBUF_SIZE and DLT_EN10MB; from linux/if_packet.h:
// PACKET_IGNORE_OUTGOING.
enum { CPCAP_NANOSECONDS = 1, CPCAP_ERROR_SIZE = 256, CPCAP_ETHERNET = 1, CPCAP_IGNORE_OUTGOING = 23 };
#define CPCAP_NO_NETMASK 0xffffffffu

// Each member has the name of its function, without `pcap_`.
struct cpcap {
  void *library;
  struct cpcap_handle *(*create)(const char *interface, char *problem);
  struct cpcap_handle *(*open_dead)(int link, int snap_length);
  int (*set_snaplen)(struct cpcap_handle *, int);
  int (*set_timeout)(struct cpcap_handle *, int milliseconds);
  int (*set_buffer_size)(struct cpcap_handle *, int);
  int (*set_tstamp_precision)(struct cpcap_handle *, int);
  int (*activate)(struct cpcap_handle *);
  int (*setnonblock)(struct cpcap_handle *, int, char *problem);
  int (*get_selectable_fd)(struct cpcap_handle *);
  int (*datalink)(struct cpcap_handle *);
  const char *(*datalink_val_to_name)(int);
  int (*compile)(struct cpcap_handle *, struct cpcap_program *, const char *filter, int optimizes, uint32_t netmask);
  int (*setfilter)(struct cpcap_handle *, struct cpcap_program *);
  void (*freecode)(struct cpcap_program *);
  int (*next_ex)(struct cpcap_handle *, struct cpcap_header **, const uint8_t **);
  int (*stats)(struct cpcap_handle *, struct cpcap_counts *);
  char *(*geterr)(struct cpcap_handle *);
  const char *(*statustostr)(int);
  void (*close)(struct cpcap_handle *);
};

// dlopen(3): 0, or -1, where dlerror(3) says why. What was loaded stays.
int cpcap_load(const char *name, struct cpcap *out);
