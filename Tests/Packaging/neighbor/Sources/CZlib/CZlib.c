#include "CZlib.h"
int neighbor_CZlib(void) { return 1; }
