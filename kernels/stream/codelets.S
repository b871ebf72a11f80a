// The STREAM loops. a0: {scalar, 0}, then for each worker {a, b, c, loop bodies - 1}. f16 and f32: a body is two slots for
// two 64-bit words; each dual-issue pair stores the previous result and loads the next operands. i32: a body is one
// element, in plain RV32 as compilers generate. Loops on operands in external memory are below.
#include "xtile.h"

// t3, t4, t5: b, c and a of this worker; t2: repetitions of the body; f0: the scalar
.macro stream_arguments
  csrr    t0, 0xcc0
  flw     f0, 0(a0)
  slli    t0, t0, 4
  add     t0, t0, a0
  lw      t3, 12(t0)
  lw      t4, 16(t0)
  lw      t5, 8(t0)
  lw      t2, 20(t0)
.endm

// Two operands: result = op(operands: f0, word f2 of b, word f3 of c), alternately in f4 and f5.
.macro three_words splat, op, operands:vararg
  ld2     f2, f3, t3, t4
  \splat  f0, f0
  \op     f4, \operands
  ld2     f2, f3, t3, t4
  beqz    t2, 1f
  rpt     t2, 1f
  \op     f5, \operands
  ld2st   f2, f3, f4
  \op     f4, \operands
  ld2st   f2, f3, f5
1:
  \op     f5, \operands
  fsd.p   f4, t5, 8
  fsd.p   f5, t5, 8
.endm

// One operand: result = op(operands: f0, word f2 of b).
.macro two_words splat, op, operands:vararg
  fld.p   f2, t3, 8
  \splat  f0, f0
  \op     f4, \operands
  fld.p   f2, t3, 8
  beqz    t2, 1f
  rpt     t2, 1f
  \op     f5, \operands
  ldst    f2, f4, t3, t5
  \op     f4, \operands
  ldst    f2, f5, t3, t5
1:
  \op     f5, \operands
  fsd.p   f4, t5, 8
  fsd.p   f5, t5, 8
.endm

.macro stream_three name, compute:vararg
codelet \name
  stream_arguments
  three_words \compute
  xctl    0
end_codelet \name
.endm
.macro stream_two name, compute:vararg
codelet \name
  stream_arguments
  two_words \compute
  xctl    0
end_codelet \name
.endm

// `how` for NAME_f32 and NAME_f16, with packed instructions.
.macro of_floats how, name, op, operands:vararg
  \how \name\()_f32, splat.s, \op\().2s, \operands
  \how \name\()_f16, splat.h, \op\().4h, \operands
.endm

stream_two   stream_copy_f32, splat.s, fsgnj.d, f2, f2
stream_two   stream_copy_f16, splat.h, fsgnj.d, f2, f2
of_floats stream_two, stream_scale, mul, f0, f2
of_floats stream_three, stream_add, add, f2, f3
of_floats stream_three, stream_triad, axpy, f0, f3, f2

// t5, t3, t4: a, b and c of this worker; t2: its elements; t1: the scalar; t0: the end of b
.macro stream_elements
  csrr    t0, 0xcc0
  lw      t1, 0(a0)
  slli    t0, t0, 4
  add     t0, t0, a0
  lw      t5, 8(t0)
  lw      t3, 12(t0)
  lw      t4, 16(t0)
  lw      t2, 20(t0)
  addi    t2, t2, 1
  sh2add  t0, t2, t3
.endm

// One operand or two: result a1 = compute(element a1 of b, element a2 of c).
.macro stream_i32 name, from, compute:vararg
codelet \name
  stream_elements
1:
  lw      a1, 0(t3)
  .if \from > 1
  lw      a2, 0(t4)
  .endif
  \compute
  sw      a1, 0(t5)
  addi    t3, t3, 4
  .if \from > 1
  addi    t4, t4, 4
  .endif
  addi    t5, t5, 4
  bne     t3, t0, 1b
  xctl    0
end_codelet \name
.endm

.macro triad_i32
  mul     a2, a2, t1
  add     a1, a1, a2
.endm

stream_i32 stream_copy_i32, 1
stream_i32 stream_scale_i32, 1, mul a1, a1, t1
stream_i32 stream_add_i32, 2, add a1, a1, a2
stream_i32 stream_triad_i32, 2, triad_i32

// In place, six instructions an element: PrIM's loop for measuring arithmetic (arXiv 2105.03814, listing in section 3.1:
// address, load, add, store, index, branch).
codelet stream_update_i32
  stream_elements
  li      t0, 0
1:
  sh2add  a2, t0, t5
  lw      a1, 0(a2)
  add     a1, a1, t1
  sw      a1, 0(a2)
  addi    t0, t0, 1
  bne     t0, t2, 1b
  xctl    0
end_codelet stream_update_i32

// Loops on operands in external memory, block by block through the worker's own DMA. a0: {scalar, bytes from a block to the
// worker's next, bytes of a block, blocks - 1, bytes of the last block, 0, 0, 0}, then for each worker {a, b, c: its first
// blocks in external memory; its two blocks in SRAM, contiguous; bytes by which its last block begins earlier, 0, 0, 0}.
// Loads `brings` blocks, `loop` computes the result into the first one, which is stored if `stores` is 1.
// a2, a3, a4: a, b and c in external memory; a5, s4: the blocks in SRAM; a6: bytes of a block; a7: blocks left but the
// last.
.macro outside name, brings, stores, loop:vararg
codelet \name
  csrr    t0, 0xcc0
  slli    t0, t0, 5
  add     a1, a0, t0
  flw     f0, 0(a0)
  lw      t1, 0(a0)
  lw      s2, 4(a0)
  lw      a6, 8(a0)
  lw      a7, 12(a0)
  lw      a2, 32(a1)
  lw      a3, 36(a1)
  lw      a4, 40(a1)
  lw      a5, 44(a1)
  add     s4, a5, a6
  beqz    a7, 12f
11:
.if \brings > 0
  ldma    a5, a3, a6
.endif
.if \brings > 1
  ldma    s4, a4, a6
.endif
  \loop
.if \stores > 0
  sdma    a5, a2, a6
.endif
  add     a2, a2, s2
  add     a3, a3, s2
  add     a4, a4, s2
  addi    a7, a7, -1
  bgtz    a7, 11b
  bltz    a7, 13f
12:
  lw      a6, 16(a0)
  lw      t0, 48(a1)
  sub     a2, a2, t0
  sub     a3, a3, t0
  sub     a4, a4, t0
  li      a7, 0
  j       11b
13:
  xctl    0
end_codelet \name
.endm

// t3, t4: sources; t5: destination; t2: units of 2^shift bytes, the iterations of the `rpt` up to label 14; `less`: one
// iteration fewer.
.macro of_block shift, less=0
  mv      t3, a5
  mv      t4, s4
  mv      t5, a5
  srli    t2, a6, \shift
.if \less
  addi    t2, t2, -1
.else
  rpt     t2, 14f
.endif
.endm

.macro block_floats words, compute:vararg
  of_block 4, 1
  \words \compute
.endm
.macro block_copy
  of_block 3
  fld.p   f2, t3, 8
  fsd.p   f2, t5, 8
14:
.endm
.macro block_add_i32
  of_block 3
  fld.p   f2, t3, 8
  fld.p   f3, t4, 8
  add.2w  f4, f2, f3
  fsd.p   f4, t5, 8
14:
.endm
.macro block_scale_i32
  of_block 2
  lw.p    t0, t3, 4
  mul     t0, t0, t1
  sw.p    t0, t5, 4
14:
.endm
.macro block_triad_i32
  of_block 2
  lw.p    t0, t3, 4
  lw.p    t6, t4, 4
  mul     t6, t6, t1
  add     t0, t0, t6
  sw.p    t0, t5, 4
14:
.endm

.macro outside_two name, compute:vararg
  outside \name, 1, 1, block_floats two_words, \compute
.endm
.macro outside_three name, compute:vararg
  outside \name, 2, 1, block_floats three_words, \compute
.endm

outside stream_outside_read, 1, 0
outside stream_outside_write, 0, 1
outside stream_outside_copy_dma, 1, 1
outside stream_outside_copy, 1, 1, block_copy
of_floats outside_two, stream_outside_scale, mul, f0, f2
of_floats outside_three, stream_outside_add, add, f2, f3
of_floats outside_three, stream_outside_triad, axpy, f0, f3, f2
outside stream_outside_scale_i32, 1, 1, block_scale_i32
outside stream_outside_add_i32, 2, 1, block_add_i32
outside stream_outside_triad_i32, 2, 1, block_triad_i32
