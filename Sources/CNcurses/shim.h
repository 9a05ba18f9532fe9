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

// One character or key code; OK, KEY_CODE_YES or ERR.
static inline int cn_get(uint32_t *character) {
  wint_t wide = 0;
  int kind = wget_wch(stdscr, &wide);
  *character = wide;
  return kind;
}
