// ncursesw for Swift: what its macros and globals hide. No logic.
#pragma once
#if !__has_include(<ncurses.h>)
#error "ncurses headers are missing: apt-get install libncurses-dev"
#endif
#define NCURSES_WIDECHAR 1
#include <locale.h>
#include <langinfo.h>
#include <ncurses.h>
#include <term.h>
