// The 3x3 stencil, line by line: 9 slots for each 64-bit word of a cell. a0 points to
//   nine weights: nw n ne w m e sw s se;
//   bytes from line to line of in and of out, bytes from cell to cell, words of a cell;
//   for each worker: in (the north-western neighbour of its first cell), out (its first cell), lines, cells of a line.
// A worker without lines is idle.
#include "xtile.h"

// Computes the column's terms for the cell east of it, and loads the next column.
.macro add_east fma, mul
  \mul    f5, f10, f0
  fld     f0, 0(t1)
  \fma    f5, f13, f1, f5
  fld     f1, 0(t2)
  \fma    f5, f16, f2, f5
  fld     f2, 0(t3)
.endm

// t1, t2, t3 point to the column of three cells read last; f0, f1, f2 hold it. f4 is the sum of the cell in
// the middle of that column, f5 the sum of the cell east of it. t5 points to the next result.
.macro stencil name, load, splat, fma, mul
codelet \name
  csrr    t0, 0xcc0
  slli    t0, t0, 4
  add     t0, t0, a0
  lw      a3, 60(t0)
  beqz    a3, 4f
  lw      a1, 52(t0)
  lw      a2, 56(t0)
  lw      a4, 64(t0)
  lw      a5, 36(a0)
  lw      a6, 40(a0)
  lw      a7, 44(a0)
  lw      t6, 48(a0)
.irp k, 0,1,2,3,4,5,6,7,8
  \load   f1\k, 4*\k(a0)
  \splat  f1\k, f1\k
.endr
1:
  mv      s0, t6
  mv      t1, a1
  mv      t4, a2
2:
  add     t2, t1, a5
  add     t3, t2, a5
  mv      s1, t1
  fld     f0, 0(t1)
  fld     f1, 0(t2)
  fld     f2, 0(t3)
  add     t1, t1, a7
  add     t2, t2, a7
  add     t3, t3, a7
  \mul    f4, f10, f0
  \fma    f4, f13, f1, f4
  \fma    f4, f16, f2, f4
  fld     f0, 0(t1)
  fld     f1, 0(t2)
  fld     f2, 0(t3)
  mv      t5, t4
  .balign 8
  add     t1, t1, a7
  \fma    f4, f11, f0, f4
  add     t2, t2, a7
  \fma    f4, f14, f1, f4
  add     t3, t3, a7
  \fma    f4, f17, f2, f4
  add_east \fma, \mul
  nop
  rpt     a4, 3f
  add     t1, t1, a7
  \fma    f3, f12, f0, f4
  add     t2, t2, a7
  \fma    f3, f15, f1, f3
  add     t3, t3, a7
  \fma    f3, f18, f2, f3
  fsd     f3, 0(t5)
  \fma    f4, f11, f0, f5
  add     t5, t5, a7
  \fma    f4, f14, f1, f4
  nop
  \fma    f4, f17, f2, f4
  add_east \fma, \mul
3:
  addi    t1, s1, 8
  addi    t4, t4, 8
  addi    s0, s0, -1
  bnez    s0, 2b
  add     a1, a1, a5
  add     a2, a2, a6
  addi    a3, a3, -1
  bnez    a3, 1b
4:
  xctl    0
end_codelet \name
.endm

stencil stencil_f32, flw, splat.s, fma.2s, mul.2s
stencil stencil_f16, flh, splat.h, fma.4h, mul.4h
