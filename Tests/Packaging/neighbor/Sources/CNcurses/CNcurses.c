#include "CNcurses.h"
int neighbor_CNcurses(void) { return 1; }
