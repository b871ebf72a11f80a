#include "xtile.h"
#include "kernels/gemm/vector.inc"

// The block product Y += X W for machines without a matrix unit for the type. Operands have the layout for a matrix unit
// with 16 inputs and 16 (f16) or 8 outputs.
//
// Arguments, for all workers: W, X, bytes of X between depth blocks, depth blocks, column blocks, 1 to add to Y (0 to
// overwrite it), two words of padding; then for each worker 16 bytes: offset in X,
// results in Y, rows - 3, bytes of Y between column blocks.

.macro vector_product name, way, op, load, bytes
codelet \name
  set_vector 16, 4, 0, 0
  rows_of_worker
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lw a6, 20(a0)
  add s0, s0, t1
  keep_rows \way
90:// a column block
  mv t0, s0
  mv t2, s1
  every_row \way, \op, \load, \bytes
  mv a1, t4
  add s1, s1, s3
  bdnz a5, 90b
99:
  xctl 0
end_codelet \name
.endm

vector_product gemm_vector_f16, axpy, axpy.4h, flh.p, 2
vector_product gemm_vector_f16_f32, dot2, dot2.s.h, fld.p, 2
vector_product gemm_vector_f32, axpy, axpy.2s, flw.p, 4
