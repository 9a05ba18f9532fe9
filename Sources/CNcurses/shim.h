// ncursesw for Swift: what its macros and globals hide. No logic.
#pragma once
#if !__has_include(<ncurses.h>)
#error "ncurses headers are missing: apt-get install libncurses-dev"
#endif
#define NCURSES_WIDECHAR 1
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdint.h>
#include <string.h>
#include <term.h>

static inline WINDOW *cn_screen(void) { return stdscr; }
static inline int cn_colors(void) { return COLORS; }
// A pair of any color, also of a terminal that counts them by 24 bits, on the terminal's own background.
static inline int cn_pair(int pair, int foreground) { return init_extended_pair(pair, foreground, -1); }
static inline void cn_forget_type(void) { del_curterm(cur_term); }
static inline const char *cn_codeset(void) { return nl_langinfo(CODESET); }

static const attr_t cn_bold = A_BOLD;
static const attr_t cn_dim = A_DIM;
static const attr_t cn_reverse = A_REVERSE;
static const attr_t cn_underline = A_UNDERLINE;

// wchar_t is UTF-32 here; Swift would otherwise show it as a type of its own.
static inline int cn_put(int y, int x, attr_t attributes, int pair, const uint32_t *text, int count) {
  wattr_set(stdscr, attributes, 0, &pair);
  return mvwaddnwstr(stdscr, y, x, (const wchar_t *)text, count);
}

// Press and release, or a turn of the wheel; the terminal's own selection works again when it is off.
static inline void cn_mouse(int on) {
  mousemask(on ? BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
  mouseinterval(0);
}

// The mouse event that KEY_MOUSE told of: 1 (press), 2 (release), 4 (wheel up), 5 (wheel down); 0: none of them.
static inline int cn_mouse_event(int *x, int *y) {
  MEVENT event;
  if (getmouse(&event) != OK) return 0;
  *x = event.x;
  *y = event.y;
  if (event.bstate & BUTTON1_PRESSED) return 1;
  if (event.bstate & BUTTON1_RELEASED) return 2;
  if (event.bstate & BUTTON4_PRESSED) return 4;
  return event.bstate & BUTTON5_PRESSED ? 5 : 0;
}

// One character or key code; OK, KEY_CODE_YES or ERR.
static inline int cn_get(uint32_t *character) {
  wint_t wide = 0;
  int kind = wget_wch(stdscr, &wide);
  *character = wide;
  return kind;
}
