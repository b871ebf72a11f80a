// Rows of Y = W X, element-wise: for each of its column passes (16 bytes: 8 f16 or 4 f32) a worker walks its
// rows. a0: {x, y, bytes of a row}, then for each worker {indices, values, rows, passes, first pass in
// bytes of x, of y}. Indices: u16 nonzeros of a row, then the place of each one's row of X in 64-bit words.
// Sums are kept in the type of the elements.
#include "xtile.h"

// 3 slots a nonzero: the gathers of the next nonzero go with the arithmetic of this one.
.macro spmm_rows type, load, axpy, bytes
codelet spmm_rows_\type
  csrr    t0, 0xcc0
  sh1add  t1, t0, t0
  sh3add  t1, t1, a0          // a0 + 24 * worker
  lw      a3, 20(t1)          // rows
  lw      a1, 12(t1)          // indices
  beqz    a3, 5f
  lw      a2, 16(t1)          // values
  lw      a4, 24(t1)          // passes
  lw      a5, 28(t1)
  lw      a6, 32(t1)
  lw      t2, 0(a0)
  lw      t3, 4(a0)
  lw      a7, 8(a0)
  add     t2, t2, a5          // X at this pass
  add     t3, t3, a6          // Y at this pass
  fmv.w.x f6, zero
  splat.s f6, f6              // 64 zero bits for new sums
1:                            // pass
  mv      t4, a1
  mv      t5, a2
  mv      t6, t3
  mv      s0, a3
  addi    s1, t2, 8
2:                            // row
  lhu.p   s2, t4, 2
  fsgnj.d f4, f6, f6
  fsgnj.d f5, f6, f6
  beqz    s2, 4f
  lgn.d   f0, t2, t4
  lgx.d   f1, s1, t4
  addi    s2, s2, -1
  \load   f2, t5, \bytes
  beqz    s2, 3f
  rpt     s2, 3f              // its body begins at a multiple of 8, so that it runs in pairs
  \axpy   f4, f2, f0, f4
  lgn.d   f0, t2, t4
  \axpy   f5, f2, f1, f5
  lgx.d   f1, s1, t4
  \load   f2, t5, \bytes
3:
  \axpy   f4, f2, f0, f4
  \axpy   f5, f2, f1, f5
4:
  fsd     f4, 0(t6)
  fsd     f5, 8(t6)
  add     t6, t6, a7
  bdnz    s0, 2b
  addi    t2, t2, 16
  addi    t3, t3, 16
  bdnz    a4, 1b
5:
  xctl    0
end_codelet spmm_rows_\type
.endm

spmm_rows f16, flh.p, axpy.4h, 2
spmm_rows f32, flw.p, axpy.2s, 4
