#include "COpenSSL.h"
int neighbor_COpenSSL(void) { return 1; }
