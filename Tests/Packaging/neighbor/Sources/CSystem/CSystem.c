#include "CSystem.h"
int neighbor_CSystem(void) { return 1; }
