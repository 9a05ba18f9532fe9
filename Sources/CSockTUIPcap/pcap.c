#include "CSockTUIPcap.h"
#include <dlfcn.h>
#include <stddef.h>

int cpcap_load(const char *name, struct cpcap *out) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return -1;
  struct cpcap loaded = {.library = library};
#define FIND(member)                                             \
  do {                                                           \
    *(void **)&loaded.member = dlsym(library, "pcap_" #member); \
    if (loaded.member == NULL) return -1;                        \
  } while (0)
  FIND(create);
  FIND(open_dead);
  FIND(set_snaplen);
  FIND(set_timeout);
  FIND(set_buffer_size);
  FIND(set_tstamp_precision);
  FIND(activate);
  FIND(setnonblock);
  FIND(get_selectable_fd);
  FIND(datalink);
  FIND(datalink_val_to_name);
  FIND(compile);
  FIND(setfilter);
  FIND(freecode);
  FIND(next_ex);
  FIND(stats);
  FIND(geterr);
  FIND(statustostr);
  FIND(close);
#undef FIND
  *out = loaded;
  return 0;
}
