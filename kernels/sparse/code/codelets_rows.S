// Rows of Y = W X, element by element: in each column pass a worker processes its rows.
// a0: {x, y, bytes of a row of x, of y}, then for each worker {list, values, rows, passes, offset of its
// part in x, in y}. The list holds, for each row, its number of nonzeros, then the place of each nonzero's row of X in
// 64-bit words; all u16. A row's values begin at a multiple of four bytes.
#include "xtile.h"
#include "kernels/sparse/code/gather.inc"

.macro worker_part
  worker_arguments t1, 24
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

// A pass is `words` words of a row of X. `wide`: f16 elements in pairs, sums in f32; else `load` and `axpy` for elements of
// `bytes`, with sums of the same type.
.macro rows name, words, wide, load, axpy, bytes
codelet \name
  worker_part
1:                            // pass
  each_row a7, \words, \wide, \load, \axpy, \bytes, \bytes == 2
  addi    t2, t2, 8 * (\words)
  addi    t3, t3, 8 * (\words) * (1 + \wide)
  bdnz    a4, 1b
5:
  xctl 0
end_codelet \name
.endm

rows rows_f16, 2, 0, flh.p, axpy.4h, 2
rows rows_f32, 2, 0, flw.p, axpy.2s, 4
rows rows_f16_f32, 2, 1, none, none, 2
rows narrow_rows_f16, 1, 0, flh.p, axpy.4h, 2
rows narrow_rows_f32, 1, 0, flw.p, axpy.2s, 4
rows narrow_rows_f16_f32, 1, 1, none, none, 2
