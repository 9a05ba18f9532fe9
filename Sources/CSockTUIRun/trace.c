// The tracer of a program and of all that it starts. Each call of the table stops once, and a call on a socket once more
// when it is over. A thread that is being killed answers no request (ESRCH), and its end is reported by waitpid(2).
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <linux/ptrace.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CSockTUIRun.h"
#include "trace.h"

// What is known of the descriptors of a process. A number stays what it is until the process closes it or gives it to
// another file, which the filter shows.
struct process {
  int id, threads;
  // The calls under way that free a number. Until they are over, nothing new is remembered.
  int closing;
  // Whether others may change its descriptors, or they change unseen, and whether they may not be looked at.
  int shares, is_hidden;
  // Whether it has an io_uring, which its children inherit.
  int has_ring;
  // The file of a socket, NO_SOCKET, or 0 if it is not known.
  uint64_t *files;
  int count;
};

struct thread {
  int id;
  struct process *process;
  // The call under way that stops once more, or NULL, and whether it is handed on.
  const struct crun_row *row;
  int is_shown;
  uint64_t arguments[6];
  struct crun_traced_call call;
};

static const uint64_t NO_SOCKET = ~0ULL;
enum { MOST_FILES = 1 << 16, MOST_NUMBERS = 1 << 22 /* PID_MAX_LIMIT */ };

static struct {
  // By number, in memory that costs nothing until it is used.
  struct thread **threads;
  struct process **processes;
  struct crun_calls *calls;
  // Whether the program has begun. Before that, the calls are those of this program.
  int is_live;
  // Whether this kernel does not say which processes have descriptors in common (kcmp(2)).
  int is_forgetful;
  // How many processes that have an io_uring are known to have one.
  unsigned rings;
  // Ends with the last process that reads the calls.
  int watch, is_alone;
} tracer;

static long request(unsigned what, int thread, uintptr_t address, void *data) {
  return syscall(SYS_ptrace, what, thread, address, data);
}

// Returns 0 if the thread no longer answers.
static int describe(int thread, struct ptrace_syscall_info *info) {
  return request(PTRACE_GET_SYSCALL_INFO, thread, sizeof *info, info) > 0;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Without memory, nothing can be followed: the program ends with its tracer.
static void *filled(void *memory) {
  if (!memory) _exit(1);
  return memory;
}

// MARK: Threads

static struct thread *thread_of(int id) {
  struct thread **place = &tracer.threads[id % MOST_NUMBERS];
  if (*place) return *place;
  int owner = crun_process(id);
  struct process **process = &tracer.processes[owner % MOST_NUMBERS];
  if (!*process) {
    *process = filled(calloc(1, sizeof **process));
    (*process)->id = owner;
  }
  (*process)->threads += 1;
  *place = filled(calloc(1, sizeof **place));
  (*place)->id = id;
  (*place)->process = *process;
  return *place;
}

static void hand_on(struct thread *thread, enum crun_moment moment) {
  thread->call.moment = moment;
  if (crun_put_call(tracer.calls, &thread->call) || tracer.is_alone) return;
  struct pollfd polled = {tracer.watch, 0, 0};
  tracer.is_alone = poll(&polled, 1, 0) == 1;
}

// Ends the call under way of a thread that does not return from it.
static void break_off(struct thread *thread) {
  if (!thread->row) return;
  if (!thread->is_shown) thread->process->closing -= 1;
  else {
    if (thread->row->form == CRUN_CLOSE) thread->process->closing -= 1;
    thread->call.ended = now();
    hand_on(thread, CRUN_VANISHED);
  }
  thread->row = NULL;
}

static void remove_thread(struct thread *thread) {
  struct process *process = thread->process;
  break_off(thread);
  tracer.threads[thread->id % MOST_NUMBERS] = NULL;
  free(thread);
  if (--process->threads > 0) return;
  tracer.processes[process->id % MOST_NUMBERS] = NULL;
  free(process->files);
  free(process);
}

// MARK: Descriptors

// Returns where the file of a number is remembered, or NULL if it is not.
static uint64_t *place_of(struct process *process, int descriptor) {
  if (tracer.is_forgetful || process->shares || descriptor < 0 || descriptor >= MOST_FILES) return NULL;
  if (descriptor < process->count) return &process->files[descriptor];
  int count = process->count < 32 ? 64 : process->count * 2;
  while (count <= descriptor) count *= 2;
  process->files = filled(realloc(process->files, count * sizeof *process->files));
  memset(process->files + process->count, 0, (count - process->count) * sizeof *process->files);
  process->count = count;
  return &process->files[descriptor];
}

static uint64_t file_of(struct thread *thread, int descriptor) {
  uint64_t *place = place_of(thread->process, descriptor);
  if (place && *place) return *place;
  char path[64], target[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", thread->id, descriptor);
  // A number that is free is none for the moment.
  if (descriptor < 0) return NO_SOCKET;
  // The link is read, because stat(2) would call the file's system, which may wait for a program that is traced.
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) {
    if ((errno == EACCES || errno == EPERM) && !thread->process->is_hidden) {
      thread->process->is_hidden = 1;
      crun_count_hidden(tracer.calls);
    }
    return NO_SOCKET;
  }
  target[length] = 0;
  uint64_t file = strncmp(target, "socket:[", 8) == 0 ? strtoull(target + 8, NULL, 10) : NO_SOCKET;
  if (place && thread->process->closing == 0) *place = file;
  return file;
}

static void forget(struct process *process, uint64_t first, uint64_t last) {
  for (uint64_t number = first; number <= last && number < (uint64_t)process->count; number++) process->files[number] = 0;
}

// An io_uring closes descriptors without a call. The process is noted before it gets one.
static void note_rings(void) {
  for (int id; (id = crun_ring(tracer.calls, tracer.rings)) != 0; tracer.rings++) {
    struct process *process = id < 0 ? NULL : tracer.processes[id % MOST_NUMBERS];
    if (process) process->shares = process->has_ring = 1;
    else tracer.is_forgetful = 1;
  }
}

// Finds out whether a new process has its descriptors in common with its parent, or a thread has its own, as clone(2) can
// do. They are then read anew for each call. A child that is there no longer must not be noted, since its number can be another's.
static void compare(struct thread *parent) {
  unsigned long id = 0;
  note_rings();
  if (request(PTRACE_GETEVENTMSG, parent->id, 0, &id) < 0 || id == 0) return;
  long difference = syscall(SYS_kcmp, parent->id, (int)id, KCMP_FILES, 0, 0);
  if (difference < 0) {
    tracer.is_forgetful |= errno != ESRCH;
    return;
  }
  if (parent->process->has_ring && crun_process((int)id) != parent->process->id) {
    struct process *child = thread_of((int)id)->process;
    child->shares = child->has_ring = 1;
  }
  if ((difference == 0) == (crun_process((int)id) == parent->process->id)) return;
  parent->process->shares = thread_of((int)id)->process->shares = 1;
}

// MARK: Children

static void set_first_argument(int thread, uint64_t value) {
#if defined(__x86_64__)
  request(PTRACE_POKEUSR, thread, offsetof(struct user, regs.rdi), (void *)value);
#elif defined(__aarch64__)
  struct user_regs_struct registers;
  struct iovec whole = {&registers, sizeof registers};
  if (request(PTRACE_GETREGSET, thread, NT_PRSTATUS, &whole) < 0) return;
  registers.regs[0] = value;
  request(PTRACE_SETREGSET, thread, NT_PRSTATUS, &whole);
#else
  (void)thread, (void)value;
#endif
}

// A child without a tracer would get ENOSYS from each call of the table, so none may refuse it.
static void refuse_untraced(struct thread *thread, const struct crun_row *row) {
  uint64_t flags = thread->arguments[0];
  if (row->form == CRUN_CLONE) return set_first_argument(thread->id, flags & ~(uint64_t)CLONE_UNTRACED);
  if (!crun_read(thread->id, thread->arguments[0], &flags, sizeof flags) || !(flags & CLONE_UNTRACED)) return;
  flags &= ~(uint64_t)CLONE_UNTRACED;
  crun_write(thread->id, thread->arguments[0], &flags, sizeof flags);
}

// MARK: Calls

// Returns the first socket that the call waits for, and its file, or 0 for an epoll, whose sockets are in the kernel.
static int poll_socket(struct thread *thread, const struct crun_poll *poll, uint64_t *file) {
  *file = poll->count < 0 ? 0 : NO_SOCKET;
  for (int index = 0; index < poll->listed; index++)
    if ((*file = file_of(thread, poll->descriptors[index])) != NO_SOCKET) return poll->descriptors[index];
  return (int)thread->arguments[0];
}

// Calls that wait for several descriptors are many, and most end at once: those that may not wait are left out here.
static int enter_poll(struct thread *thread, int place) {
  static struct crun_poll poll;
  const struct crun_row *row = &crun_rows[place];
  uint64_t file;
  if (!crun_read_poll(row, thread->id, thread->arguments, &poll)) return 0;
  int descriptor = poll_socket(thread, &poll, &file);
  if (file == NO_SOCKET) return 0;
  thread->row = row;
  thread->is_shown = 1;
  thread->call = (struct crun_traced_call){
      .row = place, .process = thread->process->id, .thread = thread->id, .descriptor = descriptor, .file = file,
      .asked = -1, .returned = -1, .began = now(), .count = poll.count, .timeout = poll.timeout};
  hand_on(thread, CRUN_BEGUN);
  return 1;
}

// Returns whether the thread is to stop again when the call is over.
static int enter(struct thread *thread, const struct ptrace_syscall_info *info) {
  uint64_t *arguments = thread->arguments;
  memcpy(arguments, info->seccomp.args, sizeof thread->arguments);
  struct process *process = thread->process;
  const int place = (int)info->seccomp.ret_data;
  // A program may have a filter of its own that stops calls.
  if (place >= crun_row_count || info->seccomp.nr != (uint64_t)crun_rows[place].number) return 0;
  const struct crun_row *row = &crun_rows[place];
  note_rings();
  if (crun_is_poll(row)) return enter_poll(thread, place);
  int descriptor = (int)arguments[0], frees = 0;
  uint64_t file = NO_SOCKET;
  switch (row->form) {
    case CRUN_UNSHARE: process->shares = 1; return 0;
    case CRUN_CLONE: case CRUN_CLONE_AT: refuse_untraced(thread, row); return 0;
    case CRUN_DUPLICATE: forget(process, (uint32_t)arguments[1], (uint32_t)arguments[1]); frees = 1; break;
    case CRUN_RANGE:
      process->shares |= (arguments[2] & 2 /* CLOSE_RANGE_UNSHARE */) != 0;
      forget(process, (uint32_t)arguments[0], (uint32_t)arguments[1]); frees = 1; break;
    case CRUN_CLOSE:
      file = file_of(thread, descriptor);
      forget(process, (uint32_t)arguments[0], (uint32_t)arguments[0]);
      frees = 1;
      break;
    case CRUN_PIPE:
      file = file_of(thread, descriptor);
      if (file == NO_SOCKET) file = file_of(thread, descriptor = (int)arguments[2]);
      break;
    default: file = file_of(thread, descriptor);
  }
  const int is_shown = file != NO_SOCKET;
  // A number that the only thread frees is used by nobody meanwhile.
  if (!is_shown && (!frees || process->threads == 1)) return 0;
  process->closing += frees;
  thread->row = row;
  thread->is_shown = is_shown;
  if (!is_shown) return 1;
  thread->call = (struct crun_traced_call){
      .row = place, .process = process->id, .thread = thread->id, .descriptor = descriptor, .file = file,
      .asked = crun_asked(row, thread->id, arguments), .returned = -1, .began = now(), .count = -1,
      .address = row->form == CRUN_BYTES ? arguments[1] : 0, .timeout = -1};
  hand_on(thread, CRUN_BEGUN);
  return 1;
}

static void leave(struct thread *thread, const struct ptrace_syscall_info *info) {
  const struct crun_row *row = thread->row;
  if (!row) return;
  thread->row = NULL;
  if (!thread->is_shown || row->form == CRUN_CLOSE) thread->process->closing -= 1;
  if (!thread->is_shown) return;
  thread->call.ended = now();
  if (info->exit.is_error) thread->call.error = (int)-info->exit.rval;
  else if (row->form == CRUN_MESSAGES) thread->call.returned = crun_moved(thread->id, thread->arguments, info->exit.rval);
  else thread->call.returned = info->exit.rval;
  hand_on(thread, CRUN_ENDED);
}

// MARK: Stops

// The thread that executes a program has the number of the first thread from then on, and the others end.
static void begin_program(struct thread *thread) {
  unsigned long former = 0;
  break_off(thread);
  if (request(PTRACE_GETEVENTMSG, thread->id, 0, &former) == 0 && (int)former != thread->id) {
    struct thread *caller = tracer.threads[former % MOST_NUMBERS];
    if (caller) remove_thread(caller);
  }
  thread->process->shares = thread->process->has_ring = thread->process->closing = thread->process->is_hidden = 0;
  forget(thread->process, 0, MOST_FILES);
  tracer.is_live = 1;
  struct ptrace_syscall_info info;
  if (describe(thread->id, &info) && info.arch != CRUN_MACHINE) crun_count_strange(tracer.calls);
}

// Handles a stop, and returns how the thread goes on. Sets the signal that it gets.
static unsigned handle(struct thread *thread, int status, uintptr_t *signal) {
  const int number = WSTOPSIG(status), event = status >> 16;
  struct ptrace_syscall_info info;
  switch (event) {
    case PTRACE_EVENT_SECCOMP:
      if (!tracer.is_live || tracer.is_alone) return PTRACE_CONT;
      if (!describe(thread->id, &info) || info.op != PTRACE_SYSCALL_INFO_SECCOMP) return PTRACE_CONT;
      return enter(thread, &info) ? PTRACE_SYSCALL : PTRACE_CONT;
    case PTRACE_EVENT_EXEC: begin_program(thread); return PTRACE_CONT;
    case PTRACE_EVENT_CLONE: case PTRACE_EVENT_FORK: case PTRACE_EVENT_VFORK: compare(thread); return PTRACE_CONT;
    // With a stop signal, the whole process has stopped, and goes on by SIGCONT.
    case PTRACE_EVENT_STOP: return number == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN;
    case 0: break;
    default: return PTRACE_CONT;
  }
  if (number != (SIGTRAP | 0x80)) {
    *signal = number;
    return thread->row ? PTRACE_SYSCALL : PTRACE_CONT;
  }
  if (describe(thread->id, &info) && info.op == PTRACE_SYSCALL_INFO_EXIT) leave(thread, &info);
  return PTRACE_CONT;
}

int crun_prepare_trace(struct crun_calls *calls, int watch) {
  const size_t size = MOST_NUMBERS * sizeof(void *);
  const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  tracer.threads = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, -1, 0);
  tracer.processes = mmap(NULL, size, PROT_READ | PROT_WRITE, kind, -1, 0);
  tracer.calls = calls;
  tracer.watch = watch;
  return tracer.threads == MAP_FAILED || tracer.processes == MAP_FAILED ? -1 : 0;
}

_Noreturn void crun_trace(void) {
  while (1) {
    int status, id = waitpid(-1, &status, __WALL);
    if (id < 0 && errno == EINTR) continue;
    if (id < 0) _exit(0);
    struct thread *known = tracer.threads[id % MOST_NUMBERS];
    if (!WIFSTOPPED(status)) {
      if (known) remove_thread(known);
      continue;
    }
    uintptr_t signal = 0;
    unsigned how = handle(known ? known : thread_of(id), status, &signal);
    request(how, id, 0, (void *)signal);
  }
}
