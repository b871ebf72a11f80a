// Gradients of twiddles: outer products of two rows of the gradient with two rows of the input.
// Arguments like a pass's: `in` is the gradient's rows, `out` the input's rows, and each group's four sums (complex: eight)
// are written where a pass has its twiddles.
#include "xtile.h"
#include "kernels/butterfly/rows.inc"

// Sums 0 0, 0 1, 1 0, 1 1 in f20-f23; g in f0, f1, x in f2, f3. A word of each row takes four slots.
.macro products_codelet name, multiply_add
codelet \name
  pass_arguments
1:
  mv      t3, s0
  add     t4, s0, a3
  add     t5, s0, a2
  add     t6, t4, a2
  fsgnj.d f20, f31, f31
  fsgnj.d f21, f31, f31
  fsgnj.d f22, f31, f31
  fsgnj.d f23, f31, f31
  ld2     f0, f1, t3, t4
  ld2     f2, f3, t5, t6
  .balign 8
  \multiply_add f20, f0, f2, f20
  nop
  beqz    s3, 2f
  rpt     s3, 2f
  \multiply_add f21, f0, f3, f21
  fld.p   f0, t3, 8
  \multiply_add f22, f1, f2, f22
  fld.p   f2, t5, 8
  \multiply_add f23, f1, f3, f23
  fld.p   f1, t4, 8
  fld.p   f3, t6, 8
  \multiply_add f20, f0, f2, f20
2:
  \multiply_add f21, f0, f3, f21
  \multiply_add f22, f1, f2, f22
  \multiply_add f23, f1, f3, f23
  .irp sum, 20, 21, 22, 23
    sum.2s  \sum, \sum
    fsw.p   \sum, s1, 4
  .endr
  next_group
end_codelet \name
.endm
products_codelet butterfly_products_f32, fma.2s
products_codelet butterfly_products_f16, dot2.s.h

// g conj(x) by parts: for each of the four sums `to` = real parts, `to`+1 = imaginary times real, `to`+2 = real times
// imaginary; g0 in f0, f1, g1 in f2, f3, x0 in f4, f5, x1 in f6, f7.
.macro complex_product to, g, x, memory
  fma.2s  (\to), (\g), (\x), (\to)
  \memory 0
  fma.2s  (\to)+1, (\g)+1, (\x), (\to)+1
  \memory 1
  fma.2s  (\to)+2, (\g), (\x)+1, (\to)+2
  \memory 2
  fma.2s  (\to), (\g)+1, (\x)+1, (\to)
  \memory 3
.endm
.macro load_parts first, from, part
  .if (\part) < 2
    fld.p (\first)+(\part), \from, 8
  .else
    nop
  .endif
.endm
.macro load_g1_x1 part
  .if (\part) < 2
    fld.p 2+(\part), t4, 8
  .else
    fld.p 4+(\part), t6, 8
  .endif
.endm
.macro complex_sum to
  sub.2s  (\to)+1, (\to)+1, (\to)+2
  sum.2s  (\to), (\to)
  fsw.p   (\to), s1, 4
  sum.2s  (\to)+1, (\to)+1
  fsw.p   (\to)+1, s1, 4
.endm
codelet butterfly_products_complex
  pass_arguments
1:
  mv      t3, s0
  add     t4, s0, a3
  add     t5, s0, a2
  add     t6, t4, a2
  .irp sum, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19
    fsgnj.d \sum, f31, f31
  .endr
  load_parts 0, t3, 0
  load_parts 0, t3, 1
  load_parts 4, t5, 0
  load_parts 4, t5, 1
  .balign 8
  complex_product 8, 0, 4, load_g1_x1
  beqz    s3, 2f
  rpt     s3, 2f
  complex_product 11, 0, 6, nothing
  complex_product 14, 2, 4, "load_parts 0, t3,"
  complex_product 17, 2, 6, "load_parts 4, t5,"
  complex_product 8, 0, 4, load_g1_x1
2:
  complex_product 11, 0, 6, nothing
  complex_product 14, 2, 4, nothing
  complex_product 17, 2, 6, nothing
  complex_sum 8
  complex_sum 11
  complex_sum 14
  complex_sum 17
  next_group
end_codelet butterfly_products_complex

// Gradients of angles: cos (sum 1 0 - sum 0 1) - sin (sum 0 0 + sum 1 1). Arguments: sums, cosines and sines, results,
// a word of padding; then for each worker its first pair and their number.
codelet butterfly_angles
  csrr    t0, 0xcc0
  sh3add  t0, t0, a0
  lw      t1, 16(t0)
  lw      s2, 20(t0)
  lw      a1, 0(a0)
  lw      a2, 4(a0)
  beqz    s2, 9f
  lw      a3, 8(a0)
  slli    t2, t1, 4
  add     a1, a1, t2
  sh3add  a2, t1, a2
  sh2add  a3, t1, a3
1:
  flw.p   f0, a1, 4
  flw.p   f1, a1, 4
  flw.p   f2, a1, 4
  flw.p   f3, a1, 4
  flw.p   f4, a2, 4
  flw.p   f5, a2, 4
  fsub.s  f2, f2, f1
  fadd.s  f0, f0, f3
  fmul.s  f2, f2, f4
  fnmsub.s f2, f0, f5, f2
  fsw.p   f2, a3, 4
  bdnz    s2, 1b
9:
  xctl    0
end_codelet butterfly_angles
