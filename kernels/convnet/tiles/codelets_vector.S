#include "xtile.h"
#include "kernels/gemm/vector.inc"

// Sums of a layer for machines without a matrix unit for the type: blocks of 16 inputs and 8 outputs. Arguments, for all
// workers: as for convolve_16x8 (codelets.S), except that offsets in X are u16 numbers of 64-bit words.
codelet convolve_vector
  set_vector 16, 4, 1, 0
  rows_of_worker
  lw a5, 8(a0)
  lw a4, 12(a0)
  lw a2, 16(a0)
  li a6, 0
  slli a7, a4, 1
  add s0, s0, t1
  keep_rows dot2
90:// a column block
  mv t0, s0
  mv t2, s1
  every_row dot2, dot2.s.h, fld.p, 2
  mv a1, t4
  add s1, s1, s3
  add a2, a2, a7
  bdnz a5, 90b
99:
  xctl 0
end_codelet convolve_vector
