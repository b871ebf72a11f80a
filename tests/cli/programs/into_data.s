# Jumps to a word of its own data.
.globl _start
_start:
  la t0, word
  jr t0
.data
.globl word
word:
  .word 0x00000013
