#include "xtile.h"
#include "kernels/spmm_static/stream.inc"
#include "kernels/spmm_static/block_run.inc"
#include "kernels/spmm_dynamic/walk.inc"

// Y += W X for the sub-groups of a pool that are this tile's, block after block: the supervisor loads its
// weights, the six workers send their columns of X past them. cost.cpp counts these instructions.

// A worker's run is that of spmm_static's block_run.inc, always adding to results; s5 is what s1 is in the
// first block row.

// --- the supervisor --------------------------------------------------------------------------------
// Further arguments: 16 bytes of X from the first to the second half of a block's inputs; from 32 on for
// each worker 16 bytes: offset in X, results, loops (see block_run.inc), offset of the second half of results. Behind
// its head a sub-group holds its block rows: place of the row's results, blocks, then of each block the
// place of its rows of X; places in 64-bit words, u16 each.
// `halves`: outputs: a block is two runs for its halves of outputs; inputs: for its halves of inputs.
.macro dynamic_blocks name, unit, phases, inputs, outputs, unroll, halves, rows, words, pitch
codelet \name
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
  lhu.p a7, a3, 2
  slli a6, a6, 3
  xctl 1
  run t2, a6, s1
23:// block
  lhu.p a6, a3, 2
  xctl 1
  load_weights \rows, \words, \pitch
  sh3add a6, a6, a2
  run t1, a6, s1
  .ifc \halves, outputs
    xctl 1
    load_weights \rows, \words, \pitch
    run t3, a6, s1
  .endif
  .ifc \halves, inputs
    add a6, a6, a5
    xctl 1
    load_weights \rows, \words, \pitch
    run t1, a6, s1
  .endif
  bdnz a7, 23b
  bdnz t0, 22b
  j 21b
29:
  xctl 1
  walk_end

  .balign 8
13:// what each worker keeps from run to run
  csrr t0, 0xcc0
  slli t0, t0, 4
  add t0, t0, a0
  lw s0, 32(t0)
  lw s5, 36(t0)
  fmv.h.x f31, x0
  lw s2, 40(t0)
  splat.h f31, f31
  lw s4, 44(t0)
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
end_codelet \name
.endm

dynamic_blocks dynamic_16_f16,     amp.h,  4, 4, 4, 1, none,    1, 64, 0
dynamic_blocks dynamic_8_f16,      amp.h,  2, 2, 2, 1, none,    8, 2, 4
dynamic_blocks dynamic_4_f16,      amp.h,  1, 1, 1, 2, none,    4, 1, 4
dynamic_blocks dynamic_16_f16_f32, amp.hs, 4, 4, 4, 1, outputs, 1, 32, 0
dynamic_blocks dynamic_8_f16_f32,  amp.hs, 4, 2, 4, 1, none,    1, 16, 0
dynamic_blocks dynamic_4_f16_f32,  amp.hs, 2, 1, 2, 1, none,    4, 1, 2
dynamic_blocks dynamic_16_f32,     amp.s,  8, 4, 8, 1, inputs,  1, 64, 0
dynamic_blocks dynamic_8_f32,      amp.s,  8, 4, 4, 1, none,    8, 4, 8
dynamic_blocks dynamic_4_f32,      amp.s,  4, 2, 2, 1, none,    4, 2, 8
