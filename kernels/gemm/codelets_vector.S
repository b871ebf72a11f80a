#include "xtile.h"

// The block product Y += X W where the machine has no matrix unit for the type: packed multiply-adds,
// four rows of X at a time against four words of outputs, then two of those that remain, then one. Operands lie
// as for a matrix unit of 16 inputs and 16 (f16) or 8 outputs.
//
// Arguments, to all workers: W, X, bytes of X between depth blocks, depth blocks, column blocks, 1 to add to
// what Y holds (0 to overwrite it), two words of padding; then for each worker 16 bytes: offset in X,
// results in Y, rows - 3, bytes of Y between column blocks.

.set kDepth, 16       // inputs of a block

// A pair {floating-point, memory or integer}; a move where there is nothing to compute.
.macro idle
  fsgnj.d f0, f0, f0
.endm

// Before a pair: instructions that stand alone come in twos. `odd`: there is one without another.
.macro begin_pair
  .if odd
    nop
    .set odd, 0
  .endif
.endm
.set odd, 0

// Integer instruction `number` of seven that move on to the next depth block, or after the last one to the
// beginning of what was just loaded, so that loads ahead stay inside. s6: blocks left, this one included.
.macro next_block number, row_bytes, w_bytes
  .if (\number) == 0
    sltiu t6, s6, 2
  .elseif (\number) == 1
    addi t1, t6, -1
  .elseif (\number) == 2
    and t1, t1, a3
  .elseif (\number) == 3
    add t3, t3, t1
  .elseif (\number) == 4
    addi t3, t3, -(\row_bytes)
  .elseif (\number) == 5
    slli t6, t6, (\w_bytes)
  .else
    sub t4, t4, t6
  .endif
.endm
.set kMoves, 7

// Loads words of W: the next ones from t4.
.macro load_w to
  fld.p \to, t4, 8
.endm
// Loads input `row` of so many from t3, which goes down the rows and then on to the next inputs.
.macro load_x load, to, row, rows, bytes, row_bytes
  .if (\row) + 1 < (\rows)
    \load \to, t3, \row_bytes
  .else
    \load \to, t3, (\bytes) - ((\rows) - 1) * (\row_bytes)
  .endif
.endm

// --- f16 and f32: lane 0 of a register of X times four words of W --------------------------------
// Accumulators f0-f15. A step uses inputs in f`x`.. and W in f`w`.., and loads the next into f`nx`.., f`nw`...
.macro axpy_step op, load, bytes, rows, x, w, nx, nw, last
  .set k, 0
  .set all, 4 + (\rows)
  .if \last
    .set all, all + kMoves
  .endif
  .if all < 4 * (\rows)
    .set all, 4 * (\rows)
  .endif
  .set moves, 4 + (\rows)
  .if \last
    .set moves, moves + kMoves
  .endif
  .rept all
    .if k < moves
      begin_pair
    .endif
    .if k < 4 * (\rows)
      \op k, (\x)+k/4, (\w)+k%4, k
    .else
      idle
    .endif
    .if k < 4
      load_w (\nw) + k
    .elseif k < 4 + (\rows)
      load_x \load, (\nx) + k - 4, k - 4, \rows, \bytes, kDepth * (\bytes)
    .elseif (\last) && (k < 4 + (\rows) + kMoves)
      next_block k - 4 - (\rows), kDepth * (\bytes), 5
    .else
      .set odd, 1 - odd
    .endif
    .set k, k + 1
  .endr
  begin_pair
.endm
.macro axpy_first op, load, bytes, rows
  .set k, 0
  .rept 4
    load_w 24 + k
    .set k, k + 1
  .endr
  .set k, 0
  .rept \rows
    load_x \load, 16 + k, k, \rows, \bytes, kDepth * (\bytes)
    .set k, k + 1
  .endr
.endm
.macro axpy_body op, load, bytes, rows, last
  axpy_step \op, \load, \bytes, \rows, 16, 24, 20, 28, \last
  axpy_step \op, \load, \bytes, \rows, 20, 28, 16, 24, 0
.endm
.set axpy_passes, kDepth / 2

// --- f16 with f32 sums: pairs of inputs times pairs of weights -----------------------------------
// Four inputs a body: x in f16-f19 becomes two pairs, doubled, in f16-f19 and f20-f23; two rows of W (two
// words each) in f24-f27, and two in f28-f31, are zipped to pairs of weights of one output.
.macro dot2_fp number, rows
  .set n, \number
  .if n < (\rows)
    zip.s 16 + n, 20 + n, 16 + n, 16 + n
  .else
    .set n, n - (\rows)
    .set x, 16
    .set w, 24
    .if n >= 2 + 4 * (\rows)
      .set n, n - 2 - 4 * (\rows)
      .set x, 20
      .set w, 28
    .endif
    .if n < 2
      zip.h w + n, w + n + 2, w + n, w + n + 2
    .elseif n < 2 + 4 * (\rows)
      .set n, n - 2
      dot2.s.h n, x+n/4, w+n%4/2+n%2*2, n
    .else
      idle
    .endif
  .endif
.endm
.macro dot2_body op, load, bytes, rows, last
  .set loads, 2 + 5 * (\rows)    // when f16-f19 and f24-f27 are free
  .if (\last) && (loads < 4 + kMoves)
    .set loads, 4 + kMoves
  .endif
  .set all, 4 + 9 * (\rows)
  .if all < loads + 4 + (\rows)
    .set all, loads + 4 + (\rows)
  .endif
  .set k, 0
  .rept all
    .if (k < 4) || ((\last) && (k < 4 + kMoves)) || ((k >= loads) && (k < loads + 4 + (\rows)))
      begin_pair
    .endif
    dot2_fp k, \rows
    .if k < 4
      load_w 28 + k
    .elseif (\last) && (k < 4 + kMoves)
      next_block k - 4, kDepth * 2, 5
    .elseif (k >= loads) && (k < loads + (\rows))
      load_x fld.p, 16 + k - loads, k - loads, \rows, 8, kDepth * 2
    .elseif (k >= loads + (\rows)) && (k < loads + (\rows) + 4)
      load_w 24 + k - loads - (\rows)
    .else
      .set odd, 1 - odd
    .endif
    .set k, k + 1
  .endr
  begin_pair
.endm
.macro dot2_first op, load, bytes, rows
  .set k, 0
  .rept 4
    load_w 24 + k
    .set k, k + 1
  .endr
  .set k, 0
  .rept \rows
    load_x fld.p, 16 + k, k, \rows, 8, kDepth * 2
    .set k, k + 1
  .endr
.endm
.set dot2_passes, kDepth / 4

// --- all of a worker's rows ----------------------------------------------------------------------
// s0 its rows of X, s1 their results, s2 rows left; t0 rows of X, t2 their results.
.macro some_rows way, op, load, bytes, rows
  // Sums from Y, or zeros.
  mv t5, t2
  mv t3, t0
  mv t4, a1
  mv s6, a4
  beqz a6, 1f
  .set k, 0
  .rept 4 * (\rows)
    fld.p k, t5, 8
    .set k, k + 1
  .endr
  j 2f
1:
  fmv.h.x f16, x0
  .set k, 0
  .rept 4 * (\rows)
    splat.h k, f16
    .set k, k + 1
  .endr
2:
  \way\()_first \op, \load, \bytes, \rows
  .balign 8
3:
  idle
  rpt s7, 4f
  \way\()_body \op, \load, \bytes, \rows, 0
4:
  \way\()_body \op, \load, \bytes, \rows, 1
  bdnz s6, 3b
  .set k, 0
  .rept 4 * (\rows)
    fsd.p k, t2, 8
    .set k, k + 1
  .endr
  addi t0, t0, kDepth * (\bytes) * (\rows)
.endm

.macro vector_product name, way, op, load, bytes
codelet \name
  csrr t0, 0xcc0
  slli t0, t0, 4
  add t0, t0, a0
  lw s2, 40(t0)
  lw s0, 32(t0)
  lw s1, 36(t0)
  lw s3, 44(t0)
  addi s2, s2, 3
  blez s2, 99f
  lw a1, 0(a0)
  lw t1, 4(a0)
  lw a3, 8(a0)
  lw a4, 12(a0)
  lw a5, 16(a0)
  lw a6, 20(a0)
  add s0, s0, t1
  li s7, \way\()_passes - 1
  srli s4, s2, 2
  andi s5, s2, 2
  andi s9, s2, 1
90:// a column block
  mv t0, s0
  mv t2, s1
  mv s8, s4
  beqz s8, 92f
91:
  some_rows \way, \op, \load, \bytes, 4
  bdnz s8, 91b
92:
  beqz s5, 93f
  some_rows \way, \op, \load, \bytes, 2
93:
  beqz s9, 94f
  some_rows \way, \op, \load, \bytes, 1
94:
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
