#include "CTerminal.h"
int neighbor_CTerminal(void) { return 1; }
