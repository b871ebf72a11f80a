// Waits at a barrier, which a worker cannot.
#include "xtile.h"
.globl _start
_start:
  xctl 16
