// The process that becomes the program: its filter, and the guard that lets calls pass when nobody answers them.
#define _GNU_SOURCE
#include "CSockTUIRun.h"
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP_IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define NOTIFY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Returns the descriptor of the filter, or -1 with errno. Only getsockopt for SO_ERROR waits, not every option, and
// execve only if set-uid programs gain no rights.
static int install_for(int is_limited) {
  unsigned none = ~0U, exec = is_limited ? __NR_execve : none, exec_at = is_limited ? __NR_execveat : none;
  struct sock_filter code[] = {
      LOAD(arch), JUMP_IF(MACHINE, 0, 14),
      LOAD(nr), JUMP_IF(__NR_connect, 11, 0), JUMP_IF(__NR_getpeername, 10, 0), JUMP_IF(__NR_getsockname, 9, 0),
      JUMP_IF(__NR_listen, 8, 0), JUMP_IF(exec, 7, 0), JUMP_IF(exec_at, 6, 0),
      JUMP_IF(425 /* io_uring_setup */, 5, 0), JUMP_IF(__NR_getsockopt, 0, 5),
      LOAD(args[1]), JUMP_IF(SOL_SOCKET, 0, 3),
      LOAD(args[2]), JUMP_IF(SO_ERROR, 0, 1),
      NOTIFY, ALLOW,
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  errno = ENOSYS;
  if (MACHINE == 0) return -1;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static int install(void) {
  int filter = install_for(0);
  // Root needs no promise, and so its set-uid programs work.
  if (filter >= 0 || errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return filter;
  return install_for(1);
}

// MARK: Messages

#define GIFTS (sizeof(struct crun_gift) / sizeof(int))

// Sends a report, with the gift unless it is NULL.
static int send_report(int socket, struct crun_report report, const struct crun_gift *gift) {
  union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof *gift)]; } control = {0};
  struct iovec bytes = {&report, sizeof report};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (gift) {
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof *gift), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), gift, sizeof *gift);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof report;
}

int crun_receive_report(int socket, struct crun_report *report, struct crun_gift *gift) {
  union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof *gift)]; } control;
  struct iovec bytes = {report, sizeof *report};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *gift = (struct crun_gift){-1, -1, -1};
  ssize_t count;
  while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
  struct cmsghdr *header = count < 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS && header->cmsg_len == CMSG_LEN(sizeof *gift)) {
    memcpy(gift, CMSG_DATA(header), sizeof *gift);
  } else if (header && header->cmsg_type == SCM_RIGHTS) {
    // There was no room for all.
    for (size_t place = 0; CMSG_LEN((place + 1) * sizeof(int)) <= header->cmsg_len; place++)
      close(((int *)CMSG_DATA(header))[place]);
  }
  return count == sizeof *report;
}

int crun_report_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ? errno : 0;
}

// MARK: The guard

// Lets every call pass once the process at the other end of `socket` is gone, until no process has the filter.
static _Noreturn void guard(int socket, struct crun_gift gift) {
  int is_alone = 0;
  while (1) {
    struct pollfd polled[2] = {{gift.filter, is_alone ? POLLIN : 0, 0}, {is_alone ? -1 : socket, POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL)) _exit(0);
    struct crun_notice notice;
    if (polled[0].revents & POLLIN && crun_receive(gift.filter, NULL, &notice) == 0)
      crun_answer(gift.filter, NULL, notice.id, 0, 1);
    if (!polled[1].revents) continue;
    is_alone = 1;
    crun_pass_all(gift.filter, crun_map(gift.memory));
  }
}

// Starts the guard, which has none of the program's streams and is in a session of its own. It is a child of this
// process's parent, since the program expects none. Returns the socket on which it expects the gift, or -1 with errno.
static int start_guard(int *process) {
  int ends[2];
  if ((errno = crun_report_pair(ends)) != 0) return -1;
  *process = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (*process != 0) {
    close(ends[1]);
    return *process < 0 ? -1 : ends[0];
  }
  setsid();
  int nothing = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; stream++) dup2(nothing, stream);
  // It must not keep open what the program inherits, such as the end of a pipe.
  dup2(ends[1], 3);
  syscall(436 /* close_range */, 4, ~0U, 0);
  if (chdir("/") < 0) {}
  prctl(PR_SET_NAME, "socktui-guard");
  struct crun_report report;
  struct crun_gift gift;
  if (!crun_receive_report(3, &report, &gift) || gift.filter < 0) _exit(0);
  guard(3, gift);
}

// MARK: Becoming the program

// What the program is told to wait for, should this process fail.
static struct crun_report started;

static _Noreturn void fail(int socket, int step, int status) {
  started.error = errno;
  started.step = step;
  send_report(socket, started, NULL);
  _exit(status);
}

void crun_become(char *const *arguments) {
  if (!arguments[0] || !arguments[1]) return;
  const int is_traced = strcmp(arguments[1], "--become-traced") == 0;
  if (!is_traced && strcmp(arguments[1], "--become") != 0) return;
  if (!arguments[2] || !arguments[3] || !arguments[4]) return;
  int socket = atoi(arguments[2]);
  // A person who types the word gets an error from the parser of options.
  if (fcntl(socket, F_SETFD, FD_CLOEXEC) < 0) return;
  // With more rights than its caller's, this program runs no other.
  errno = EPERM;
  if (getauxval(AT_SECURE) != 0) fail(socket, 2, 126);
  int watched = start_guard(&started.guard);
  if (watched < 0) fail(socket, 1, 126);
  int memory = memfd_create("socktui-waiting", MFD_CLOEXEC);
  if (memory < 0 || ftruncate(memory, CRUN_MEMORY) < 0) fail(socket, 1, 126);
  // Before the filter, which the tracer must not have.
  struct crun_tracer tracer = {.error = ECANCELED};
  if (is_traced) tracer = crun_start_tracer();
  started.tracer = tracer.process;
  struct crun_gift gift = {install(), watched, memory};
  if (gift.filter < 0) fail(socket, 2, 126);
  struct crun_gift for_guard = {gift.filter, memory, memory};
  if (!send_report(watched, started, &for_guard) || !send_report(socket, started, &gift)) fail(socket, 1, 126);
  if (is_traced && !crun_send_tracer(socket, tracer)) fail(socket, 1, 126);
  close(gift.filter);
  close(watched);
  char word;
  ssize_t count;
  while ((count = read(socket, &word, 1)) < 0 && errno == EINTR) {}
  if (count != 1) _exit(126);
  if (tracer.error == 0 && crun_install_trace() < 0) fail(socket, 2, 126);
  execv(arguments[3], arguments + 4);
  fail(socket, 3, errno == ENOENT ? 127 : 126);
}
