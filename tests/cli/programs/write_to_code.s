.globl _start
_start:
  la t0, _start
  sw zero, 0(t0)
