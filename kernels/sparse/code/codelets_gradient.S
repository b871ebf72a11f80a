#include "xtile.h"
#include "kernels/sparse/code/gradient.inc"

// The gradient of the blocks of a pattern that is known: a0: {X, Yg, 64-bit words of a row less one, bytes of a row,
// side of a block, padding}, then for each worker {list, values, block rows, first row of a block, rows of a block,
// padding}.
.macro block_gradient name, multiply
codelet \name
  csrr t0, 0xcc0
  sh1add t0, t0, t0
  sh3add t0, t0, a0           // a0 + 24 * worker
  lw s3, 32(t0)
  lw a2, 24(t0)
  beqz s3, 19f
  lw a1, 28(t0)
  lw t2, 36(t0)
  lw s6, 40(t0)
  lw s0, 0(a0)
  lw s1, 4(a0)
  lw s7, 8(a0)
  lw s8, 12(a0)
  lw s9, 16(a0)
  fmv.w.x f31, zero
  splat.s f31, f31
  gradient_rows \multiply
19:
  xctl 0
end_codelet \name
.endm
block_gradient block_gradient_f16, dot2.s.h
block_gradient block_gradient_f32, fma.2s
