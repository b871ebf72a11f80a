#include "xtile.h"
#include "kernels/gemm/positions.inc"
#include "kernels/gemm/worker_run.inc"

// Layers of f16 convolutional networks on one tile: sums on the matrix unit, their results, maxima of windows.
// `inputs` and `outputs` of a name are those of a weight block: a chunk of channels, [position][inputs], and a block
// of sums, [position][outputs].

// --- sums ------------------------------------------------------------------------------------------
// For each block of weights the workers stream their positions of X, from an offset in the list on. Arguments: W
// [column block][step], X, column blocks, steps, offsets in X [column block][step]; three words of padding; then for
// each worker 16 bytes (worker_set_up).
.macro convolve name, unit, inputs, outputs
.ifc \unit, amp.hs
codelet convolve_\inputs\()x\outputs
  set_shape \unit, \inputs, \outputs
  lla t0, 3f
  run.block t0, a0, s1, blocks
  lw a1, 0(a0)
  lw a2, 4(a0)
  lw a5, 8(a0)
  lw a4, 12(a0)
  lw a3, 16(a0)
  lla t2, 5f
  lla t1, 6f
  addi a4, a4, -1
  xctl 1
2:
  lw.p a7, a3, 4
  mv t0, a4
  add a7, a7, a2
  ldcw load, a1
  run.block t2, a7, s1, blocks
  beqz t0, 11f
10:
  lw.p a7, a3, 4
  add a7, a7, a2
  xctl 1
  ldcw load, a1
  run.block t1, a7, s1, blocks
  bdnz t0, 10b
11:
  xctl 1
  bdnz a5, 2b
  ret

  .balign 8
3:
  worker_set_up

  .balign 8
6:// adding to Y
  worker_run \unit, 1
  .balign 8
5:// the first step of a column block, overwriting Y
  worker_run \unit, 0
end_codelet convolve_\inputs\()x\outputs
.endif
.endm

every_shape convolve

// --- results ---------------------------------------------------------------------------------------
// Lanes of four channels, distributed over the workers: sums plus bias, rounded to f16, clamped from below. Arguments:
// sums, bias
// (f32 [channel]), results, lanes, rows, positions of a row - 1, bytes of sums from row to row less those of its
// positions, the limit (f16), bytes of sums between column blocks, bytes of results between chunks.
.macro log2 symbol, value
  .set \symbol, 0
  .rept 7
    .if (\value) >> \symbol > 1
      .set \symbol, \symbol + 1
    .endif
  .endr
.endm

.macro results name, unit, inputs, outputs
.ifc \unit, amp.hs
codelet results_\inputs\()x\outputs
  log2 in_block, (\outputs) / 4
  log2 in_chunk, (\inputs) / 4
  csrr a1, 0xcc0
  csrr a2, 0xcc2
  lw a3, 12(a0)
  lw a4, 16(a0)
  lw a5, 20(a0)
  lw a6, 24(a0)
  lw t0, 28(a0)
  fmv.h.x f10, t0
  splat.h f10, f10
  bgeu a1, a3, 9f
1:
  lw t0, 32(a0)
  lw t3, 0(a0)
  srli t1, a1, in_block
  mul t0, t0, t1
  andi t1, a1, (\outputs) / 4 - 1
  slli t1, t1, 4
  add t3, t3, t0
  add t3, t3, t1
  lw t0, 36(a0)
  lw t5, 8(a0)
  srli t1, a1, in_chunk
  mul t0, t0, t1
  andi t1, a1, (\inputs) / 4 - 1
  add t5, t5, t0
  sh3add t5, t1, t5
  lw t4, 4(a0)
  slli t1, a1, 4
  add t4, t4, t1
  fld f8, 0(t4)
  fld f9, 8(t4)
  mv t2, a4
2:
  fld.p f0, t3, 8
  fld.p f1, t3, (\outputs) * 4 - 8
  add.2s f4, f0, f8
  add.2s f5, f1, f9
  beqz a5, 4f
  .balign 8
  nop
  rpt a5, 4f
  pack.4h f6, f4, f5
  fld.p f0, t3, 8
  max.4h f6, f6, f10
  fld.p f1, t3, (\outputs) * 4 - 8
  add.2s f4, f0, f8
  fsd.p f6, t5, (\inputs) * 2
  add.2s f5, f1, f9
  nop
4:
  pack.4h f6, f4, f5
  max.4h f6, f6, f10
  fsd.p f6, t5, (\inputs) * 2
  add t3, t3, a6
  bdnz t2, 2b
  add a1, a1, a2
  bltu a1, a3, 1b
9:
  xctl 0
end_codelet results_\inputs\()x\outputs
.endif
.endm

every_shape results

// --- maxima of windows -------------------------------------------------------------------------------
// Rows of a chunk, distributed over the workers. Arguments: X, results, rows of all chunks, pairs of 64-bit words of a row
// - 1, places of the window, lists. Lists: each row's offsets in X and in the results; then each window place's offset in
// X.
codelet maxima
  csrr a1, 0xcc0
  csrr a2, 0xcc2
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lw a7, 20(a0)
  sh3add a6, a3, a7
  lw s0, 0(a0)
  lw s1, 4(a0)
  bgeu a1, a3, 9f
1:
  sh3add t0, a1, a7
  lw s2, 0(t0)
  lw s3, 4(t0)
  add s2, s2, s0
  add s3, s3, s1
  mv t1, a6
  mv t2, a5
  lw.p t0, t1, 4
  add t4, t0, s2
  mv t3, t4
3:
  mv t5, s3
  ld2 f0, f1, t3, t4
  max.4h f2, f0, f1
  ld2 f0, f1, t3, t4
  beqz a4, 2f
  .balign 8
  nop
  rpt a4, 2f
  max.4h f3, f0, f1
  ld2st f0, f1, f2
  max.4h f2, f0, f1
  ld2st f0, f1, f3
2:
  max.4h f3, f0, f1
  fsd.p f2, t5, 8
  fsd.p f3, t5, 8
  addi t2, t2, -1
  beqz t2, 4f
  lw.p t0, t1, 4
  mv t3, s3
  add t4, t0, s2
  j 3b
4:
  add a1, a1, a2
  bltu a1, a3, 1b
9:
  xctl 0
end_codelet maxima

// --- means of windows --------------------------------------------------------------------------------
// Rows of a chunk one after the other, the words of each distributed over the workers, two places of the window at a time.
// Arguments: X, results, rows of all chunks, 64-bit words of a row, pairs of places, 1 if one is left, lists,
// the factor (f32). Lists: each row's offsets in X and in the results; then each window place's offset in X, in 64-bit
// words, as u16.
codelet means
  csrr a1, 0xcc0
  csrr a2, 0xcc2
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lw s2, 20(a0)
  lw a7, 24(a0)
  flw f10, 28(a0)
  splat.s f10, f10
  sh3add a6, a3, a7
  lw s0, 0(a0)
  lw s1, 4(a0)
  li t0, 0x3c00
  fmv.h.x f6, t0
  splat.h f6, f6
  fmv.h.x f7, x0
  splat.h f7, f7
  addi a5, a5, -1
1:
  lw.p t2, a7, 4
  lw.p t6, a7, 4
  mv t0, a1
  bgeu t0, a4, 8f
  add t2, t2, s0
  add t6, t6, s1
2:
  sh3add t3, t0, t2
  mv t1, a6
  fsgnj.d f4, f7, f7
  fsgnj.d f5, f7, f7
  bltz a5, 5f
  lgx.d f0, t3, t1
  lgx.d f1, t3, t1
  beqz a5, 4f
  .balign 8
  nop
  rpt a5, 4f
  zip.h f2, f3, f0, f1
  lgx.d f0, t3, t1
  dot2.s.h f4, f2, f6, f4
  lgx.d f1, t3, t1
  dot2.s.h f5, f3, f6, f5
  nop
4:
  zip.h f2, f3, f0, f1
  dot2.s.h f4, f2, f6, f4
  dot2.s.h f5, f3, f6, f5
5:
  beqz s2, 6f
  lgx.d f0, t3, t1
  zip.h f2, f3, f0, f7
  dot2.s.h f4, f2, f6, f4
  dot2.s.h f5, f3, f6, f5
6:
  mul.2s f4, f4, f10
  mul.2s f5, f5, f10
  pack.4h f4, f4, f5
  sh3add t5, t0, t6
  fsd f4, 0(t5)
  add t0, t0, a2
  bltu t0, a4, 2b
8:
  bdnz a3, 1b
  xctl 0
end_codelet means
