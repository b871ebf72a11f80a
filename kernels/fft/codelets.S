// Passes of a Stockham transform. A unit is two complex points of neighbouring columns: a word of
// real parts, a word of imaginary parts.
//
// Twiddles come before sums: a +- w b takes six slots for two points where w b = wr (b + t i b), t the tangent of w's angle,
// wr its real part (Linzer and Feig, Implementation of Efficient FFT Algorithms on Fused Multiply-Add Architectures, 1993).
// Four legs are two levels of that: legs 2 and 3 by w^2, then odd ones by w.
//
// Arguments of a pass, for all workers: bytes between input legs, bytes from leg 0 to each further leg out (radix - 1 of
// them); then for each worker 32 bytes: leg 0 in and out, twiddles, groups, units of a run - 1, bytes from the end of a run
// to the next in and out, a word of padding. A twiddle is t, -t, wr, -wr: first of w^2 (radix 4), then of w. Groups are
// pipelined: a group's first unit and its twiddles are loaded while the last unit of the group before is finished.
#include "xtile.h"
#include "kernels/fft/loads.inc"

// t3, t4, s5, s6: legs in; t5, t6, s7, s8: legs out; s2: groups left; s3: units of a run - 1; s4: twiddles; a3: from leg to
// leg in; a4, a5, a6: to legs 1, 2, 3 out; a7, s9: from the end of a run to the next, in and out
.macro pass_arguments
  csrr    t0, 0xcc0
  slli    t0, t0, 5
  add     t0, t0, a0
  lw      s2, 44(t0)
  lw      t3, 32(t0)
  lw      t5, 36(t0)
  beqz    s2, 9f
  lw      s4, 40(t0)
  lw      s3, 48(t0)
  lw      a7, 52(t0)
  lw      s9, 56(t0)
  lw      a3, 0(a0)
  lw      a4, 4(a0)
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

// Butterfly of points a and b (registers of the real parts; imaginary parts in the next ones): writes `sum` and
// `difference`; m0 to m3 are the memory instructions paired with the four operations.
.macro cross sum, difference, a, b, m0, m1, m2, m3
  add.2s  (\sum), (\a), (\b)
  \m0
  add.2s  (\sum)+1, (\a)+1, (\b)+1
  \m1
  sub.2s  (\difference), (\a), (\b)
  \m2
  sub.2s  (\difference)+1, (\a)+1, (\b)+1
  \m3
.endm
// Like cross, for a and -i b.
.macro cross_turned sum, difference, a, b, m0, m1, m2, m3
  add.2s  (\sum), (\a), (\b)+1
  \m0
  sub.2s  (\sum)+1, (\a)+1, (\b)
  \m1
  sub.2s  (\difference), (\a), (\b)+1
  \m2
  add.2s  (\difference)+1, (\a)+1, (\b)
  \m3
.endm

// --- radix 2: a in f0, f1, b in f2, f3, w b / wr in f4, f5; sum in f6, f7, difference in f8, f9; six slots a unit ------
.macro begin_2 memory_0, memory_1, memory_2
  \memory_0
  axpy.2s f4, f21, f3, f2
  \memory_1
  axpy.2s f5, f20, f2, f3
  \memory_2
  axpy.2s f6, f22, f4, f0
.endm
.macro end_2 memory_0, memory_1
  axpy.2s f8, f23, f4, f0
  store   f6, t5
  axpy.2s f7, f22, f5, f1
  \memory_0
  axpy.2s f9, f23, f5, f1
  \memory_1
.endm
codelet fft_radix2
  pass_arguments
  two_legs
  twiddle_part 0
  twiddle_part 1
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  .balign 8
  begin_2 "twiddle_part 2", "twiddle_part 3", "nop"
  beqz    s3, 2f
1:
  rpt     s3, 2f
  end_2   "ld2 f0, f2, t3, t4", "ld2 f1, f3, t3, t4"
  begin_2 "store f7, t5", "store f8, t6", "store f9, t6"
2:
  bdnz    s2, 4f
  nop
  end_2   nop, "store f7, t5"
  store   f8, t6
  store   f9, t6
9:
  xctl    0
  .balign 8
4:
  end_2   "add t3, t3, a7", "add t4, t4, a7"
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  twiddle_part 0
  twiddle_part 1
  twiddle_part 2
  twiddle_part 3
  begin_2 "store f7, t5", "store f8, t6", "store f9, t6"
  add     t5, t5, s9
  add     t6, t6, s9
  bnez    s3, 1b
  j       2b
end_codelet fft_radix2

// The first pass: one group, no twiddles.
codelet fft_radix2_first
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
end_codelet fft_radix2_first

// --- radix 4: legs in f0-f7; twiddles of legs 2 and 3 in f20-f23, of odd ones in f24-f27 ------------------------------
// Legs 2 and 3 times their twiddle / wr in f8-f11.
.macro begin_4 memory_0, memory_1, memory_2, memory_3
  \memory_0
  axpy.2s f8, f21, f5, f4
  \memory_1
  axpy.2s f9, f20, f4, f5
  \memory_2
  axpy.2s f10, f21, f7, f6
  \memory_3
  axpy.2s f11, f20, f6, f7
.endm
// 0 +- 2 in f12-f15, 1 +- 3 in f16-f19, the latter times their twiddles / wr in f8-f11; results in f28, f29 (leg 0), f16,
// f17 (1), f12, f13 (2), f18, f19 (3); twenty slots
.macro end_4 m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13
  axpy.2s f12, f22, f8, f0
  \m0
  axpy.2s f13, f22, f9, f1
  \m1
  axpy.2s f14, f23, f8, f0
  \m2
  axpy.2s f15, f23, f9, f1
  \m3
  axpy.2s f16, f22, f10, f2
  \m4
  axpy.2s f17, f22, f11, f3
  \m5
  axpy.2s f18, f23, f10, f2
  \m6
  axpy.2s f19, f23, f11, f3
  \m7
  axpy.2s f8, f25, f17, f16
  \m8
  axpy.2s f9, f24, f16, f17
  \m9
  axpy.2s f10, f25, f19, f18
  \m10
  axpy.2s f11, f24, f18, f19
  \m11
  axpy.2s f28, f26, f8, f12
  \m12
  axpy.2s f29, f26, f9, f13
  \m13
  axpy.2s f12, f27, f8, f12
  store   f28, t5
  axpy.2s f13, f27, f9, f13
  store   f29, t5
  axpy.2s f16, f26, f11, f14
  store   f12, s7
  axpy.2s f17, f27, f10, f15
  store   f13, s7
  axpy.2s f18, f27, f11, f14
  store   f16, t6
  axpy.2s f19, f26, f10, f15
  store   f17, t6
.endm
codelet fft_radix4
  pass_arguments
  four_legs
  twiddle_part 0
  twiddle_part 1
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  ld2     f4, f6, s5, s6
  ld2     f5, f7, s5, s6
  .balign 8
  begin_4 "twiddle_part 2", "twiddle_part 3", "twiddle_part 4", "twiddle_part 5"
  twiddle_part 6
  twiddle_part 7
  beqz    s3, 2f
1:
  rpt     s3, 2f
  end_4   "nop", "nop", "ld2 f4, f6, s5, s6", "ld2 f5, f7, s5, s6", "nop", "nop", "nop", "nop", "ld2 f0, f2, t3, t4", "ld2 f1, f3, t3, t4", "nop", "nop", "nop", "nop"
  begin_4 "store f18, s8", "store f19, s8", "nop", "nop"
2:
  bdnz    s2, 4f
  nop
  end_4   "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop", "nop"
  store   f18, s8
  store   f19, s8
9:
  xctl    0
  .balign 8
4:
  end_4   "add s5, s5, a7", "add s6, s6, a7", "ld2 f4, f6, s5, s6", "ld2 f5, f7, s5, s6", "add t3, t3, a7", "add t4, t4, a7", "twiddle_part 0", "twiddle_part 1", "ld2 f0, f2, t3, t4", "ld2 f1, f3, t3, t4", "twiddle_part 2", "twiddle_part 3", "twiddle_part 4", "twiddle_part 5"
  begin_4 "store f18, s8", "store f19, s8", "twiddle_part 6", "twiddle_part 7"
  add     t5, t5, s9
  add     t6, t6, s9
  add     s7, s7, s9
  add     s8, s8, s9
  bnez    s3, 1b
  j       2b
end_codelet fft_radix4

// The first pass. 0 + 2 and 0 - 2 in f8-f11, 1 + 3 and 1 - 3 in f12-f15, results in f16-f23; sixteen slots a unit
.macro sums_4 memory_0, memory_1, memory_2, memory_3, memory_4, memory_5, memory_6, memory_7
  \memory_0
  cross   8, 10, 0, 4, "\memory_1", "\memory_2", "\memory_3", "\memory_4"
  cross   12, 14, 2, 6, "\memory_5", "\memory_6", "\memory_7"
.endm
.macro cross_4 load
  cross   16, 20, 8, 12, "\load f0, f2, t3, t4", "\load f1, f3, t3, t4", "\load f4, f6, s5, s6", "\load f5, f7, s5, s6"
  cross_turned 18, 22, 10, 14, nop, nop, nop, nop
.endm
codelet fft_radix4_first
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
end_codelet fft_radix4_first

// --- radix 8, the first pass: legs in f0-f15, in by t3, t4, s5, s6, t1, t2, s0, s1, out by t5, t6, s7, s8, s10, s11, a1, a2;
// fifty-two slots a unit
.set kRoot, 28       // root of 1/2
.set kMinusRoot, 29
.macro eight_legs
  four_legs
  add     t1, s6, a3
  add     t2, t1, a3
  add     s0, t2, a3
  add     s1, s0, a3
  lw      s10, 16(a0)
  lw      s11, 20(a0)
  lw      a1, 24(a0)
  lw      a2, 28(a0)
  add     s10, s10, t5
  add     s11, s11, t5
  add     a1, a1, t5
  add     a2, a2, t5
  li      a5, 0x3f3504f3
  li      a6, 0xbf3504f3
  fmv.w.x f28, a5
  fmv.w.x f29, a6
.endm
// Legs i and i + 4: sums in f16-f23, differences in f0-f7.
.macro sums_8 m0, m1, m2, m3
  \m0
  cross   16, 0, 0, 8, "\m1", "\m2", "\m3"
  cross   18, 2, 2, 10
  cross   20, 4, 4, 12
  cross   22, 6, 6, 14
.endm
// Even results from the sums: leg 0 in f16, f17, 4 in f18, f19, 2 in f20, f21, 6 in f22, f23; a, b, c, d in f8-f15.
.macro even_8
  cross   8, 10, 16, 20
  cross   12, 14, 18, 22
  .balign 8
  cross   16, 18, 8, 12, nop, nop, "store f16, t5", "store f17, t5"
  cross_turned 20, 22, 10, 14, "store f18, s10", "store f19, s10", "store f20, s7", "store f21, s7"
.endm
// Odd results from the differences: 0 -+ i 2 in f24-f27, 1 -+ i 3 in f16-f19, sums and differences of the parts of these in
// f20-f23; leg 1 in f30, f31, 5 in f24, f25, 3 in f16, f17, 7 in f26, f27.
.macro odd_8 m0, m1, m2, m3, m4, m5, m6, m7
  cross_turned 24, 26, 0, 4, "store f22, a1", "store f23, a1", "\m0", "\m1"
  cross_turned 16, 18, 2, 6, nop, nop, nop, nop
  add.2s  f20, f16, f17
  \m2
  sub.2s  f21, f17, f16
  \m3
  add.2s  f22, f18, f19
  \m4
  sub.2s  f23, f19, f18
  \m5
  axpy.2s f30, kRoot, f20, f24
  \m6
  axpy.2s f31, kRoot, f21, f25
  \m7
  axpy.2s f16, kRoot, f23, f26
  store   f30, t6
  axpy.2s f17, kMinusRoot, f22, f27
  store   f31, t6
  axpy.2s f24, kMinusRoot, f20, f24
  store   f16, s8
  axpy.2s f25, kMinusRoot, f21, f25
  store   f17, s8
  axpy.2s f26, kMinusRoot, f23, f26
  store   f24, s11
  axpy.2s f27, kRoot, f22, f27
  store   f25, s11
.endm
codelet fft_radix8_first
  pass_arguments
  eight_legs
  ld2     f0, f2, t3, t4
  ld2     f1, f3, t3, t4
  ld2     f4, f6, s5, s6
  ld2     f5, f7, s5, s6
  ld2     f8, f10, t1, t2
  ld2     f9, f11, t1, t2
  ld2     f12, f14, s0, s1
  ld2     f13, f15, s0, s1
  .balign 8
  sums_8  nop, nop, nop, nop
  beqz    s3, 2f
  rpt     s3, 2f
  even_8
  odd_8   "ld2 f8, f10, t1, t2", "ld2 f9, f11, t1, t2", "ld2 f12, f14, s0, s1", "ld2 f13, f15, s0, s1", "ld2 f0, f2, t3, t4", "ld2 f1, f3, t3, t4", "ld2 f4, f6, s5, s6", "ld2 f5, f7, s5, s6"
  sums_8  "store f26, a2", "store f27, a2", nop, nop
2:
  even_8
  odd_8   nop, nop, nop, nop, nop, nop, nop, nop
  store   f26, a2
  store   f27, a2
9:
  xctl    0
end_codelet fft_radix8_first
