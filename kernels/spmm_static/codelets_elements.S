// Rows of Y = W X, element by element: for each of its column passes a worker walks its rows.
// a0: {x, y, bytes of a row of x, of y}, then for each worker {list, values, rows, passes, offset of its
// part in x, in y}. The list holds for each row its nonzeros, then the place of each one's row of X in
// 64-bit words, u16 each. A row's values begin at a multiple of four bytes. element_code.h counts these
// instructions.
#include "xtile.h"
#include "kernels/spmm_static/pairs.inc"

.macro worker_part
  csrr    t0, 0xcc0
  sh1add  t1, t0, t0
  sh3add  t1, t1, a0          // a0 + 24 * worker
  lw      a3, 24(t1)          // rows
  lw      a1, 16(t1)          // list
  beqz    a3, 5f
  lw      a2, 20(t1)          // values
  lw      a4, 28(t1)          // passes
  lw      a5, 32(t1)
  lw      a6, 36(t1)
  lw      t2, 0(a0)
  lw      t3, 4(a0)
  lw      a7, 12(a0)
  add     t2, t2, a5          // X at this pass
  add     t3, t3, a6          // Y at this pass
  fmv.w.x f31, zero
  splat.s f31, f31            // 64 zero bits for new sums
.endm

// --- sums in the type of the elements --------------------------------------------------------------
// A pass is `words` words of a row. Two words: 3 slots a nonzero, one: 2; the gathers of the next
// nonzero go with the arithmetic of this one.
.macro one_type_rows name, load, axpy, bytes, words
codelet \name
  worker_part
1:                            // pass
  mv      t4, a1
  mv      t5, a2
  mv      t6, t3
  mv      s0, a3
  addi    s1, t2, 8
2:                            // row
  lhu.p   s2, t4, 2
  fsgnj.d f4, f31, f31
  fsgnj.d f5, f31, f31
  .if \bytes == 2
    andi  s3, s2, 1
  .endif
  beqz    s2, 4f
  .if \words == 2
    lgn.d f0, t2, t4
    lgx.d f1, s1, t4
  .else
    lgx.d f0, t2, t4
  .endif
  addi    s2, s2, -1
  \load   f2, t5, \bytes
  .balign 8
  beqz    s2, 3f
  rpt     s2, 3f              // its body begins at a multiple of 8, so that it runs in pairs
  .if \words == 2
    \axpy f4, f2, f0, f4
    lgn.d f0, t2, t4
    \axpy f5, f2, f1, f5
    lgx.d f1, s1, t4
    \load f2, t5, \bytes
  .else
    \axpy f4, f2, f0, f4
    lgx.d f0, t2, t4
    \load f2, t5, \bytes
  .endif
3:
  \axpy   f4, f2, f0, f4
  .if \words == 2
    \axpy f5, f2, f1, f5
  .endif
  .if \bytes == 2
    sh1add t5, s3, t5         // rows of odd length are padded
  .endif
4:
  fsd     f4, 0(t6)
  .if \words == 2
    fsd   f5, 8(t6)
  .endif
  add     t6, t6, a7
  bdnz    s0, 2b
  addi    t2, t2, 8 * (\words)
  addi    t3, t3, 8 * (\words)
  bdnz    a4, 1b
5:
  xctl 0
end_codelet \name
.endm

one_type_rows spmm_rows_f16, flh.p, axpy.4h, 2, 2
one_type_rows spmm_rows_f32, flw.p, axpy.2s, 4, 2
one_type_rows spmm_narrow_rows_f16, flh.p, axpy.4h, 2, 1
one_type_rows spmm_narrow_rows_f32, flw.p, axpy.2s, 4, 1

// --- f16 elements, f32 sums ------------------------------------------------------------------------
// Two nonzeros at a time (pairs.inc): two words of X take 7 slots for both, one: 4.
.macro wide_rows name, words
codelet \name
  worker_part
1:                            // pass
  mv      t4, a1
  mv      t5, a2
  mv      t6, t3
  mv      s0, a3
  addi    s1, t2, 8
2:                            // row
  lhu.p   s2, t4, 2
  fsgnj.d f4, f31, f31
  fsgnj.d f5, f31, f31
  .if \words == 2
    fsgnj.d f6, f31, f31
    fsgnj.d f7, f31, f31
  .endif
  andi    s3, s2, 1
  srli    s2, s2, 1
  beqz    s2, 3f
  gather_pair \words, s1
  splat.s f13, f12
  addi    s2, s2, -1
  .balign 8
  beqz    s2, 6f
  rpt     s2, 6f
  next_pair \words, s1
6:
  add_pair \words
3:
  beqz    s3, 4f
  // the last of an odd number: its weight beside a zero
  .if \words == 2
    lgn.d f0, t2, t4
    lgx.d f1, s1, t4
  .else
    lgx.d f0, t2, t4
  .endif
  flh.p   f12, t5, 4
  fsgnj.d f2, f31, f31
  fsgnj.d f3, f31, f31
  zip.h   f13, f14, f12, f31
  splat.s f13, f13
  add_pair \words
4:
  fsd     f4, 0(t6)
  fsd     f5, 8(t6)
  .if \words == 2
    fsd   f6, 16(t6)
    fsd   f7, 24(t6)
  .endif
  add     t6, t6, a7
  bdnz    s0, 2b
  addi    t2, t2, 8 * (\words)
  addi    t3, t3, 16 * (\words)
  bdnz    a4, 1b
5:
  xctl 0
end_codelet \name
.endm

wide_rows spmm_rows_f16_f32, 2
wide_rows spmm_narrow_rows_f16_f32, 1
