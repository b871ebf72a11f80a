#include "xtile.h"
#include "kernels/spmm_static/stream.inc"
#include "kernels/spmm_static/block_run.inc"

// Y += W X for the blocks of W on one tile, block row after block row. The supervisor loads the weights of
// one block after the other; the six workers send their columns of X past them. block_code.h counts these
// instructions.

// --- the supervisor's loop over blocks -------------------------------------------------------------
// Arguments: weights, X, list, block rows, bytes of X from the first to the second half of a block's
// inputs, three words of padding; then for each worker 24 bytes: offset in X, results, loops, step of
// results to the next block row, offset of their second half, padding. The list holds for each
// block row its blocks less one, then the place in X of each in 64-bit words, u16 each.
// `halves`: outputs: a block is two runs for its halves of outputs; inputs: for its halves of inputs.
.macro block_rows name, unit, phases, inputs, outputs, unroll, halves, rows, words, pitch
codelet \name
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
  xctl 1
  load_weights \rows, \words, \pitch
  sh3add a7, a7, a2
  run t2, a7, s1
  second_half \halves, t3, \rows, \words, \pitch
  beqz t0, 8f
2:// block
  lhu.p a7, a3, 2
  xctl 1
  load_weights \rows, \words, \pitch
  sh3add a7, a7, a2
  run t1, a7, s1
  second_half \halves, t4, \rows, \words, \pitch
  bdnz t0, 2b
8:
  bdnz a4, 1b
  xctl 1
  ret

  .balign 8
3:// what each worker keeps from run to run
  csrr t0, 0xcc0
  sh1add t0, t0, t0
  sh3add t0, t0, a0
  lw s0, 32(t0)
  lw s1, 36(t0)
  fmv.h.x f31, x0
  lw s2, 40(t0)
  splat.h f31, f31
  lw s3, 44(t0)
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
end_codelet \name
.endm

.macro second_half halves, entry, rows, words, pitch
  .ifc \halves, outputs
    xctl 1
    load_weights \rows, \words, \pitch
    run \entry, a7, s1
  .endif
  .ifc \halves, inputs
    add a7, a7, a5
    xctl 1
    load_weights \rows, \words, \pitch
    run t1, a7, s1
  .endif
.endm

block_rows spmm_16_f16,     amp.h,  4, 4, 4, 1, none,    1, 64, 0
block_rows spmm_8_f16,      amp.h,  2, 2, 2, 1, none,    8, 2, 4
block_rows spmm_4_f16,      amp.h,  1, 1, 1, 2, none,    4, 1, 4
block_rows spmm_16_f16_f32, amp.hs, 4, 4, 4, 1, outputs, 1, 32, 0
block_rows spmm_8_f16_f32,  amp.hs, 4, 2, 4, 1, none,    1, 16, 0
block_rows spmm_4_f16_f32,  amp.hs, 2, 1, 2, 1, none,    4, 1, 2
block_rows spmm_16_f32,     amp.s,  8, 4, 8, 1, inputs,  1, 64, 0
block_rows spmm_8_f32,      amp.s,  8, 4, 4, 1, none,    8, 4, 8
block_rows spmm_4_f32,      amp.s,  4, 2, 2, 1, none,    4, 2, 8
