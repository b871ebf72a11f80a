// Transpositions: two rows at a time become the two points of a unit.
// Arguments, for all workers: in, out, twiddles (laid out as in), list of pairs of rows (output offset of the first column,
// output bytes from column to column), bytes of a row, three words of padding; then for each worker 16 bytes: first pair,
// pairs, first unit of a row, units - 1.
//
// t3, t4: rows 0 and 1; s8, s9: their twiddles; t5, t6: two columns before those to be stored next; a7: two columns; s2: pairs
// left; s3: units - 1; s6: list; s7: first unit - 1; a2: out; a4: a row; a5: from the end of a row's units to the next pair
#include "xtile.h"
#include "kernels/fft/loads.inc"

.macro transpose_arguments
  csrr    t0, 0xcc0
  slli    t0, t0, 4
  add     t0, t0, a0
  lw      s2, 36(t0)
  lw      a1, 0(a0)
  lw      a2, 4(a0)
  beqz    s2, 9f
  lw      a3, 8(a0)
  lw      s6, 12(a0)
  lw      a4, 16(a0)
  lw      t1, 32(t0)
  lw      s7, 40(t0)
  lw      s3, 44(t0)
  sh3add  s6, t1, s6
  slli    t1, t1, 1
  mul     t1, t1, a4
  slli    t2, s7, 4
  add     t1, t1, t2
  add     t3, a1, t1
  add     s8, a3, t1
  add     t4, t3, a4
  add     s9, s8, a4
  addi    t1, s3, 1
  slli    t1, t1, 4
  slli    a5, a4, 1
  sub     a5, a5, t1
  addi    s7, s7, -1
.endm
// Output addresses of the columns of the next pair of rows.
.macro next_columns
  lw.p    t1, s6, 4
  lw.p    a6, s6, 4
  slli    a7, a6, 1
  mul     t2, s7, a7
.endm
.macro first_columns
  add     t1, t1, t2
  add     t5, a2, t1
  add     t6, t5, a6
.endm

// Row 0 in f0, f1, its twiddle in f4, f5, their product in f8, f10; row 1 in f2, f3, f6, f7, f11, f13. Twelve slots for
// four points.
.macro turn_row_0 load, store
  mul.2s  f8, f0, f4
  \load   f2, f6, t4, s9
  mul.2s  f9, f1, f5
  \store  f18, 0, t6
  mul.2s  f10, f0, f5
  \store  f17, 8, t5
  sub.2s  f8, f8, f9
  \store  f19, 8, t6
  fma.2s  f10, f1, f4, f10
  \load   f3, f7, t4, s9
.endm
.macro turn_row_1 load
  mul.2s  f11, f2, f6
  \load   f0, f4, t3, s8
  mul.2s  f12, f3, f7
  \load   f1, f5, t3, s8
  mul.2s  f13, f2, f7
  add     t5, t5, a7
  sub.2s  f11, f11, f12
  add     t6, t6, a7
  fma.2s  f13, f3, f6, f13
  nop
  zip.s   f16, f18, f8, f11
  nop
  zip.s   f17, f19, f10, f13
  fsd     f16, 0(t5)
.endm
.macro put from, offset, to
  fsd     \from, \offset(\to)
.endm
.macro put_nothing from, offset, to
  nop
.endm
codelet fft_turn
  transpose_arguments
  next_columns
  first_columns
  ld2     f0, f4, t3, s8
  ld2     f1, f5, t3, s8
  .balign 8
  turn_row_0 load_two, put_nothing
  beqz    s3, 2f
1:
  rpt     s3, 2f
  turn_row_1 load_two
  turn_row_0 load_two, put
2:
  bdnz    s2, 4f
  nop
  turn_row_1 nothing
  fsd     f18, 0(t6)
  fsd     f17, 8(t5)
  fsd     f19, 8(t6)
9:
  xctl    0
  .balign 8
4:
  add     t3, t3, a5
  add     s8, s8, a5
  turn_row_1 load_two
  next_columns
  add     t4, t4, a5
  add     s9, s9, a5
  turn_row_0 load_two, put
  first_columns
  bnez    s3, 1b
  j       2b
  nop
end_codelet fft_turn

codelet fft_transpose
  transpose_arguments
  addi    s3, s3, 1
1:
  next_columns
  first_columns
  .balign 8
  nop
  rpt     s3, 2f
  ld2     f8, f11, t3, t4
  ld2     f10, f13, t3, t4
  zip.s   f16, f18, f8, f11
  add     t5, t5, a7
  zip.s   f17, f19, f10, f13
  add     t6, t6, a7
  fsd     f16, 0(t5)
  fsd     f17, 8(t5)
  fsd     f18, 0(t6)
  fsd     f19, 8(t6)
2:
  add     t3, t3, a5
  add     t4, t4, a5
  bdnz    s2, 1b
9:
  xctl    0
end_codelet fft_transpose
