// Product with a sparse overlay of single elements: C^T += S^T A^T, S^T by columns of W. In each panel, for each pass of 16
// bytes of its vectors (narrow: 8), a worker processes its columns. Arguments: A^T, C^T, panels, passes of a vector,
// bytes from the end of a panel's first vector to the next panel in A^T and in C^T, bytes of a vector,
// padding; then for each worker 16 bytes: list, values, columns, offset of its first column in C^T. The list holds, for
// each column, its number of elements, then the place of each element's row of A^T in the panel in 64-bit words; all u16.
// `accumulate`: adds to the sums in C^T.
#include "xtile.h"
#include "kernels/sparse/code/gather.inc"

.macro overlay name, load, axpy, bytes, accumulate, words=2
codelet \name
  worker_arguments t0, 16
  lw      a3, 40(t0)          // columns
  beqz    a3, 9f
  lw      a1, 32(t0)          // list
  lw      a2, 36(t0)          // values
  lw      t1, 44(t0)
  lw      t2, 0(a0)
  lw      t3, 4(a0)
  lw      a4, 8(a0)           // panels
  lw      a5, 12(a0)          // passes
  lw      a6, 16(a0)
  lw      a7, 20(a0)
  lw      s4, 24(a0)          // bytes of a vector
  add     t3, t3, t1
  fmv.w.x f31, zero
  splat.s f31, f31
1:                            // panel
  mv      s5, a5
2:                            // pass
  each_row s4, \words, 0, \load, \axpy, \bytes, 0, \accumulate
  addi    t2, t2, 8 * \words
  addi    t3, t3, 8 * \words
  bdnz    s5, 2b
  add     t2, t2, a6
  add     t3, t3, a7
  bdnz    a4, 1b
9:
  xctl    0
end_codelet \name
.endm

overlay overlay_f16, flh.p, axpy.4h, 2, 0
overlay overlay_f32, flw.p, axpy.2s, 4, 0
overlay overlay_add_f16, flh.p, axpy.4h, 2, 1
overlay overlay_add_f32, flw.p, axpy.2s, 4, 1
overlay narrow_overlay_f16, flh.p, axpy.4h, 2, 0, 1
overlay narrow_overlay_add_f16, flh.p, axpy.4h, 2, 1, 1
