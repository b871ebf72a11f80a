#include "xtile.h"

// Products of tiles in a core of an array: C += A B, for machines whose matrix unit has vectors (i8, i16, bf16). A step
// adds `inputs` terms to each sum. A patch is 16 rows and 2 blocks of a step's output columns; its sums stay in the
// accumulators: number 4 * block + group, groups of 4 rows. Operands are stored in the order in which they are read:
//   A [16 rows][step][row][input], B [2 blocks][step][block][input][column], C [16 rows][block][row][column].
//
// Inputs of a step are loaded two steps ahead into two alternating sets of registers: block 0 of B and A after their last
// uses, and the rest of B in the next step. In the last two steps of a patch A and B advance to the beginning of the next
// one.
//
// a0: {A, B, C, sums, 256 bytes of zeros, pairs of steps - 1, pairs of blocks, parts of 16 rows, bytes of 16 rows of A, of A, of B, mode,
// begins, ends}. begins: sums start from 0 zeros, 1 C, 2 sums; ends: results are stored in 0 C, 1 sums.
//
// If B has only kept blocks (`kept`) every patch has its own list of steps, an even number: B is [patch of columns][kept
// step][block][input][column], followed by u16 pairs of steps by patch of columns, then the offset of each step of A in
// its part and three 0, u16. A list is for 8 columns: for i8 a patch is then 32 rows and one block. Loads run two steps
// beyond the end of B.
//
// a0: {A, B, C, sums, zeros, patches of columns, parts of A, bytes of a part, offset of the lists in B, mode, begins,
// ends}.
//
// `products` and `keeps` are the same for all workers of a tile, each with 64 bytes of arguments of its own; a worker
// without parts has no work. The lists of a worker's patches are separate from B: the list of pairs is an argument instead
// of the offset, the list of steps a further one.
//
// x1: A; x2 stays the stack pointer; x3, x4: C for reading and writing; x5: pairs of steps; x6, x7: distances for B and A;
// x8: 32; x9, x11: sums; x12-x14: back by a part of A, all of A, all of B; x15: parts left; x16: pairs of blocks left; x17:
// begins; x18: ends; x20: zeros; x21: B. `kept`: x12: part of A; x13: its bytes; x14: lists; x22: the next step of A; x23,
// x24: lists of steps and pairs.

// The macros of a type. Arguments are registers of set SET: of A for group GROUP, of B for block BLOCK, in halves of
// vectors if \op takes these; the vectors of B loaded first (or none) and last; the first vector of A, and the slots (4 to
// 7) per load of a vector of A.
.macro registers type, op, a, b, first, rest, rows, every
.macro multiply_\type set, group, block
  .set SET, \set
  .set GROUP, \group
  .set BLOCK, \block
  \op      4*BLOCK+GROUP, \a, \b
.endm
.macro load_first_\type set
  .set SET, \set
.ifc \first, none
  nop
.else
  ldw.b    \first, 21
.endif
.endm
.macro load_rest_\type set
  .set SET, \set
  ldw.b    \rest, 21
.endm
.macro load_rows_\type set, slot
  .set SET, \set
.if ((\slot)-3) % \every
  nop
.else
  ldw.b    \rows+((\slot)-4)/\every, 1
.endif
.endm
.endm
registers i8,      amp.b,    8*SET+GROUP,         4*SET+2+BLOCK, 4*SET+2, 4*SET+3, 4*SET, 2
registers i16,     amp.i16,  6*SET+GROUP,         6*SET+4+BLOCK, none,    3*SET+2, 3*SET, 2
registers bf16,    amp.bf16, 6*SET+GROUP,         6*SET+4+BLOCK, 6*SET+4, 6*SET+5, 6*SET, 1
registers wide_i8, amp.b,    8*SET+4*BLOCK+GROUP, 8+SET,         none,    8+SET,   4*SET, 1

.macro all_rows type, set
  .set s, 4
.rept 4
  load_rows_\type \set, s
  .set s, s+1
.endr
.endm

// `moves`: 0 no pointer; 1 A and B to the beginning of the next patch; 2 A to the next kept step.
.macro step type, set, other, moves
  multiply_\type \set, 0, 0
  load_rest_\type \other
  multiply_\type \set, 1, 0
.if \moves == 1
  add      x1, x1, x7
.elseif \moves == 2
  add      x1, x12, x22
.else
  nop
.endif
  multiply_\type \set, 2, 0
.if \moves == 1
  add      x21, x21, x6
.elseif \moves == 2
  lhu.p    x22, x23, 2
.else
  nop
.endif
  multiply_\type \set, 3, 0
  load_first_\type \set
  .set s, 4
.rept 4
  multiply_\type \set, s-4, 1
  load_rows_\type \set, s
  .set s, s+1
.endr
.endm

.macro each_sum instruction:vararg
  .set n, 0
.rept 8
  \instruction
  .set n, n+1
.endr
.endm

.macro begin_sums load
  bnez     x17, 3f
  mv       x19, x20
  each_sum \load n, 19
  j        5f
3:
  slti     x19, x17, 2
  beqz     x19, 4f
  each_sum \load n, 3
  j        5f
4:
  each_sum ld.acc n, 9
5:
.endm

.macro end_sums store
  bnez     x18, 7f
  each_sum \store n, 4, 8
  j        8f
7:
  each_sum st.acc n, 11
8:
.endm

// Advances x10 to the worker's own arguments; \parts: offset of its parts in them.
.macro own_arguments parts, end
  csrr     x1, 0xcc0
  slli     x1, x1, 6
  add      x10, x10, x1
  lw       x15, \parts(x10)
  beqz     x15, \end
.endm

.macro product name, type, load, store, own
codelet \name\()_\type
.if \own
  own_arguments 28, 9f
.endif
  lw       x1, 44(x10)
  lw       x17, 48(x10)
  lw       x18, 52(x10)
  lw       x20, 16(x10)
  mode.b   x1
  lw       x1, 0(x10)
  lw       x21, 4(x10)
  lw       x3, 8(x10)
  lw       x9, 12(x10)
  lw       x5, 20(x10)
  lw       x16, 24(x10)
  lw       x15, 28(x10)
  lw       x12, 32(x10)
  lw       x13, 36(x10)
  lw       x14, 40(x10)
  li       x8, 32
  sub      x12, x0, x12
  sub      x13, x0, x13
  sub      x14, x0, x14
  addi     x4, x3, -32
  mv       x11, x9
  load_first_\type 0
  all_rows \type, 0
  load_rest_\type 0
  load_first_\type 1
  all_rows \type, 1
1:
  addi     x16, x16, -1
  mv       x6, x0
  mv       x7, x12
  bnez     x16, 2f
  mv       x6, x14
  mv       x7, x0
  addi     x15, x15, -1
  bnez     x15, 2f
  mv       x7, x13
2:
  begin_sums \load
  .balign  8
  nop
  rpt      x5, 6f
  step     \type, 0, 1, 0
  step     \type, 1, 0, 0
6:
  step     \type, 0, 1, 1
  step     \type, 1, 0, 0
  end_sums \store
  bnez     x16, 1b
  lw       x16, 24(x10)
  bnez     x15, 1b
9:
  xctl     0
end_codelet \name\()_\type
.endm

product product, i8, ld.b, st.b, 0
product product, i16, ld.i16, st.i16, 0
product product, bf16, ld.bf16, st.bf16, 0
product products, i8, ld.b, st.b, 1
product products, i16, ld.i16, st.i16, 1
product products, bf16, ld.bf16, st.bf16, 1

// Adds sums of parts of the depth and stores results: each worker has some accumulators of all parts, stored part by part.
// a0: {mode, bytes from a part to the next, further parts}, then for each worker {sums of the first part, C, words of sums,
// accumulators}. `add`: adds words at x8 to the first part's, read through x7 and written through x9; x5: words, at least
// one.
.macro add_words_i8
  rpt      x5, 2f
  lw.p     x13, x7, 4
  lw.p     x14, x8, 4
  add      x13, x13, x14
  sw.p     x13, x9, 4
2:
.endm
.macro add_words_i16
  srli     x1, x5, 1
  rpt      x1, 2f
  lw.p     x13, x7, 4
  lw.p     x15, x7, 4
  lw.p     x14, x8, 4
  lw.p     x16, x8, 4
  add      x13, x13, x14
  sltu     x14, x13, x14
  add      x15, x15, x16
  sw.p     x13, x9, 4
  add      x15, x15, x14
  sw.p     x15, x9, 4
2:
.endm
.macro add_words_bf16
  srli     x1, x5, 1
  rpt      x1, 2f
  fld.p    f1, x7, 8
  fld.p    f2, x8, 8
  add.2s   f1, f1, f2
  fsd.p    f1, x9, 8
2:
.endm

.macro sum_parts type, store
codelet sum_\type
  lw       x1, 0(x10)
  lw       x3, 4(x10)
  lw       x4, 8(x10)
  worker_arguments x6, 16
  lw       x11, 12(x6)
  lw       x12, 16(x6)
  lw       x5, 20(x6)
  lw       x6, 24(x6)
  mode.b   x1
  beqz     x6, 9f
  mv       x17, x11
1:
  add      x17, x17, x3
  mv       x7, x11
  mv       x8, x17
  mv       x9, x11
  add_words_\type
  addi     x4, x4, -1
  bnez     x4, 1b
  addi     x12, x12, -32
  li       x8, 32
  rpt      x6, 3f
  ld.acc   0, 11
  \store   0, 12, 8
3:
9:
  xctl     0
end_codelet sum_\type
.endm

sum_parts i8, st.b
sum_parts i16, st.i16
sum_parts bf16, st.bf16

.macro product_kept name, type, load, store, own
codelet \name
.if \own
  own_arguments 24, 9f
.endif
  lw       x1, 36(x10)
  lw       x12, 0(x10)
  lw       x3, 8(x10)
  lw       x9, 12(x10)
  mode.b   x1
  lw       x20, 16(x10)
  lw       x15, 24(x10)
  lw       x13, 28(x10)
  lw       x14, 32(x10)
  lw       x17, 40(x10)
  lw       x18, 44(x10)
  li       x8, 32
  addi     x4, x3, -32
  mv       x11, x9
1:
  lw       x21, 4(x10)
  lw       x16, 20(x10)
.if \own
  mv       x24, x14
  lw       x23, 48(x10)
.else
  add      x24, x21, x14
  sh1add   x23, x16, x24
.endif
  lhu.p    x1, x23, 2
  lhu.p    x22, x23, 2
  add      x1, x12, x1
  load_first_\type 0
  all_rows \type, 0
  load_rest_\type 0
  load_first_\type 1
  add      x1, x12, x22
  all_rows \type, 1
  lhu.p    x22, x23, 2
2:
  lhu.p    x5, x24, 2
  begin_sums \load
  .balign  8
  nop
  rpt      x5, 6f
  step     \type, 0, 1, 2
  step     \type, 1, 0, 2
6:
  end_sums \store
  addi     x16, x16, -1
  bnez     x16, 2b
  add      x12, x12, x13
  addi     x15, x15, -1
  bnez     x15, 1b
9:
  xctl     0
end_codelet \name
.endm

product_kept kept_i8, wide_i8, ld.b, st.b, 0
product_kept kept_i16, i16, ld.i16, st.i16, 0
product_kept kept_bf16, bf16, ld.bf16, st.bf16, 0
product_kept keeps_i8, wide_i8, ld.b, st.b, 1
product_kept keeps_i16, i16, ld.i16, st.i16, 1
product_kept keeps_bf16, bf16, ld.bf16, st.bf16, 1
