#include "xtile.h"
#include "kernels/gemm/positions.inc"
#include "kernels/gemm/worker_run.inc"

// The block product Y += X W of one superstep on one tile, for every type of the matrix unit; adding and packing of
// partials.

// --- the supervisor's loop over weight blocks ----------------------------------------------------
// Arguments: W, X, bytes of X between depth blocks, depth blocks, column blocks, 1 to add to what Y
// holds (0 to overwrite it), two words of padding; then for each worker 16 bytes: offset in X,
// results in Y, positions - 3, bytes of Y between column blocks.

.macro block_product name, unit, inputs, outputs
codelet gemm_\name
  set_shape \unit, \inputs, \outputs
  lla t0, 3f
  run.block t0, a0, s1, blocks
  lw a1, 0(a0)
  lw a2, 4(a0)
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lw a6, 20(a0)
  lla t2, 5f
  lla t1, 6f
  addi a4, a4, -1
  beqz a6, 1f
  lla t2, 4f
1:
  xctl 1
2:
  ldcw load, a1
  run.block t2, a2, s1, blocks
  add a7, a2, a3
  mv t0, a4
  xctl 1
  beqz t0, 11f
10:
  ldcw load, a1
  run.block t1, a7, s1, blocks
  add a7, a7, a3
  xctl 1
  bdnz t0, 10b
11:
  bdnz a5, 2b
  ret

  .balign 8
3:
  worker_set_up

  .balign 8
4:// first depth block of a column block, adding to Y
  add s1, s1, s3
  nop
6:
  worker_run \unit, 1
  .balign 8
5:// the same, overwriting Y
  worker_run \unit, 0
end_codelet gemm_\name
.endm

every_shape block_product

// --- adding and packing partials -----------------------------------------------------------------
// Arguments: first array, further arrays, bytes between those, their number, sum; three words of
// padding; then for each worker 8 bytes: offset of its part, number of pairs of 64-bit words in it.

.macro add_arrays name, sum
codelet \name
  worker_arguments t0, 8
  lw a1, 32(t0)
  lw a2, 36(t0)
  lw t3, 0(a0)
  lw a5, 4(a0)
  lw a6, 8(a0)
  lw a7, 12(a0)
  lw a3, 16(a0)
  add t3, t3, a1
  add a5, a5, a1
  add a3, a3, a1
  blez a2, 9f
  addi a2, a2, -1
1:
  mv t4, a5
  mv t5, a3
  ld2 f0, f1, t3, t4
  beqz a2, 5f
  \sum f2, f0, f1
  ld2 f0, f1, t3, t4
  add a5, a5, a6
  rpt a2, 2f
  \sum f3, f0, f1
  ld2st f0, f1, f2
  \sum f2, f0, f1
  ld2st f0, f1, f3
2:
  \sum f3, f0, f1
  fsd.p f2, t5, 8
  fsd.p f3, t5, 8
  mv t3, a3
  bdnz a7, 1b
  xctl 0
5:// a single pair
  \sum f2, f0, f1
  ld2 f0, f1, t3, t4
  \sum f3, f0, f1
  fsd.p f2, t5, 8
  fsd.p f3, t5, 8
  add a5, a5, a6
  mv t3, a3
  bdnz a7, 1b
9:
  xctl 0
end_codelet \name
.endm

add_arrays gemm_add_f16, add.4h
add_arrays gemm_add_f32, add.2s

// --- rows to blocks and back ---------------------------------------------------------------------
// `to_blocks`: a matrix of rows x n chunks becomes n x rows chunks; else the inverse. Arguments:
// source, destination, n, steps of source and destination from one of the n to the next, distance from one row's chunk to
// the next row's, minus the chunk's size; two words of padding; then for each
// worker 16 bytes: offsets of its rows in source and destination, rows - 1, padding.
.macro regroup name, words, to_blocks
codelet \name
  worker_arguments t0, 16
  lw t1, 40(t0)
  lw a1, 0(a0)
  lw a2, 4(a0)
  lw a4, 8(a0)
  lw a5, 12(a0)
  lw a6, 16(a0)
  lw a7, 20(a0)
  lw t2, 32(t0)
  lw t4, 36(t0)
  add a1, a1, t2
  add a2, a2, t4
  bltz t1, 9f
1:
  mv t3, a1
  mv t5, a2
  fld.p f0, t3, 8
  beqz t1, 2f
  rpt t1, 2f
  .rept (\words) - 1
    ldst f0, f0, t3, t5
  .endr
  .if \to_blocks
    add t3, t3, a7
  .endif
  ldst f0, f0, t3, t5
  .ifeq \to_blocks
    add t5, t5, a7
  .endif
2:
  .rept (\words) - 1
    ldst f0, f0, t3, t5
  .endr
  fsd.p f0, t5, 8
  add a1, a1, a5
  add a2, a2, a6
  bdnz a4, 1b
9:
  xctl 0
end_codelet \name
.endm

.irp words, 1, 2, 4, 8, 16, 32
  regroup gemm_to_blocks_\words, \words, 1
  regroup gemm_to_rows_\words, \words, 0
.endr

// f32 partials to f16. Arguments: partials, result, six words of padding, then for each worker 8
// bytes as above (offset and pairs in the partials).
codelet gemm_pack
  worker_arguments t0, 8
  lw a1, 32(t0)
  lw a2, 36(t0)
  lw t3, 0(a0)
  lw t5, 4(a0)
  add t3, t3, a1
  srli a1, a1, 1
  add t5, t5, a1
  blez a2, 9f
  addi a2, a2, -1
  fld.p f0, t3, 8
  fld.p f1, t3, 8
  beqz a2, 2f
  nop
  rpt a2, 2f
  pack.4h f2, f0, f1
  fld.p f0, t3, 8
  ldst f1, f2, t3, t5
  fmv.s f4, f4
2:
  pack.4h f2, f0, f1
  fsd.p f2, t5, 8
9:
  xctl 0
end_codelet gemm_pack
