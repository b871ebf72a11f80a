# Waits at a barrier, which a worker cannot.
.globl _start
_start:
  .insn i 0x7b, 3, x0, x0, 16
