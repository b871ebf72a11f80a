// Passes of a Stockham transform. A unit is two complex points of neighbouring columns: a word of
// real parts, a word of imaginary parts.
//
// Arguments of a pass, to all workers: bytes from leg to leg in, from leg 0 to legs 1, 2 and 3 out; then for each worker
// 32 bytes: leg 0 in and out, twiddles, groups, units of a run - 1, bytes from the end of a run to the next in
// and out, a word of padding. A twiddle is its real part, its imaginary part and the negative of that, for legs
// 1, 2, 3 out. Where one group ends the next begins without a break: its first unit is loaded, and its twiddles, while
// the last unit of the group before is finished.
#include "xtile.h"
#include "kernels/fft/loads.inc"

.set kZero, 31

// t3, t4, s5, s6: legs in; t5, t6, s7, s8: legs out; s2: groups left; s3: units of a run - 1; s4: twiddles; a3: from leg to
// leg in; a4, a5, a6: to legs 1, 2, 3 out; a7, s9: from the end of a run to the next, in and out
.macro pass_arguments
  csrr    t0, 0xcc0
  slli    t0, t0, 5
  add     t0, t0, a0
  lw      s2, 28(t0)
  lw      t3, 16(t0)
  lw      t5, 20(t0)
  beqz    s2, 9f
  lw      s4, 24(t0)
  lw      s3, 32(t0)
  lw      a7, 36(t0)
  lw      s9, 40(t0)
  lw      a3, 0(a0)
  lw      a4, 4(a0)
  fmv.w.x f31, x0
  splat.s kZero, kZero
.endm

.macro twiddle_part number
  flw.p   20+(\number), s4, 4
.endm
.macro two_legs
  add     t4, t3, a3
  add     t6, t5, a4
.endm
.macro four_legs
  lw      a5, 8(a0)
  lw      a6, 12(a0)
  two_legs
  add     s5, t4, a3
  add     s6, s5, a3
  add     s7, t5, a5
  add     s8, t5, a6
.endm

.macro store first, to
  fsd.p   \first, \to, 8
.endm

// --- radix 2: a in f0, f1, b in f2, f3; sum in f4, f5, difference in f6, f7, turned in f8, f9; eight slots a unit ------
.macro sums_2 store
  \store  f4, t5
  add.2s  f4, f0, f2
  \store  f5, t5
  add.2s  f5, f1, f3
  \store  f8, t6
  sub.2s  f6, f0, f2
  \store  f9, t6
  sub.2s  f7, f1, f3
.endm
.macro turn_2 load, next
  axpy.2s f8, 20, f6, kZero
  \load   f0, f2, t3, t4
  axpy.2s f9, 20, f7, kZero
  \load   f1, f3, t3, t4
  axpy.2s f8, 22, f7, f8
  \next   0
  axpy.2s f9, 21, f6, f9
  \next   1
.endm
.macro no_part number
  nop
.endm
codelet fft_radix2
  pass_arguments
  two_legs
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  .balign 8
  twiddle_part 0
  add.2s  f4, f0, f2
  twiddle_part 1
  add.2s  f5, f1, f3
  twiddle_part 2
  sub.2s  f6, f0, f2
  nop
  sub.2s  f7, f1, f3
  beqz    s3, 2f
1:
  rpt     s3, 2f
  turn_2  load_two, no_part
  sums_2  store
2:
  bdnz    s2, 4f
  nop
  turn_2  nothing, no_part
  store   f4, t5
  store   f5, t5
  store   f8, t6
  store   f9, t6
9:
  xctl    0
  .balign 8
4:
  add     t3, t3, a7
  add     t4, t4, a7
  turn_2  load_two, twiddle_part
  sums_2  store
  twiddle_part 2
  add     t5, t5, s9
  add     t6, t6, s9
  bnez    s3, 1b
  j       2b
end_codelet fft_radix2

// The last pass: one group, no twiddles.
codelet fft_radix2_last
  pass_arguments
  two_legs
  addi    s3, s3, 1
  .balign 8
  nop
  rpt     s3, 2f
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  add.2s  f4, f0, f2
  add.2s  f5, f1, f3
  store   f4, t5
  sub.2s  f6, f0, f2
  store   f5, t5
  sub.2s  f7, f1, f3
  store   f6, t6
  store   f7, t6
2:
9:
  xctl    0
end_codelet fft_radix2_last

// --- radix 4: legs in f0-f7; their sums and differences in f8-f15; twiddles in f20-f28 ------------------------------
// 0 + 2 and 0 - 2 in f8-f11, 1 + 3 and 1 - 3 in f12-f15
.macro sums_4 memory_0, memory_1, memory_2, memory_3, memory_4, memory_5, memory_6, memory_7
  \memory_0
  add.2s  f8, f0, f4
  \memory_1
  add.2s  f9, f1, f5
  \memory_2
  sub.2s  f10, f0, f4
  \memory_3
  sub.2s  f11, f1, f5
  \memory_4
  add.2s  f12, f2, f6
  \memory_5
  add.2s  f13, f3, f7
  \memory_6
  sub.2s  f14, f2, f6
  \memory_7
  sub.2s  f15, f3, f7
.endm
// Results in f16, f17 (leg 0), f18, f19 (1), f29, f30 (2), f14, f15 (3); twenty slots
.macro turn_4 load
  add.2s  f16, f8, f12
  \load   f0, f2, t3, t4
  add.2s  f17, f9, f13
  \load   f1, f3, t3, t4
  sub.2s  f8, f8, f12
  store   f16, t5
  sub.2s  f9, f9, f13
  store   f17, t5
  add.2s  f12, f10, f15
  \load   f4, f6, s5, s6
  sub.2s  f13, f11, f14
  \load   f5, f7, s5, s6
  sub.2s  f10, f10, f15
  add.2s  f11, f11, f14
  axpy.2s f18, 20, f12, kZero
  axpy.2s f19, 20, f13, kZero
  axpy.2s f29, 23, f8, kZero
  axpy.2s f30, 23, f9, kZero
  axpy.2s f18, 22, f13, f18
  axpy.2s f19, 21, f12, f19
  axpy.2s f29, 25, f9, f29
  store   f18, t6
  axpy.2s f30, 24, f8, f30
  store   f19, t6
  axpy.2s f14, 26, f10, kZero
  store   f29, s7
  axpy.2s f15, 26, f11, kZero
  store   f30, s7
  axpy.2s f14, 28, f11, f14
  axpy.2s f15, 27, f10, f15
.endm
// The same at the end of a group: on to the next in, and to its twiddles.
.macro turn_4_next
  add.2s  f16, f8, f12
  add     t3, t3, a7
  add.2s  f17, f9, f13
  add     t4, t4, a7
  sub.2s  f8, f8, f12
  store   f16, t5
  sub.2s  f9, f9, f13
  store   f17, t5
  add.2s  f12, f10, f15
  add     s5, s5, a7
  sub.2s  f13, f11, f14
  add     s6, s6, a7
  sub.2s  f10, f10, f15
  load_two f0, f2, t3, t4
  add.2s  f11, f11, f14
  load_two f1, f3, t3, t4
  axpy.2s f18, 20, f12, kZero
  load_two f4, f6, s5, s6
  axpy.2s f19, 20, f13, kZero
  load_two f5, f7, s5, s6
  axpy.2s f29, 23, f8, kZero
  add     t5, t5, s9
  axpy.2s f30, 23, f9, kZero
  twiddle_part 0
  axpy.2s f18, 22, f13, f18
  nop
  axpy.2s f19, 21, f12, f19
  store   f18, t6
  axpy.2s f29, 25, f9, f29
  store   f19, t6
  axpy.2s f30, 24, f8, f30
  add     t6, t6, s9
  axpy.2s f14, 26, f10, kZero
  twiddle_part 1
  axpy.2s f15, 26, f11, kZero
  twiddle_part 2
  axpy.2s f14, 28, f11, f14
  twiddle_part 3
  axpy.2s f15, 27, f10, f15
  twiddle_part 4
.endm
codelet fft_radix4
  pass_arguments
  four_legs
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  ld2     f4, f6, s5, s6
  ld2     f5, f7, s5, s6
  twiddle_part 0
  .balign 8
  sums_4  "twiddle_part 1", "twiddle_part 2", "twiddle_part 3", "twiddle_part 4", "twiddle_part 5", "twiddle_part 6", "twiddle_part 7", "twiddle_part 8"
  beqz    s3, 2f
1:
  rpt     s3, 2f
  turn_4  load_two
  sums_4  "store f14, s8", "store f15, s8"
2:
  bdnz    s2, 4f
  nop
  turn_4  nothing
  store   f14, s8
  store   f15, s8
9:
  xctl    0
  .balign 8
4:
  turn_4_next
  sums_4  "twiddle_part 5", "twiddle_part 6", "twiddle_part 7", "twiddle_part 8", "store f29, s7", "store f30, s7", "store f14, s8", "store f15, s8"
  add     s7, s7, s9
  add     s8, s8, s9
  bnez    s3, 1b
  j       2b
end_codelet fft_radix4

// The last pass: results in f16-f23, sixteen slots a unit
.macro cross_4 load
  add.2s  f16, f8, f12
  \load   f0, f2, t3, t4
  add.2s  f17, f9, f13
  \load   f1, f3, t3, t4
  sub.2s  f20, f8, f12
  \load   f4, f6, s5, s6
  sub.2s  f21, f9, f13
  \load   f5, f7, s5, s6
  add.2s  f18, f10, f15
  nop
  sub.2s  f19, f11, f14
  nop
  sub.2s  f22, f10, f15
  nop
  add.2s  f23, f11, f14
  nop
.endm
codelet fft_radix4_last
  pass_arguments
  four_legs
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  ld2     f4, f6, s5, s6
  ld2     f5, f7, s5, s6
  .balign 8
  sums_4
  .balign 8
  beqz    s3, 2f
  rpt     s3, 2f
  cross_4 load_two
  sums_4  "store f16, t5", "store f17, t5", "store f18, t6", "store f19, t6", "store f20, s7", "store f21, s7", "store f22, s8", "store f23, s8"
2:
  cross_4 nothing
  store   f16, t5
  store   f17, t5
  store   f18, t6
  store   f19, t6
  store   f20, s7
  store   f21, s7
  store   f22, s8
  store   f23, s8
9:
  xctl    0
end_codelet fft_radix4_last
