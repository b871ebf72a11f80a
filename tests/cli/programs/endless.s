.globl _start
_start:
  j _start
