.globl _start
_start:
  li a7, 93
  ecall
  fadd.d f0, f1, f2
