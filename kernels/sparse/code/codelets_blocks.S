#include "xtile.h"
#include "kernels/gemm/positions.inc"
#include "kernels/gemm/worker_run.inc"
#include "kernels/sparse/code/block_run.inc"
#include "kernels/sparse/code/walk.inc"

// Y += W X for the blocks of W on one tile: the supervisor loads the weights of each run in turn, the workers stream their
// columns of X. Inputs and outputs beyond those of the matrix unit take further runs.

// `codelet` BLOCK, NAME, UNIT, INPUTS, OUTPUTS for every block and shape of the unit's blocks up to 64.
.macro every_block codelet
  .irp block, 4, 8, 16
    .macro \codelet\()_\block name, unit, inputs, outputs
      .if ((\inputs) <= 64) && ((\outputs) <= 64)
        \codelet \block, \name, \unit, \inputs, \outputs
      .endif
    .endm
    every_shape \codelet\()_\block
  .endr
.endm

// A block with input place a7. Worker code for its first outputs: `first`, in further input runs t1; for its second outputs
// `second`, then `again`; for the third and fourth the labels `label`2 and 3, then 52 and 53.
.macro block first, second, again, label
  xctl 1
  load_weights
  sh3add a7, a7, a2
  .if (input_runs > 1) && (output_runs > 1)
    mv a6, a7
  .endif
  run.block \first, a7, s1, blocks
  further_inputs t1
  .if output_runs > 1
    first_inputs \second
    further_inputs \again
  .endif
  .irp group, 2, 3
    .if output_runs > \group
      far_outputs \label, \group
    .endif
  .endr
.endm
.macro first_inputs entry
  xctl 1
  load_weights
  .if input_runs > 1
    mv a7, a6
  .endif
  run.block \entry, a7, s1, blocks
.endm
.macro far_outputs label, group
  lla t6, \label\group\()f
  first_inputs t6
  .if input_runs > 1
    lla t6, 5\group\()f
  .endif
  further_inputs t6
.endm
.macro further_inputs entry
  .rept input_runs - 1
    add a7, a7, a5
    xctl 1
    load_weights
    run.block \entry, a7, s1, blocks
  .endr
.endm
// The workers' runs for output groups 0, 1, ...
.macro worker_runs unit, accumulate, label
  .irp group, 0, 1, 2, 3
    .if output_runs > \group
\label\group:
      worker_run \unit, \accumulate, \group
    .endif
  .endr
.endm

.macro keep_groups
  .if output_runs > 3
    sh1add s6, s4, s4
  .endif
.endm

// --- the block rows of a list ----------------------------------------------------------------------
// Arguments: weights, X, list, block rows, bytes of X from the first to the second half of a block's inputs, three words of
// padding; then for each worker 24 bytes: offset in X, results, loops, step of results to the next block row, offset of
// their second half, padding. The list holds, for each block row, its blocks - 1, then the place in X of each block in
// 64-bit words; all u16.
.macro block_rows block, name, unit, inputs, outputs
codelet blocks_\block\()_\name
  set_run \block, \unit, \inputs, \outputs
  lla t0, 3f
  run.block t0, a0, s1, blocks
  lw a1, 0(a0)
  lw a2, 4(a0)
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lla t2, 40f
  lla t1, 50f
  .if output_runs > 1
    lla t3, 41f
    lla t4, 51f
  .endif
1:// block row
  lhu.p t0, a3, 2
  lhu.p a7, a3, 2
  block t2, t3, t4, 4
  beqz t0, 8f
2:// block
  lhu.p a7, a3, 2
  block t1, t4, t4, 5
  bdnz t0, 2b
8:
  bdnz a4, 1b
  xctl 1
  ret

  .balign 8
3:
  keep_part 24, s1, s3
  lw s4, 48(t0)
  keep_groups
  sub s1, s1, s3
  xctl 8
  xctl 0
  worker_runs \unit, 0, 4
  worker_runs \unit, 1, 5
end_codelet blocks_\block\()_\name
.endm
every_block block_rows

// --- this tile's sub-groups of a pool --------------------------------------------------------------
// Further arguments (walk.inc): 16 bytes of X from the first to the second half of a block's inputs; from 32 on
// for each worker 16 bytes: offset in X, results, loops, offset of the second half of results. After its head a sub-group
// holds its block rows: place of the row's results, blocks, then for each block the place of its rows of X; places in
// 64-bit words, u16 each. Runs always accumulate into results; s5 is s1 of the first block row.
.macro pool_blocks block, name, unit, inputs, outputs
codelet pool_blocks_\block\()_\name
  set_run \block, \unit, \inputs, \outputs
  lla t0, 13f
  run.block t0, a0, s1, blocks
  lw a2, 4(a0)
  lw a5, 16(a0)
  walk_begin
  lla t1, 50f
  lla t2, 14f
  .if output_runs > 1
    lla t3, 51f
  .endif
21:
  next_group 29f
  lhu a1, kValues(a3)
  lhu t4, kValues + 2(a3)
  lw t5, 12(a0)
  lhu t0, kRows(a3)
  slli t4, t4, 16
  or a1, a1, t4
  add a1, a1, t5
  addi a3, a3, kRows + 2
22:// block row
  lhu.p a6, a3, 2
  lhu.p t5, a3, 2
  slli a6, a6, 3
  xctl 1
  run.block t2, a6, s1, blocks
23:// block
  lhu.p a7, a3, 2
  block t1, t3, t3, 5
  bdnz t5, 23b
  bdnz t0, 22b
  j 21b
29:
  xctl 1
  walk_end

  .balign 8
13:
  keep_part 16, s5, s4
  keep_groups
  xctl 8
  xctl 0
14:// a block row
  add s1, s5, a0
  xctl 0
  worker_runs \unit, 1, 5
end_codelet pool_blocks_\block\()_\name
.endm
every_block pool_blocks
