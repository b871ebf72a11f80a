# Runs past its last instruction.
.globl _start
_start:
  nop
