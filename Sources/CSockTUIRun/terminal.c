// A terminal of a program's own.
#define _GNU_SOURCE
#include "CSockTUIRun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int crun_open_terminal(char path[CRUN_NAME]) {
  int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0) return -1;
  struct termios settings;
  if (grantpt(ours) < 0 || unlockpt(ours) < 0 || tcgetattr(ours, &settings) < 0 ||
      (errno = ptsname_r(ours, path, CRUN_NAME)) != 0) {
    int error = errno;
    close(ours);
    errno = error;
    return -1;
  }
  // A backspace erases a character, not a byte.
  settings.c_iflag |= IUTF8;
  tcsetattr(ours, TCSANOW, &settings);
  return ours;
}

void crun_resize_terminal(int terminal, int columns, int rows) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  ioctl(terminal, TIOCSWINSZ, &size);
}
