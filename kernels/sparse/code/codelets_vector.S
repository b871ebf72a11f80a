#include "xtile.h"
#include "kernels/gemm/vector.inc"
#include "kernels/sparse/code/walk.inc"

// Y += W X for the blocks of W on one tile where the machine has no matrix unit for the type: each worker processes rows of
// blocks for its own columns of X; sums stay in registers from block to block. Lists, and
// the arguments of pools, are those of codelets_blocks.S.
//
// Arguments of block rows: bytes of results of a block row, X, bytes to results of the next run, a word of padding; then for
// each worker 24 bytes: offset of its columns in X, its results, columns - 3, its list, its weights, its block rows.

// `codelet` BLOCK, TYPES, WAY, OP, LOAD, BYTES, WORDS, RUNS: words of sums of a run of outputs, runs of a block.
.macro every_vector codelet
  \codelet 4, f16, axpy, axpy.4h, flh.p, 2, 1, 1
  \codelet 8, f16, axpy, axpy.4h, flh.p, 2, 2, 1
  \codelet 16, f16, axpy, axpy.4h, flh.p, 2, 4, 1
  \codelet 4, f16_f32, dot2, dot2.s.h, fld.p, 2, 2, 1
  \codelet 8, f16_f32, dot2, dot2.s.h, fld.p, 2, 4, 1
  \codelet 16, f16_f32, dot2, dot2.s.h, fld.p, 2, 4, 2
  \codelet 4, f32, axpy, axpy.2s, flw.p, 4, 2, 1
  \codelet 8, f32, axpy, axpy.2s, flw.p, 4, 4, 1
  \codelet 16, f32, axpy, axpy.2s, flw.p, 4, 4, 2
.endm

// A worker's registers, in addition to keep_rows: s0 its columns of X, s1 its results, a7 bytes to results of the next run.
// a1: its arguments.
.macro keep_columns way
  lw t1, 4(a0)
  lw s0, 0(a1)
  lw s1, 4(a1)
  lw s2, 8(a1)
  add s0, s0, t1
  addi s2, s2, 3
  keep_rows \way
.endm

// A row of a4 blocks, places at a2 and weights at a1, into a3. Advances a1 and a2.
.macro row_of_blocks block, way, op, load, bytes, runs
  .set run_bytes, (\block) * (\block) * (\bytes) / (\runs)
  .if \runs > 1
    li s11, \runs
90:
  .endif
  mv t0, s0
  mv t2, a3
  every_row \way, \op, \load, \bytes
  .if \runs > 1
    addi a1, a1, run_bytes
    add a3, a3, a7
    bdnz s11, 90b
    addi a1, a1, -run_bytes * (\runs)
  .endif
  li t1, run_bytes * (\runs)
  mul t1, t1, a4
  sh1add a2, a4, a2
  add a1, a1, t1
.endm

.macro set_block block, bytes, words, runs
  .set skipped, (\block) * (\block) * (\bytes) / (\runs) * ((\runs) - 1)
  set_vector \block, \words, 1, skipped
.endm

.macro block_rows block, types, way, op, load, bytes, words, runs
codelet blocks_\block\()_vector_\types
  set_block \block, \bytes, \words, \runs
  worker_arguments a1, 24
  addi a1, a1, 16
  keep_columns \way
  blez s2, 89f
  lw s3, 0(a0)
  lw a7, 8(a0)
  lw a2, 12(a1)
  lw a5, 20(a1)
  lw a1, 16(a1)
  li a6, 0
80:// block row
  lhu.p a4, a2, 2
  mv a3, s1
  addi a4, a4, 1
  row_of_blocks \block, \way, \op, \load, \bytes, \runs
  add s1, s1, s3
  bdnz a5, 80b
89:
  xctl 0
end_codelet blocks_\block\()_vector_\types
.endm
every_vector block_rows

.macro pool_blocks block, types, way, op, load, bytes, words, runs
codelet pool_blocks_\block\()_vector_\types
  set_block \block, \bytes, \words, \runs
  share_out
  .balign 8
13:
  worker_arguments a1, 16
  addi a1, a1, 32
  keep_columns \way
  lw a7, 12(a1)
  lw s3, 12(a0)
  li a6, 1
  xctl 0
14:// a sub-group
  blez s2, 89f
  lhu a1, kValues(a0)
  lhu t4, kValues + 2(a0)
  lhu a5, kRows(a0)
  slli t4, t4, 16
  or a1, a1, t4
  add a1, a1, s3
  addi a2, a0, kRows + 2
80:// block row
  lhu.p a3, a2, 2
  lhu.p a4, a2, 2
  sh3add a3, a3, s1
  row_of_blocks \block, \way, \op, \load, \bytes, \runs
  bdnz a5, 80b
89:
  xctl 0
end_codelet pool_blocks_\block\()_vector_\types
.endm
every_vector pool_blocks
