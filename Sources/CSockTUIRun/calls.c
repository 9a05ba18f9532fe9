// The table of socket calls that are traced, what each asks for, and the memory through which they are handed on.
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "CSockTUIRun.h"

// connect(2) is not among them: the filter that notifies comes first, and the relay answers.
const struct crun_row crun_rows[] = {
    {__NR_read, "read", CRUN_BYTES},           {__NR_write, "write", CRUN_BYTES},
    {__NR_recvfrom, "recvfrom", CRUN_BYTES},   {__NR_sendto, "sendto", CRUN_BYTES},
    {__NR_close, "close", CRUN_CLOSE},         {__NR_readv, "readv", CRUN_VECTOR},
    {__NR_writev, "writev", CRUN_VECTOR},      {__NR_recvmsg, "recvmsg", CRUN_MESSAGE},
    {__NR_sendmsg, "sendmsg", CRUN_MESSAGE},   {__NR_recvmmsg, "recvmmsg", CRUN_MESSAGES},
    {__NR_sendmmsg, "sendmmsg", CRUN_MESSAGES}, {__NR_sendfile, "sendfile", CRUN_FILE},
    {__NR_splice, "splice", CRUN_PIPE},        {__NR_accept, "accept", CRUN_PLAIN},
    {__NR_accept4, "accept4", CRUN_PLAIN},     {__NR_shutdown, "shutdown", CRUN_PLAIN},
    {__NR_dup3, "", CRUN_DUPLICATE},           {436 /* close_range */, "", CRUN_RANGE},
    {__NR_unshare, "", CRUN_UNSHARE},          {__NR_clone, "", CRUN_CLONE},
    {435 /* clone3 */, "", CRUN_CLONE_AT},
    {__NR_ppoll, "ppoll", CRUN_POLL_UNTIL},    {__NR_pselect6, "pselect6", CRUN_SELECT_UNTIL},
    {__NR_epoll_pwait, "epoll_pwait", CRUN_EPOLL},
    {441 /* epoll_pwait2 */, "epoll_pwait2", CRUN_EPOLL_UNTIL},
#ifdef __NR_poll
    {__NR_poll, "poll", CRUN_POLL},            {__NR_select, "select", CRUN_SELECT},
    {__NR_epoll_wait, "epoll_wait", CRUN_EPOLL},
#endif
#ifdef __NR_dup2
    {__NR_dup2, "", CRUN_DUPLICATE},
#endif
};
const int crun_row_count = sizeof crun_rows / sizeof *crun_rows;

const char *crun_call_name(int row) { return row < 0 || row >= crun_row_count ? NULL : crun_rows[row].name; }

// MARK: Amounts

// The most pieces of one array, by POSIX and the kernel (UIO_MAXIOV).
enum { MOST_PIECES = 1024 };

static int64_t sum_of(int thread, uint64_t address, uint64_t count) {
  struct iovec pieces[MOST_PIECES];
  if (count > MOST_PIECES || !crun_read(thread, address, pieces, count * sizeof *pieces)) return -1;
  uint64_t sum = 0;
  for (uint64_t index = 0; index < count; index++) sum += pieces[index].iov_len;
  return sum > INT64_MAX ? -1 : (int64_t)sum;
}

int64_t crun_asked(const struct crun_row *row, int thread, const uint64_t arguments[6]) {
  struct msghdr message;
  switch (row->form) {
    case CRUN_BYTES: return (int64_t)arguments[2];
    case CRUN_FILE: return (int64_t)arguments[3];
    case CRUN_PIPE: return (int64_t)arguments[4];
    case CRUN_VECTOR: return sum_of(thread, arguments[1], arguments[2]);
    case CRUN_MESSAGE:
      if (!crun_read(thread, arguments[1], &message, sizeof message)) return -1;
      return sum_of(thread, (uintptr_t)message.msg_iov, message.msg_iovlen);
    default: return -1;
  }
}

int64_t crun_moved(int thread, const uint64_t arguments[6], int64_t messages) {
  struct mmsghdr batch[64];
  int64_t sum = 0;
  for (int64_t index = 0; index < messages;) {
    int64_t piece = messages - index < 64 ? messages - index : 64;
    if (!crun_read(thread, arguments[1] + index * sizeof *batch, batch, piece * sizeof *batch)) return -1;
    for (int64_t place = 0; place < piece; place++) sum += batch[place].msg_len;
    index += piece;
  }
  return sum;
}

// MARK: Waiting for several descriptors

int crun_is_poll(const struct crun_row *row) { return row->form >= CRUN_POLL && row->form <= CRUN_EPOLL_UNTIL; }

// A time in memory, in units of 1 / `per_second` after its seconds. Without an address it is -1, for forever.
static int64_t time_at(int thread, uint64_t address, int64_t per_second) {
  int64_t parts[2];
  if (address == 0) return -1;
  if (!crun_read(thread, address, parts, sizeof parts) || parts[0] < 0 || parts[1] < 0) return 0;
  const int64_t most = INT64_MAX / 1000000000 - 1;
  if (parts[0] >= most || parts[1] >= most) return most * 1000000000;
  return parts[0] * 1000000000 + parts[1] * (1000000000 / per_second);
}

static int64_t time_of(uint64_t milliseconds) {
  return (int)milliseconds < 0 ? -1 : (int64_t)(int)milliseconds * 1000000;
}

enum { MOST_LISTED = sizeof((struct crun_poll *)0)->descriptors / sizeof(int) };

static int list_array(int thread, const uint64_t arguments[6], struct crun_poll *out) {
  struct pollfd array[MOST_LISTED];
  uint64_t count = (uint32_t)arguments[1], most = count < MOST_LISTED ? count : MOST_LISTED;
  if (!crun_read(thread, arguments[0], array, most * sizeof *array)) return 0;
  for (uint64_t index = 0; index < most; index++) out->descriptors[out->listed++] = array[index].fd;
  out->count = count > INT32_MAX ? INT32_MAX : (int)count;
  return 1;
}

static int list_sets(int thread, const uint64_t arguments[6], struct crun_poll *out) {
  unsigned char all[MOST_LISTED / 8] = {0}, set[MOST_LISTED / 8];
  uint64_t count = (uint32_t)arguments[0];
  // The kernel copies whole words.
  size_t size = ((count < MOST_LISTED ? count : MOST_LISTED) + 63) / 64 * 8;
  for (int place = 1; place <= 3; place++) {
    if (arguments[place] == 0) continue;
    if (!crun_read(thread, arguments[place], set, size)) return 0;
    for (size_t index = 0; index < size; index++) all[index] |= set[index];
  }
  for (uint64_t number = 0; number < count && number < MOST_LISTED; number++)
    if (all[number / 8] & 1 << number % 8) out->descriptors[out->listed++] = (int)number;
  out->count = out->listed;
  return 1;
}

int crun_read_poll(const struct crun_row *row, int thread, const uint64_t arguments[6], struct crun_poll *out) {
  out->count = -1;
  out->listed = 0;
  switch (row->form) {
    case CRUN_POLL: out->timeout = time_of(arguments[2]); break;
    case CRUN_POLL_UNTIL: out->timeout = time_at(thread, arguments[2], 1000000000); break;
    case CRUN_SELECT: out->timeout = time_at(thread, arguments[4], 1000000); break;
    case CRUN_SELECT_UNTIL: out->timeout = time_at(thread, arguments[4], 1000000000); break;
    case CRUN_EPOLL: out->timeout = time_of(arguments[3]); break;
    case CRUN_EPOLL_UNTIL: out->timeout = time_at(thread, arguments[3], 1000000000); break;
    default: return 0;
  }
  if (out->timeout == 0) return 0;
  if (row->form == CRUN_POLL || row->form == CRUN_POLL_UNTIL) return list_array(thread, arguments, out);
  if (row->form == CRUN_SELECT || row->form == CRUN_SELECT_UNTIL) return list_sets(thread, arguments, out);
  return 1;
}

// MARK: Memory

// As many records as fit while a reader that looks ten times a second is late by a few looks.
enum { PLACES = 1 << 16 };

// One process writes, and one reads. Both numbers only grow.
struct crun_calls {
  _Atomic uint64_t written, taken, lost, strange, hidden;
  // The processes that have an io_uring, and how many were noted.
  _Atomic int rings[64];
  _Atomic unsigned ring_count;
  struct crun_traced_call places[PLACES];
};

int crun_make_calls(void) {
  int memory = memfd_create("socktui-calls", MFD_CLOEXEC);
  if (memory >= 0 && ftruncate(memory, sizeof(struct crun_calls)) == 0) return memory;
  int error = errno;
  if (memory >= 0) close(memory);
  errno = error;
  return -1;
}

struct crun_calls *crun_map_calls(int memory) {
  void *mapped =
      memory < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct crun_calls), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

void crun_unmap_calls(struct crun_calls *calls) {
  if (calls) munmap(calls, sizeof *calls);
}

int crun_put_call(struct crun_calls *calls, const struct crun_traced_call *call) {
  uint64_t written = atomic_load_explicit(&calls->written, memory_order_relaxed);
  if (written - atomic_load_explicit(&calls->taken, memory_order_acquire) >= PLACES) {
    if (call->moment != CRUN_BEGUN) atomic_fetch_add(&calls->lost, 1);
    return 0;
  }
  calls->places[written % PLACES] = *call;
  atomic_store_explicit(&calls->written, written + 1, memory_order_release);
  return 1;
}

void crun_count_strange(struct crun_calls *calls) { atomic_fetch_add(&calls->strange, 1); }

void crun_count_hidden(struct crun_calls *calls) { atomic_fetch_add(&calls->hidden, 1); }

int crun_take_calls(struct crun_calls *calls, struct crun_traced_call *out, int most) {
  uint64_t taken = atomic_load_explicit(&calls->taken, memory_order_relaxed);
  uint64_t written = atomic_load_explicit(&calls->written, memory_order_acquire);
  int count = 0;
  for (; count < most && taken < written; count++, taken++) out[count] = calls->places[taken % PLACES];
  atomic_store_explicit(&calls->taken, taken, memory_order_release);
  return count;
}

void crun_note_ring(struct crun_calls *calls, int process) {
  unsigned place = atomic_load(&calls->ring_count);
  if (place < sizeof calls->rings / sizeof *calls->rings) atomic_store(&calls->rings[place], process);
  atomic_store(&calls->ring_count, place + 1);
}

int crun_ring(const struct crun_calls *calls, unsigned place) {
  if (place >= atomic_load_explicit(&calls->ring_count, memory_order_acquire)) return 0;
  return place < sizeof calls->rings / sizeof *calls->rings ? atomic_load(&calls->rings[place]) : -1;
}

uint64_t crun_lost_calls(const struct crun_calls *calls) { return atomic_load(&calls->lost); }

uint64_t crun_strange_programs(const struct crun_calls *calls) { return atomic_load(&calls->strange); }

uint64_t crun_hidden_programs(const struct crun_calls *calls) { return atomic_load(&calls->hidden); }
