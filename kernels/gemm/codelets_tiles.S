#include "xtile.h"

// Products of tiles in a core of an array: C += A B, for machines whose matrix unit has vectors (i8, i16, bf16). A step adds `inputs` of a
// sum. A patch is 16 rows and 2 blocks of columns, as many as a step gives, whose sums stay in the accumulators: number 4 * block + group,
// groups of 4 rows. Operands lie in the order in which they are read:
//   A [16 rows][step][row][input], B [2 blocks][step][block][input][column], C [16 rows][block][row][column].
//
// Inputs of a step are loaded two steps ahead into two sets of registers in turns: block 0 of B behind its last use, A behind its own, and
// the rest of B in the next step. In the last two steps of a patch A and B move to where the next one begins.
//
// a0: {A, B, C, sums, 256 bytes of zeros, pairs of steps - 1, pairs of blocks, parts of 16 rows, bytes of 16 rows of A, of A, of B, mode,
// begins, ends}. begins: 0 with zeros, 1 with what C holds, 2 with sums; ends: 0 in C, 1 in sums.
//
// Of a B of kept blocks alone (`kept`) every patch has its own list of steps, an even number: B is [patch of columns][kept step][block]
// [input][column], behind it u16 pairs of steps by patch of columns, then where each step of A begins in its part and three 0, u16. Such a
// patch has a list for 8 columns: of i8 it is 32 rows and one block. Steps are loaded two ahead beyond the end of B.
//
// a0: {A, B, C, sums, zeros, patches of columns, parts of A, bytes of a part, where the lists begin in B, mode, begins, ends}.
//
// x1: A; x2 stays the stack pointer; x3, x4: C as it is read and written; x5: pairs of steps; x6, x7: what B and A move by; x8: 32; x9, x11:
// sums; x12-x14: back by a part of A, all of A, all of B; x15: parts left; x16: pairs of blocks left; x17: begins; x18: ends; x20: zeros;
// x21: B. `kept`: x12: part of A; x13: its bytes; x14: lists; x22: the next step of A; x23, x24: lists of steps and pairs.

// Registers of set \set: byte and short units read halves of vectors.
.macro multiply_i8 set, group, block
  amp.b    4*(\block)+(\group), 8*(\set)+(\group), 4*(\set)+2+(\block)
.endm
.macro load_first_i8 set
  ldw.b    4*(\set)+2, 21
.endm
.macro load_rest_i8 set
  ldw.b    4*(\set)+3, 21
.endm
.macro load_rows_i8 set, slot
.if (\slot) == 5 || (\slot) == 7
  ldw.b    4*(\set)+((\slot)-5)/2, 1
.else
  nop
.endif
.endm

.macro multiply_i16 set, group, block
  amp.i16  4*(\block)+(\group), 6*(\set)+(\group), 6*(\set)+4+(\block)
.endm
.macro load_first_i16 set
  nop
.endm
.macro load_rest_i16 set
  ldw.b    3*(\set)+2, 21
.endm
.macro load_rows_i16 set, slot
.if (\slot) == 5 || (\slot) == 7
  ldw.b    3*(\set)+((\slot)-5)/2, 1
.else
  nop
.endif
.endm

.macro multiply_bf16 set, group, block
  amp.bf16 4*(\block)+(\group), 6*(\set)+(\group), 6*(\set)+4+(\block)
.endm
.macro load_first_bf16 set
  ldw.b    6*(\set)+4, 21
.endm
.macro load_rest_bf16 set
  ldw.b    6*(\set)+5, 21
.endm
.macro load_rows_bf16 set, slot
  ldw.b    6*(\set)+(\slot)-4, 1
.endm

.macro multiply_wide_i8 set, group, block
  amp.b    4*(\block)+(\group), 8*(\set)+4*(\block)+(\group), 8+(\set)
.endm
.macro load_first_wide_i8 set
  nop
.endm
.macro load_rest_wide_i8 set
  ldw.b    8+(\set), 21
.endm
.macro load_rows_wide_i8 set, slot
  ldw.b    4*(\set)+(\slot)-4, 1
.endm

.macro all_rows type, set
  .set s, 4
.rept 4
  load_rows_\type \set, s
  .set s, s+1
.endr
.endm

// `moves`: 0 no pointer; 1 A and B to where the next patch begins; 2 A to the next kept step.
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

.macro product type, load, store
codelet product_\type
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
  xctl     0
end_codelet product_\type
.endm

product i8, ld.b, st.b
product i16, ld.i16, st.i16
product bf16, ld.bf16, st.bf16

.macro product_kept name, type, load, store
codelet kept_\name
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
  add      x24, x21, x14
  sh1add   x23, x16, x24
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
  xctl     0
end_codelet kept_\name
.endm

product_kept i8, wide_i8, ld.b, st.b
product_kept i16, i16, ld.i16, st.i16
product_kept bf16, bf16, ld.bf16, st.bf16
