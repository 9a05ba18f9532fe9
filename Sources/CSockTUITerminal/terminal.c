#define _GNU_SOURCE
#include "CSockTUITerminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

// glibc gives main's arguments to constructors too.
static char **arguments;
__attribute__((constructor)) static void keep_arguments(int count, char **given) {
  (void)count;
  arguments = given;
}

char *const *cterminal_arguments(void) { return arguments; }

enum { RESTORE_LIMIT = 512, REPLAY_LIMIT = 64 * 1024, PATIENCE = 3, REPEAT_MS = 50 };

static const int crashes[] = {SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction before_crash[CRASHES];
static atomic_int crash_handlers;

static int terminal = -1;            // our own descriptor of the terminal
static struct termios settings;      // as they were before curses
static int screen_descriptor = -1;   // what curses writes to
static int nowhere = -1;             // /dev/null, open before it is needed
static char restore_bytes[RESTORE_LIMIT];
static size_t restore_length;
static atomic_int armed;
static atomic_int restoring;
static atomic_int restored;          // a crash has given the terminal back

static int picture = -1;             // what curses writes to while it draws
static int behind_picture = -1;      // the screen meanwhile
static char *picture_bytes;
static size_t picture_room;

static atomic_int hidden_stderr = -1;   // the real stderr, while it is hidden
static int stderr_memory = -1;          // what it got meanwhile

static atomic_int signal_pipe = -1;
static atomic_int unheard;
static atomic_int last_number;          // the last signal that was passed on, and when
static atomic_llong last_time;
static atomic_int is_last_request;      // the program is ending: the next signal ends it at once
static atomic_int continued;

// --- what handlers do: only async-signal-safe calls from here...

static void write_all(int descriptor, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

void cterminal_reset(void) {
  if (terminal < 0) return;
  // In the background the settings are somebody else's, the shell's most likely.
  pid_t front = tcgetpgrp(terminal);
  if (front > 0 && front != getpgrp()) return;
  tcsetattr(terminal, TCSANOW, &settings);
}

void cterminal_show_stderr(void) {
  int real = atomic_exchange(&hidden_stderr, -1);
  if (real < 0) return;
  dup2(real, STDERR_FILENO);
  struct stat status;
  off_t position = 0;
  if (fstat(stderr_memory, &status) == 0 && status.st_size > REPLAY_LIMIT) position = status.st_size - REPLAY_LIMIT;
  char buffer[1024];
  ssize_t count;
  lseek(stderr_memory, position, SEEK_SET);
  while ((count = read(stderr_memory, buffer, sizeof buffer)) > 0) write_all(STDERR_FILENO, buffer, (size_t)count);
}

// Of two threads that crash at once the second waits for the first, or it would end the program in the midst of this.
static void restore_terminal(void) {
  atomic_fetch_add(&restoring, 1);
  if (!atomic_exchange(&armed, 0)) {
    atomic_fetch_sub(&restoring, 1);
    for (int waited = 0; waited < 100 && atomic_load(&restoring) > 0; waited++) poll(NULL, 0, 10);
    return;
  }
  atomic_store(&restored, 1);
  dup2(nowhere, screen_descriptor);
  write_all(terminal, restore_bytes, restore_length);
  cterminal_reset();
  cterminal_show_stderr();
  atomic_fetch_sub(&restoring, 1);
}

static void set_default(int number) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

static void unblock(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

_Noreturn void cterminal_die(int number) {
  set_default(number);
  unblock(number);
  raise(number);
  _exit(128 + number);
}

// A fault of ours (si_code > 0) happens again once this returns, and finds who handled it before: the backtrace is
// that of the fault. abort() is sent again for the same reason. A signal from outside would be lost, so it kills.
static void crashed(int number, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno;
  restore_terminal();
  int aborted = number == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid();
  if (info->si_code <= 0 && !aborted) cterminal_die(number);
  for (int i = 0; i < CRASHES; i++)
    if (crashes[i] == number) sigaction(number, &before_crash[i], NULL);
  if (aborted) raise(number);
  errno = saved;
}

// timeout(1) signals its child and then its group, and a shell repeats a terminal's SIGHUP: that is one request.
static int is_repeated(int number) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long time = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
  if (number == atomic_load(&last_number) && time - atomic_load(&last_time) < REPEAT_MS) return 1;
  atomic_store(&last_number, number);
  atomic_store(&last_time, time);
  return 0;
}

static void heard_politely(int number) {
  int saved = errno;
  if (number == SIGCONT) atomic_store(&continued, 1);
  if (number != SIGCONT && number != SIGTSTP) {
    if (is_repeated(number)) {
      errno = saved;
      return;
    }
    if (atomic_fetch_add(&unheard, 1) + 1 >= PATIENCE || atomic_load(&is_last_request)) {
      restore_terminal();
      cterminal_die(number);
    }
  }
  char byte = (char)number;
  write_all(atomic_load(&signal_pipe), &byte, 1);
  errno = saved;
}

// --- ...to here.

void cterminal_unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

int cterminal_remember(int tty) {
  if (tcgetattr(tty, &settings) != 0) return -1;
  if (terminal >= 0) close(terminal);
  terminal = fcntl(tty, F_DUPFD_CLOEXEC, 3);
  return terminal < 0 ? -1 : 0;
}

// Stack overflow leaves no stack to handle it on.
static void give_alternate_stack(void) {
  static char stack[64 * 1024];
  stack_t current;
  if (sigaltstack(NULL, &current) != 0 || !(current.ss_flags & SS_DISABLE)) return;
  stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&ours, NULL);
}

int cterminal_arm(int screen, const char *restore, size_t length) {
  if (nowhere < 0 && (nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0) return -1;
  screen_descriptor = screen;
  restore_length = length < RESTORE_LIMIT ? length : RESTORE_LIMIT;
  memcpy(restore_bytes, restore, restore_length);
  atomic_store(&armed, 1);
  if (atomic_exchange(&crash_handlers, 1)) return 0;
  give_alternate_stack();
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGTTOU);   // else a background process would stop in tcsetattr
  for (int i = 0; i < CRASHES; i++)
    if (sigaction(crashes[i], &action, &before_crash[i]) != 0) return -1;
  return 0;
}

void cterminal_disarm(void) { atomic_store(&armed, 0); }

int cterminal_hide_stderr(void) {
  if (!isatty(STDERR_FILENO) || atomic_load(&hidden_stderr) >= 0) return 0;
  if (stderr_memory < 0 && (stderr_memory = memfd_create("stderr", MFD_CLOEXEC)) < 0) return -1;
  if (ftruncate(stderr_memory, 0) != 0 || lseek(stderr_memory, 0, SEEK_SET) != 0) return -1;
  int real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (real < 0 || dup2(stderr_memory, STDERR_FILENO) < 0) return -1;
  atomic_store(&hidden_stderr, real);
  return 0;
}

// Puts `descriptor` in the place of `screen`, which children inherit, or not, as before.
static int replace(int screen, int descriptor) {
  int flags = fcntl(screen, F_GETFD);
  return flags < 0 ? -1 : dup3(descriptor, screen, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
}

int cterminal_begin_picture(int screen) {
  if (picture < 0 && (picture = memfd_create("picture", MFD_CLOEXEC)) < 0) return -1;
  if ((behind_picture = fcntl(screen, F_DUPFD_CLOEXEC, 3)) < 0) return -1;
  if (replace(screen, picture) >= 0) return 0;
  close(behind_picture);
  behind_picture = -1;
  return -1;
}

void cterminal_end_picture(int screen) {
  if (behind_picture < 0) return;
  off_t length = lseek(picture, 0, SEEK_CUR);
  if (length > 0 && (size_t)length > picture_room) {
    char *larger = realloc(picture_bytes, (size_t)length);
    if (larger) picture_bytes = larger, picture_room = (size_t)length;
  }
  // After a crash on another thread the screen is nobody's to draw on.
  if (!atomic_load(&restored)) replace(screen, behind_picture);
  lseek(picture, 0, SEEK_SET);
  while (length > 0) {
    ssize_t count = read(picture, picture_bytes, picture_room);
    if (count <= 0) break;
    write_all(screen, picture_bytes, (size_t)count);
    length -= count;
  }
  lseek(picture, 0, SEEK_SET);
  ftruncate(picture, 0);
  close(behind_picture);
  behind_picture = -1;
}

void cterminal_listen(int pipe) {
  static const int polite[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT};
  atomic_store(&signal_pipe, pipe);
  for (size_t i = 0; i < sizeof polite / sizeof *polite; i++) {
    struct sigaction old;
    if (sigaction(polite[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction action = {.sa_handler = heard_politely, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTTOU);
    sigaction(polite[i], &action, NULL);
  }
}

void cterminal_heard(void) { atomic_store(&unheard, 0); }

void cterminal_end_at_next_signal(void) { atomic_store(&is_last_request, 1); }

// An asynchronous command of a shell without job control inherits SIGINT and SIGQUIT as ignored. Swift's backtracer
// takes SIGQUIT, and needs seconds for it.
void cterminal_take_signals(void) {
  set_default(SIGINT);
  set_default(SIGQUIT);
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, NULL);   // writing fails with EPIPE
  sigaction(SIGXFSZ, &ignore, NULL);   // and with EFBIG
}

int cterminal_is_dying(void) { return atomic_load(&unheard) > 0; }

// The stop reaches the group a moment after kill returns when another thread takes the signal, so this waits for
// the continue; an orphaned group is never stopped, hence the limit.
void cterminal_stop(void) {
  struct sigaction ours;
  if (sigaction(SIGTSTP, NULL, &ours) != 0) return;
  int was_armed = atomic_exchange(&armed, 0);   // the terminal is the shell's for now
  atomic_store(&continued, 0);
  set_default(SIGTSTP);
  kill(0, SIGTSTP);
  for (int waited = 0; waited < 20 && !atomic_load(&continued); waited++) poll(NULL, 0, 10);
  sigaction(SIGTSTP, &ours, NULL);
  if (!cterminal_is_dying()) atomic_store(&armed, was_armed);
}
