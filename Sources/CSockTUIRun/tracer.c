// How the process that becomes the program gets a tracer.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CSockTUIRun.h"
#include "trace.h"

// If the tracer is killed, so is all that it traces: each of its calls would fail with ENOSYS.
static const unsigned long OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                                     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;

// MARK: The tracer

// In a session of its own, with none of the program's streams.
static _Noreturn void become_tracer(int process, int memory, int socket) {
  setsid();
  struct crun_calls *calls = crun_map_calls(memory);
  int nothing = open("/dev/null", O_RDWR), error = 0;
  for (int stream = 0; stream < 3; stream++) dup2(nothing, stream);
  dup2(socket, 3);
  syscall(436 /* close_range */, 4, ~0U, 0);
  if (chdir("/") < 0) {}
  prctl(PR_SET_NAME, "socktui-calls");
  char word;
  if (read(3, &word, 1) != 1) _exit(0);
  if (!calls || crun_prepare_trace(calls, 3) < 0) error = ENOMEM;
  else if (syscall(SYS_ptrace, PTRACE_SEIZE, process, 0, OPTIONS) < 0) error = errno;
  if (send(3, &error, sizeof error, MSG_NOSIGNAL) != sizeof error || error != 0) _exit(0);
  crun_trace();
}

// Lets a tracer that was started trace this process. Returns 0, or errno.
static int be_traced(int process, int socket) {
  // Where only ancestors may trace (Yama); elsewhere there is no such call.
  prctl(PR_SET_PTRACER, (unsigned long)process, 0, 0, 0);
  char word = 1;
  int error = 0;
  if (send(socket, &word, 1, MSG_NOSIGNAL) != 1 || read(socket, &error, sizeof error) != sizeof error) return EIO;
  return error;
}

struct crun_tracer crun_start_tracer(void) {
  struct crun_tracer made = {.memory = -1, .watch = -1};
  int ends[2], traced = getpid();
  if ((made.error = crun_report_pair(ends)) != 0) return made;
  made.watch = ends[0];
  if ((made.memory = crun_make_calls()) < 0) made.error = errno;
  else if ((made.process = (int)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)) < 0) made.error = errno;
  else if (made.process == 0) become_tracer(traced, made.memory, ends[1]);
  else made.error = be_traced(made.process, made.watch);
  close(ends[1]);
  if (made.process < 0) made.process = 0;
  return made;
}

// MARK: Handing over

#define ENDS (2 * sizeof(int))
union control { struct cmsghdr header; char bytes[CMSG_SPACE(ENDS)]; };

int crun_send_tracer(int socket, struct crun_tracer tracer) {
  union control control = {0};
  struct iovec bytes = {&tracer, sizeof tracer};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  const int ends[] = {tracer.memory, tracer.watch};
  const int has_ends = tracer.memory >= 0 && tracer.watch >= 0;
  if (has_ends) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof ends), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), ends, sizeof ends);
  }
  int is_sent = sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof tracer;
  for (int end = 0; end < 2; end++)
    if (ends[end] >= 0) close(ends[end]);
  return is_sent;
}

int crun_receive_tracer(int socket, struct crun_tracer *out) {
  union control control;
  struct iovec bytes = {out, sizeof *out};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  int ends[] = {-1, -1};
  ssize_t count;
  while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
  struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof ends))
    memcpy(ends, CMSG_DATA(header), sizeof ends);
  if (count != sizeof *out) *out = (struct crun_tracer){.error = EIO};
  else if (out->error == 0 && ends[0] < 0) out->error = EMFILE;
  out->memory = ends[0];
  out->watch = ends[1];
  return count == sizeof *out;
}

// MARK: The filter

// Each row of the table takes two steps, and the kernel skips the filter for the numbers of calls that it always allows.
int crun_install_trace(void) {
  enum { MOST = 96 };
  struct sock_filter code[MOST];
  unsigned short count = 0;
  if (crun_row_count * 2 + 8 > MOST) return errno = EINVAL, -1;
  code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CRUN_MACHINE, 1, 0);
  code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int row = 0; row < crun_row_count; row++) {
    const int is_clone = crun_rows[row].form == CRUN_CLONE;
    code[count++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)crun_rows[row].number, 0, is_clone ? 4 : 1);
    if (is_clone) {
      // Only with the flag that the tracer takes away. The lower half comes first on the machines with a table.
      code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]));
      code[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_UNTRACED, 1, 0);
      code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | (unsigned)row);
  }
  code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {count, code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
