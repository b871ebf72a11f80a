.globl _start
_start:
  li t0, 0x12002
  lw t1, 0(t0)
