// What must happen to the terminal when this process is stopped, ended or crashes. Linux; one terminal a process.
// The functions are called on the main thread; the handlers run on any thread and call only what a signal handler may.
#pragma once
#include <stddef.h>

// The program's arguments as the kernel gave them, ended by NULL. Unlike Swift's they need no /proc, and are bytes.
char *const *cterminal_arguments(void);

// Lets every signal through on this thread: a parent may have blocked them, and children inherit that.
void cterminal_unblock_signals(void);

// What signals do in any run: INT and QUIT end it, also where they were inherited as ignored, and a write to a closed
// pipe or past a file's limit fails.
void cterminal_take_signals(void);

// Remembers the settings of the terminal `tty`, before curses changes them. 0, or -1 with errno.
int cterminal_remember(int tty);

// From now on a crash on any thread (SEGV ILL TRAP ABRT BUS FPE) turns `screen`, the descriptor that curses writes to,
// into /dev/null, writes the `length` bytes at `restore` (512 at most are kept) and the remembered settings to the
// terminal, and shows what stderr got meanwhile; then the crash takes its course. A stack overflow is handled on the
// main thread only: other threads have no second stack. 0, or -1 with errno.
int cterminal_arm(int screen, const char *restore, size_t length);

// A crash leaves the terminal alone again: curses has been left.
void cterminal_disarm(void);

// Puts the remembered settings back, unless this process is in the background.
void cterminal_reset(void);

// Keeps what is written to stderr off the screen, where stderr is a terminal. 0, or -1 with errno.
int cterminal_hide_stderr(void);

// Gives stderr back and writes to it the last 64 KiB of what it got while it was hidden.
void cterminal_show_stderr(void);

// Keeps in memory what is written to `screen`, since curses writes anew for each move of its cursor, and the terminal
// would show halves of pictures. 0, or -1 with errno: then what is written goes to the terminal as it comes.
int cterminal_begin_picture(int screen);

// Writes to `screen` what was kept, at once where the terminal takes it, and lets the rest through again.
void cterminal_end_picture(int screen);

// INT TERM HUP QUIT TSTP and CONT write their number as one byte into `pipe`, unless they are ignored. One that is
// repeated within 50 ms counts once. Whoever sends three signals that end a program before the first was heard ends it
// there and then, terminal restored.
void cterminal_listen(int pipe);

// The byte of a signal has been read.
void cterminal_heard(void);

// From now on the next signal that ends a program ends it there and then.
void cterminal_end_at_next_signal(void);

// Whether a signal that ends a program has come and was not heard yet.
int cterminal_is_dying(void);

// Stops the process group as ^Z does, and returns when it goes on, or at once where nobody could continue it.
void cterminal_stop(void);

// Ends the process by this signal, so that its parent sees it.
_Noreturn void cterminal_die(int signal);
