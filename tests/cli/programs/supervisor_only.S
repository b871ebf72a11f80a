// Waits at a barrier, which a worker may not do.
#include "xtile.h"
.globl _start
_start:
  xctl 16
