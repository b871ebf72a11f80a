.globl _start
_start:
  nop
  .word 0xffffffff
