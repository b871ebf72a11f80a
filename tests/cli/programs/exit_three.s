# Ends with exit code 3.
.globl _start
_start:
  li a0, 3
  li a7, 93
  ecall
