#include "xtile.h"
#include "kernels/sparse/code/walk.inc"
#include "kernels/sparse/code/gather.inc"

// Sub-groups whose rows are divided among the workers: each reads its part after the head, 10 bytes per worker: rows,
// offsets of its list and of its values in the sub-group (in u16 and in 32-bit words), first pass, passes. Its list holds,
// for each row, the place of its results, its units, then the places of each unit; places in 64-bit words, u16 each.

.set kParts, 8

// A worker's part: s3 rows, a2 list, a1 values, t2 first pass, s6 passes; ends the worker if it is empty.
.macro worker_part
  add t0, a0, s4
  lhu s3, 0(t0)
  lhu t1, 2(t0)
  beqz s3, 19f
  lhu t2, 4(t0)
  lhu a1, kValues(a0)
  lhu t3, kValues + 2(a0)
  sh1add a2, t1, a0
  slli t3, t3, 16
  or a1, a1, t3
  add a1, a1, s2
  sh2add a1, t2, a1
  lhu t2, 6(t0)
  lhu s6, 8(t0)
.endm
// The supervisor's code, and the set-up of each worker.
.macro share_parts
  share_out
  .balign 8
13:
  csrr t0, 0xcc0
  sh2add t1, t0, t0
  slli t1, t1, 1
  addi s4, t1, kParts
  lw s0, 4(a0)
  lw s1, 16(a0)
  lw s2, 12(a0)
.endm

// --- Y += W X, element by element ------------------------------------------------------------------
// Further arguments: 16 Y. A pass is 16 bytes of a row of X; a unit is 32 bits of values: two f16 (a row of odd length ends
// with a zero) or one f32. Sums are f32.

.macro pool_rows name, wide
codelet \name
  share_parts
  xctl 0
14:
  worker_part
  .if \wide
    sh2add t2, t2, zero         // passes of 16 bytes of X and 32 of Y
    sh2add t3, t2, zero
    sh3add t1, t2, s1
    add t2, t3, s0
  .else
    slli t2, t2, 4
    add t1, t2, s1
    add t2, t2, s0
  .endif
1:// pass
  mv t4, a2
  mv t5, a1
  mv s5, s3
  addi s7, t2, 8
2:// row
  lhu.p t6, t4, 2
  lhu.p s8, t4, 2
  sh3add t6, t6, t1
  sums fld, t6, 2, \wide
  .if \wide
    add_pairs 2, s7, s8
  .else
    add_nonzeros 2, s7, s8, flw.p, axpy.2s, 4
  .endif
  sums fsd, t6, 2, \wide
  bdnz s5, 2b
  addi t2, t2, 16
  addi t1, t1, 16 * (1 + \wide)
  bdnz s6, 1b
19:
  xctl 0
end_codelet \name
.endm
pool_rows pool_rows_f16, 1
pool_rows pool_rows_f32, 0

// --- gradients of blocks ---------------------------------------------------------------------------
// Rows of Yg times rows of X: a worker's part of the gradient of a sparse matrix's blocks, f32, each block row-major; every
// element is a dot product over this tile's columns: a slot per 8 bytes of each row. The list holds, for each block row,
// the place of its Yg, its blocks, then the place of each block's X; places in 64-bit words, u16 each.
//
// s0 X, s1 Yg, s3 block rows, s6 rows of a block from number t2 on, s7 64-bit words of a row - 1, s8 its bytes,
// s9 side of a block, a1 values of the first block, a2 list, f31 zeros.
.macro gradient_rows multiply
  mul t0, t2, s9
  mul a6, t2, s8              // offset of the worker's first row in a block
  sh2add a1, t0, a1
  sub t0, s9, s6
  mul t0, t0, s9
  slli a7, t0, 2              // values of other workers' rows
1:// row
  lhu.p a3, a2, 2
  lhu.p a4, a2, 2
  sh3add a3, a3, s1
  add a3, a3, a6
2:// block
  lhu.p a5, a2, 2
  mv t6, a3
  sh3add a5, a5, s0
  mv s5, s6
3:// row of Yg
  mv t5, a5
  mv s10, s9
4:// row of X
  mv t3, t6
  mv t4, t5
  fsgnj.d f4, f31, f31
  ld2 f0, f1, t3, t4
  .balign 8
  beqz s7, 5f
  rpt s7, 5f
  \multiply f4, f0, f1, f4
  ld2 f0, f1, t3, t4
5:
  \multiply f4, f0, f1, f4
  add t5, t5, s8
  sum.2s f4, f4
  fsw.p f4, a1, 4
  bdnz s10, 4b
  add t6, t6, s8
  bdnz s5, 3b
  add a1, a1, a7
  bdnz a4, 2b
  bdnz s3, 1b
.endm

// Gradients of a pool. Further arguments: 16 Yg, 32 64-bit words of a row - 1, 36 its bytes, 40 side of a block. A unit is
// a block of values (gradient_rows). A pass is a row of the blocks.
.macro pool_gradient name, multiply
codelet \name
  share_parts
  lw s7, 32(a0)
  lw s8, 36(a0)
  lw s9, 40(a0)
  fmv.w.x f31, zero
  splat.s f31, f31
  xctl 0
14:
  worker_part
  gradient_rows \multiply
19:
  xctl 0
end_codelet \name
.endm
pool_gradient pool_gradient_f16, dot2.s.h
pool_gradient pool_gradient_f32, fma.2s

// The gradient of the blocks of a pattern known at build: a0: {X, Yg, 64-bit words of a row - 1, bytes of a row,
// side of a block, padding}, then for each worker {list, values, block rows, first row of a block, rows of a block,
// padding}.
.macro block_gradient name, multiply
codelet \name
  worker_arguments t0, 24
  lw s3, 32(t0)
  lw a2, 24(t0)
  beqz s3, 19f
  lw a1, 28(t0)
  lw t2, 36(t0)
  lw s6, 40(t0)
  lw s0, 0(a0)
  lw s1, 4(a0)
  lw s7, 8(a0)
  lw s8, 12(a0)
  lw s9, 16(a0)
  fmv.w.x f31, zero
  splat.s f31, f31
  gradient_rows \multiply
19:
  xctl 0
end_codelet \name
.endm
block_gradient block_gradient_f16, dot2.s.h
block_gradient block_gradient_f32, fma.2s

// --- helpers ---------------------------------------------------------------------------------------
// Writes zeros. Arguments: address; one word of padding; then for each worker 8 bytes: offset, 64-bit words.
codelet pool_zero
  worker_arguments t0, 8
  lw a1, 8(t0)
  lw a2, 12(t0)
  lw a3, 0(a0)
  fmv.w.x f0, zero
  splat.s f0, f0
  add a3, a3, a1
  beqz a2, 1f
  rpt a2, 1f
  fsd.p f0, a3, 8
1:
  xctl 0
end_codelet pool_zero

// Sets two flags, non-zero if a pool is away from home along y, along x. Arguments: its home (x, y: u16), own x, own y, two
// words of flags:
// in y, in x.
codelet pool_away
  lw t0, 0(a0)
  lw t1, 4(a0)
  lw t2, 8(a0)
  lhu t3, 0(t0)
  lhu t4, 2(t0)
  lw t5, 12(a0)
  sub t3, t3, t1
  sub t4, t4, t2
  sw t4, 0(t5)
  sw t3, 4(t5)
  ret
end_codelet pool_away
