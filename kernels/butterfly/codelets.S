// Passes over the rows of a tile: one or two stages of 2x2 twiddles at a time. A group is the 2 or 4 rows (legs) that
// twiddles join; the twiddles stay in registers while the units of the rows stream. A unit is a word of columns; of complex
// numbers two words: real parts, imaginary parts.
#include "xtile.h"
#include "kernels/butterfly/rows.inc"

// A twiddle in registers `to`..: y0 = to x0 + (to+1) x1, y1 = (to+2) x0 + (to+kLast) x1. `first` and `second` are 1 and 2,
// the storage order; 2 and 1 for F^H, the transpose.
.macro free_twiddle first, second, load, negate, bytes, to
  .set kLast, 3
  \load   (\to), s1, \bytes
  \load   (\to)+\first, s1, \bytes
  \load   (\to)+\second, s1, \bytes
  \load   (\to)+3, s1, \bytes
.endm
// cos, sin: both rows share the cosine; `second` is the negative sine.
.macro rotation_twiddle first, second, load, negate, bytes, to
  .set kLast, 0
  \load   (\to), s1, \bytes
  \load   (\to)+\first, s1, \bytes
  \negate (\to)+\second, kZero, (\to)+\first
.endm

// One stage: x in f0, f1, y in f4, f5, the twiddle in f8-f11. A word of each leg takes four slots.
.macro stage_codelet name, op, kind, first, second, load, negate, bytes
codelet \name
  pass_arguments
1:
  \kind\()_twiddle \first, \second, \load, \negate, \bytes, 8
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
// One of the two stages: twiddles from `twiddle` on, input legs a, b and c, d, results to ya, yb and yc, yd.
.macro half_of_two op, memory, twiddle, a, b, c, d, ya, yb, yc, yd
  \op     (\ya), (\twiddle), (\a), kZero
  \memory 0, t3, t5
  \op     (\yb), (\twiddle)+2, (\a), kZero
  \memory 1, t4, t6
  \op     (\yc), (\twiddle)+4, (\c), kZero
  \memory 2, s5, s7
  \op     (\yd), (\twiddle)+6, (\c), kZero
  \memory 3, s6, s8
  \op     (\ya), (\twiddle)+1, (\b), (\ya)
  \op     (\yb), (\twiddle)+kLast, (\b), (\yb)
  \op     (\yc), (\twiddle)+5, (\d), (\yc)
  \op     (\yd), (\twiddle)+4+kLast, (\d), (\yd)
.endm
.macro first_of_two op, memory
  half_of_two \op, \memory, 8, 0, 1, 2, 3, 4, 5, 6, 7
.endm
.macro second_of_two op, memory
  half_of_two \op, \memory, 16, 4, 6, 5, 7, 24, 26, 25, 27
.endm
.macro load_leg leg, from, to
  fld.p   (\leg), \from, 8
.endm
.macro store_leg leg, from, to
  fsd.p   24+(\leg), \to, 8
.endm

.macro two_stage_codelet name, op, kind, first, second, load, negate, bytes
codelet \name
  pass_arguments
1:
  \kind\()_twiddle \first, \second, \load, \negate, \bytes, 8
  \kind\()_twiddle \first, \second, \load, \negate, \bytes, 12
  \kind\()_twiddle \first, \second, \load, \negate, \bytes, 16
  \kind\()_twiddle \first, \second, \load, \negate, \bytes, 20
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
  first_of_two \op, nothing
  beqz    s3, 2f
  rpt     s3, 2f
  second_of_two \op, load_leg
  first_of_two \op, store_leg
2:
  second_of_two \op, nothing
  store_leg 0, t3, t5
  store_leg 1, t4, t6
  store_leg 2, s5, s7
  store_leg 3, s6, s8
  next_group
end_codelet \name
.endm

.macro of_types codelet, name, kind, first, second
  \codelet butterfly_f32_\name, axpy.2s, \kind, \first, \second, flw.p, sub.2s, 4
  \codelet butterfly_f16_\name, axpy.4h, \kind, \first, \second, flh.p, sub.4h, 2
.endm
of_types stage_codelet, free_1, free, 1, 2
of_types stage_codelet, rotation_1, rotation, 2, 1
of_types stage_codelet, free_adjoint_1, free, 2, 1
of_types stage_codelet, rotation_adjoint_1, rotation, 1, 2
of_types two_stage_codelet, free_2, free, 1, 2
of_types two_stage_codelet, rotation_2, rotation, 2, 1

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
  first_column nothing
  beqz    s3, 2f
  rpt     s3, 2f
  second_column load_complex
  first_column store_complex
2:
  second_column nothing
  store_complex 0, t3, t5
  store_complex 1, t3, t5
  store_complex 2, t4, t6
  store_complex 3, t4, t6
  next_group
end_codelet butterfly_complex_free_1
