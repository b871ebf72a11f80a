#include "xtile.h"
#include "kernels/sparse/code/stream.inc"
#include "kernels/sparse/code/block_run.inc"
#include "kernels/sparse/code/walk.inc"

// Y += W X for the blocks of W on one tile: the supervisor loads the weights of one block after the other, the
// workers send their columns of X past them. `halves`: outputs: a block is two runs for its halves of
// outputs; inputs: for its halves of inputs.

// A block whose inputs a7 names; `entry`, `half_entry`: what workers run past it and past its second outputs.
.macro block entry, half_entry, again, step, halves, rows, words, pitch
  xctl 1
  load_weights \rows, \words, \pitch
  sh3add a7, a7, a2
  run \entry, a7, s1
  .ifc \halves, outputs
    xctl 1
    load_weights \rows, \words, \pitch
    run \half_entry, a7, s1
  .endif
  .ifc \halves, inputs
    add a7, a7, \step
    xctl 1
    load_weights \rows, \words, \pitch
    run \again, a7, s1
  .endif
.endm

// What each worker keeps from run to run: `bytes` bytes of arguments a worker, from 32 on.
.macro keep_part bytes, results, fourth
  csrr t0, 0xcc0
  .if \bytes == 24
    sh1add t0, t0, t0
    sh3add t0, t0, a0
  .else
    slli t0, t0, 4
    add t0, t0, a0
  .endif
  lw s0, 32(t0)
  lw \results, 36(t0)
  fmv.h.x f31, x0
  lw s2, 40(t0)
  splat.h f31, f31
  lw \fourth, 44(t0)
.endm

// --- block row after block row of a list -----------------------------------------------------------
// Arguments: weights, X, list, block rows, bytes of X from the first to the second half of a block's
// inputs, three words of padding; then for each worker 24 bytes: offset in X, results, loops, step of
// results to the next block row, offset of their second half, padding. The list holds for each
// block row its blocks less one, then the place in X of each in 64-bit words, u16 each.
.macro block_rows name, unit, phases, inputs, outputs, unroll, halves, rows, words, pitch
codelet blocks_\name
  lla t0, 3f
  run t0, a0, s1
  lw a1, 0(a0)
  lw a2, 4(a0)
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lla t2, 4f
  lla t1, 5f
  .ifc \halves, outputs
    lla t3, 6f
    lla t4, 7f
  .endif
1:// block row
  lhu.p t0, a3, 2
  lhu.p a7, a3, 2
  block t2, t3, t1, a5, \halves, \rows, \words, \pitch
  beqz t0, 8f
2:// block
  lhu.p a7, a3, 2
  block t1, t4, t1, a5, \halves, \rows, \words, \pitch
  bdnz t0, 2b
8:
  bdnz a4, 1b
  xctl 1
  ret

  .balign 8
3:
  keep_part 24, s1, s3
  lw s4, 48(t0)
  sub s1, s1, s3
  xctl 8
  xctl 0
4:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 0, 0
5:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 1, 0
  .ifc \halves, outputs
6:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 0, 1
7:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 1, 1
  .endif
end_codelet blocks_\name
.endm
for_all_blocks block_rows

// --- the sub-groups of a pool that are this tile's --------------------------------------------------
// Further arguments (walk.inc): 16 bytes of X from the first to the second half of a block's inputs; from 32 on
// for each worker 16 bytes: offset in X, results, loops, offset of the second half of results. Behind
// its head a sub-group holds its block rows: place of the row's results, blocks, then of each block the
// place of its rows of X; places in 64-bit words, u16 each. Runs always add to results; s5 is what s1 is in the
// first block row.
.macro pool_blocks name, unit, phases, inputs, outputs, unroll, halves, rows, words, pitch
codelet pool_blocks_\name
  lla t0, 13f
  run t0, a0, s1
  lw a2, 4(a0)
  lw a5, 16(a0)
  walk_begin
  lla t1, 15f
  lla t2, 14f
  .ifc \halves, outputs
    lla t3, 16f
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
  run t2, a6, s1
23:// block
  lhu.p a7, a3, 2
  block t1, t3, t1, a5, \halves, \rows, \words, \pitch
  bdnz t5, 23b
  bdnz t0, 22b
  j 21b
29:
  xctl 1
  walk_end

  .balign 8
13:
  keep_part 16, s5, s4
  xctl 8
  xctl 0
14:// a block row
  add s1, s5, a0
  xctl 0
15:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 1, 0
  .ifc \halves, outputs
16:
  worker_run \unit, \phases, \inputs, \outputs, \unroll, 1, 1
  .endif
end_codelet pool_blocks_\name
.endm
for_all_blocks pool_blocks
