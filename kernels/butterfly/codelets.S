// Passes over the rows of a tile: one or two stages of 2x2 twiddles at a time. A group is the 2 or 4 rows (legs) that
// twiddles join; these stay in registers while the units of the rows go by. A unit is a word of columns, of complex
// numbers two words: real parts, imaginary parts.
//
// Arguments, to all workers: rows in, rows out (the same or others), bytes from leg 0 to leg 1 and to leg 2, groups
// from one jump to the next, bytes of a jump, bytes from row to row, 0; then for each worker 32 bytes: offset of
// its first leg 0, its first twiddles, groups, units of a run - 1, groups to its first jump, three words of padding.
#include "xtile.h"

.set kZero, 31

// s0: leg 0 of this group; s1: twiddles; s2: groups left; s3: units of a run - 1; s4: groups to the next jump; a2: from
// in to out; a3, a4: to legs 1 and 2; a5: groups between jumps; a6: a jump; a7: a row
.macro pass_arguments
  csrr    t0, 0xcc0
  slli    t0, t0, 5
  add     t0, t0, a0
  lw      s2, 40(t0)
  lw      a1, 0(a0)
  lw      a2, 4(a0)
  beqz    s2, 9f
  sub     a2, a2, a1
  lw      a3, 8(a0)
  lw      a4, 12(a0)
  lw      a5, 16(a0)
  lw      a6, 20(a0)
  lw      a7, 24(a0)
  lw      s0, 32(t0)
  lw      s1, 36(t0)
  add     s0, s0, a1
  lw      s3, 44(t0)
  lw      s4, 48(t0)
  fmv.w.x f31, x0
  splat.s kZero, kZero
.endm

// Goes on at label 1 with the next group.
.macro next_group
  bdnz    s4, 8f
  mv      s4, a5
  add     s0, s0, a6
8:
  add     s0, s0, a7
  bdnz    s2, 1b
9:
  xctl    0
.endm

// A twiddle in registers `to`..: y0 = to x0 + (to+1) x1, y1 = (to+2) x0 + (to+kLast) x1.
.macro free_twiddle load, negate, bytes, to
  .set kLast, 3
  \load   (\to), s1, \bytes
  \load   (\to)+1, s1, \bytes
  \load   (\to)+2, s1, \bytes
  \load   (\to)+3, s1, \bytes
.endm
// cos, sin: both rows share the cosine.
.macro rotation_twiddle load, negate, bytes, to
  .set kLast, 0
  \load   (\to), s1, \bytes
  \load   (\to)+2, s1, \bytes
  \negate (\to)+1, kZero, (\to)+2
.endm

// One stage: x in f0, f1, y in f4, f5, the twiddle in f8-f11. A word of each leg takes four slots.
.macro stage_codelet name, op, twiddle, load, negate, bytes
codelet \name
  pass_arguments
1:
  \twiddle \load, \negate, \bytes, 8
  mv      t3, s0
  add     t4, s0, a3
  add     t5, s0, a2
  add     t6, t4, a2
  .balign 8
  ld2     f0, f1, t3, t4
  \op     f4, 8, f0, kZero
  nop
  \op     f5, 10, f0, kZero
  beqz    s3, 2f
  rpt     s3, 2f
  \op     f4, 9, f1, f4
  fld.p   f0, t3, 8
  \op     f5, 8+kLast, f1, f5
  fld.p   f1, t4, 8
  fsd.p   f4, t5, 8
  \op     f4, 8, f0, kZero
  fsd.p   f5, t6, 8
  \op     f5, 10, f0, kZero
2:
  \op     f4, 9, f1, f4
  nop
  \op     f5, 8+kLast, f1, f5
  fsd     f4, 0(t5)
  fsd     f5, 0(t6)
  next_group
end_codelet \name
.endm

// Two stages: x in f0-f3, between them m in f4-f7, y in f24-f27. The first stage joins legs 0 and 1 (f8-f11), 2 and 3
// (f12-f15), the second 0 and 2 (f16-f19), 1 and 3 (f20-f23). A word of each leg takes sixteen slots.
.macro first_of_two op, memory
  \op     f4, 8, f0, kZero
  \memory 0, t3, t5
  \op     f5, 10, f0, kZero
  \memory 1, t4, t6
  \op     f6, 12, f2, kZero
  \memory 2, s5, s7
  \op     f7, 14, f2, kZero
  \memory 3, s6, s8
  \op     f4, 9, f1, f4
  \op     f5, 8+kLast, f1, f5
  \op     f6, 13, f3, f6
  \op     f7, 12+kLast, f3, f7
.endm
.macro second_of_two op, memory
  \op     f24, 16, f4, kZero
  \memory 0, t3, t5
  \op     f26, 18, f4, kZero
  \memory 1, t4, t6
  \op     f25, 20, f5, kZero
  \memory 2, s5, s7
  \op     f27, 22, f5, kZero
  \memory 3, s6, s8
  \op     f24, 17, f6, f24
  \op     f26, 16+kLast, f6, f26
  \op     f25, 21, f7, f25
  \op     f27, 20+kLast, f7, f27
.endm
.macro load_leg leg, from, to
  fld.p   (\leg), \from, 8
.endm
.macro store_leg leg, from, to
  fsd.p   24+(\leg), \to, 8
.endm
.macro no_memory leg, from, to
  nop
.endm

.macro two_stage_codelet name, op, twiddle, load, negate, bytes
codelet \name
  pass_arguments
1:
  \twiddle \load, \negate, \bytes, 8
  \twiddle \load, \negate, \bytes, 12
  \twiddle \load, \negate, \bytes, 16
  \twiddle \load, \negate, \bytes, 20
  mv      t3, s0
  add     t4, s0, a3
  add     s5, s0, a4
  add     s6, t4, a4
  add     t5, s0, a2
  add     t6, t4, a2
  add     s7, s5, a2
  add     s8, s6, a2
  ld2     f0, f1, t3, t4
  ld2     f2, f3, s5, s6
  .balign 8
  first_of_two \op, no_memory
  beqz    s3, 2f
  rpt     s3, 2f
  second_of_two \op, load_leg
  first_of_two \op, store_leg
2:
  second_of_two \op, no_memory
  store_leg 0, t3, t5
  store_leg 1, t4, t6
  store_leg 2, s5, s7
  store_leg 3, s6, s8
  next_group
end_codelet \name
.endm

stage_codelet     butterfly_f32_free_1, axpy.2s, free_twiddle, flw.p, sub.2s, 4
stage_codelet     butterfly_f16_free_1, axpy.4h, free_twiddle, flh.p, sub.4h, 2
stage_codelet     butterfly_f32_rotation_1, axpy.2s, rotation_twiddle, flw.p, sub.2s, 4
stage_codelet     butterfly_f16_rotation_1, axpy.4h, rotation_twiddle, flh.p, sub.4h, 2
two_stage_codelet butterfly_f32_free_2, axpy.2s, free_twiddle, flw.p, sub.2s, 4
two_stage_codelet butterfly_f16_free_2, axpy.4h, free_twiddle, flh.p, sub.4h, 2
two_stage_codelet butterfly_f32_rotation_2, axpy.2s, rotation_twiddle, flw.p, sub.2s, 4
two_stage_codelet butterfly_f16_rotation_2, axpy.4h, rotation_twiddle, flh.p, sub.4h, 2

// One stage of complex numbers: x0 in f0, f1, x1 in f2, f3, y0 in f4, f5, y1 in f6, f7; factors a b c d in f8, f11, f14,
// f17: real part, imaginary part, its negative. A unit of each leg takes sixteen slots.
.macro complex_factor to
  flw.p   (\to), s1, 4
  flw.p   (\to)+1, s1, 4
  sub.2s  (\to)+2, kZero, (\to)+1
.endm
.macro first_column memory
  \memory 0, t3, t5
  axpy.2s f4, 8, f0, kZero
  \memory 1, t3, t5
  axpy.2s f5, 8, f1, kZero
  \memory 2, t4, t6
  axpy.2s f6, 14, f0, kZero
  \memory 3, t4, t6
  axpy.2s f7, 14, f1, kZero
  axpy.2s f4, 10, f1, f4
  axpy.2s f5, 9, f0, f5
  axpy.2s f6, 16, f1, f6
  axpy.2s f7, 15, f0, f7
.endm
.macro second_column memory
  axpy.2s f4, 11, f2, f4
  \memory 0, t3, t5
  axpy.2s f5, 11, f3, f5
  \memory 1, t3, t5
  axpy.2s f6, 17, f2, f6
  nop
  axpy.2s f7, 17, f3, f7
  nop
  axpy.2s f4, 13, f3, f4
  nop
  axpy.2s f5, 12, f2, f5
  nop
  axpy.2s f6, 19, f3, f6
  \memory 3, t4, t6
  axpy.2s f7, 18, f2, f7
  \memory 2, t4, t6
.endm
.macro no_complex part, from, to
  nop
.endm
.macro load_complex part, from, to
  .if (\part) < 2
    fld.p (\part), \from, 8
  .elseif (\part) == 2
    fld.p f2, \from, 16
  .else
    fld   f3, 8(\from)
  .endif
.endm
.macro store_complex part, from, to
  fsd.p   4+(\part), \to, 8
.endm

codelet butterfly_complex_free_1
  pass_arguments
1:
  complex_factor 8
  complex_factor 11
  complex_factor 14
  complex_factor 17
  mv      t3, s0
  add     t4, s0, a3
  add     t5, s0, a2
  add     t6, t4, a2
  fld.p   f0, t3, 8
  fld.p   f1, t3, 8
  fld.p   f2, t4, 8
  fld.p   f3, t4, 8
  .balign 8
  first_column no_complex
  beqz    s3, 2f
  rpt     s3, 2f
  second_column load_complex
  first_column store_complex
2:
  second_column no_complex
  store_complex 0, t3, t5
  store_complex 1, t3, t5
  store_complex 2, t4, t6
  store_complex 3, t4, t6
  next_group
end_codelet butterfly_complex_free_1

// --- gradients of twiddles: outer products of two rows that come back with two that went in -------------------------
// Arguments as of a pass: in are the rows that come back, out those that went in, and each group's four sums (of
// complex numbers eight) go to where a pass has its twiddles.

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
.macro load_nothing part
  nop
.endm
.macro load_g0 part
  .if (\part) < 2
    fld.p (\part), t3, 8
  .else
    nop
  .endif
.endm
.macro load_x0 part
  .if (\part) < 2
    fld.p 4+(\part), t5, 8
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
  load_g0 0
  load_g0 1
  load_x0 0
  load_x0 1
  .balign 8
  complex_product 8, 0, 4, load_g1_x1
  beqz    s3, 2f
  rpt     s3, 2f
  complex_product 11, 0, 6, load_nothing
  complex_product 14, 2, 4, load_g0
  complex_product 17, 2, 6, load_x0
  complex_product 8, 0, 4, load_g1_x1
2:
  complex_product 11, 0, 6, load_nothing
  complex_product 14, 2, 4, load_nothing
  complex_product 17, 2, 6, load_nothing
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
