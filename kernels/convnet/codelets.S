// int8 convolutions and what is like them, for machines with matrix_unit.i8. An activation is
// planes of 8 channels, [plane][row][column][8] int8; a position is 8 bytes. A group is 4
// positions: 4 side by side, or 2 and 2 ("halves"). A patch is up to 8 groups that are computed
// together; calls.h makes the tables and argument blocks that are read here.
//
// A step adds inputs of one plane, moved by one kernel tap, times a block of 8 x 8 weights. Its
// inputs are loaded two steps ahead into two sets of registers, 0 (v0-v3) and 1 (v4-v7), in turns;
// weights into v8 and v9; h22 is the bias.
#include "xtile.h"

// x1-x9: places of the patch's inputs; x11-x19: of its outputs; x20, x21: by how much the inputs
// of set 0 and 1 move; x22: list of these distances; x23: weights; x24: bias; x25: by how much the
// outputs move; x26: output blocks left; x27: pairs of steps; x28: patch table; x29: kind of the
// next patch, or free; x30:
// flags; x31: partial sums. F: groups of 4 side by side, two a load; H: groups of halves; G: all;
// P: places of both; L: loads of a step.

.macro multiply set, group
  amp.b   \group, 8*\set+(\group), 8+\set
.endm
// Load number `number` of a set: of two groups, or of a group of halves.
.macro load set, number
.if (\number) < F/2
  ld8     4*\set+(\number), 1+2*(\number), 2+2*(\number), 20+\set
.else
  ld4h    8*\set+F+(\number)-F/2, F+1+2*((\number)-F/2), F+2+2*((\number)-F/2), 20+\set
.endif
.endm
.macro load_distance set
  lw.p    20+\set, 22, 4
.endm
.macro load_weights set
  ldw.b   8+\set, 23
.endm
.macro store group
.if (\group) < F
  st.b    \group, 11+(\group), 25
.else
  st.bh   \group, 11+F+2*((\group)-F), 12+F+2*((\group)-F), 25
.endif
.endm
// The first group after which load number k may overwrite its registers.
.macro find_ready
.if k < F/2
  .set ready, 2*k+1
.else
  .set ready, F+k-F/2
.endif
.endm
.macro each_group instruction:vararg
  .set g, 0
.rept G
  \instruction
  .set g, g+1
.endr
.endm

// A step on `set`: a multiplication a slot, and beside it a load. Of four groups or more (LATE)
// the last load of a set comes with the next step, where the pointers are still those of `other`,
// and so does the set's next distance.
.macro step set, other
  .set g, 0
  .set k, 0
  .set extra, 0
.rept G
  multiply \set, g
  find_ready
.if LATE && g == 0
  load    \other, L-1
.elseif LATE && g == 1
  load_distance \other
.elseif LATE && g == G-1
  load_weights \set
.elseif k < L-LATE && ready <= g
  load    \set, k
  .set k, k+1
.else
  nop
.endif
  .set g, g+1
.endr
.rept L-LATE-k
  load    \set, k
  .set k, k+1
  .set extra, extra+1
.endr
.if LATE == 0
  load_distance \set
  load_weights \set
.endif
.if extra & 1
  nop
.endif
.endm

// The last of an odd number of steps, on set 0: then both sets are loaded anew, so that the next
// block begins with set 0. The list holds a distance of 0 for it.
.macro last_step
  .balign 8
  .set g, 0
  .set k, 0
.rept G
  multiply 0, g
  find_ready
.if LATE && g == 0
  load    1, L-1
.elseif LATE && g == 1
  load_distance 1
.elseif k < L && ready <= g
  load    0, k
  .set k, k+1
.else
  nop
.endif
  .set g, g+1
.endr
  addi    x23, x23, -64
  load_weights 0
.rept L-k
  load    0, k
  .set k, k+1
.endr
  load_distance 0
  load_weights 1
  .set k, 0
.rept L-LATE
  load    1, k
  .set k, k+1
.endr
.if LATE == 0
  load_distance 1
.endif
.endm

// All output blocks of one patch. Flags: 1 begins with partial sums, 2 ends with them, 4 an odd
// number of steps, 8 all blocks have the same weights, 16 a single step.
.macro patch full, halves
  .set F, \full
  .set H, \halves
  .set G, F+H
  .set P, F+2*H
  .set L, F/2+H
  .set LATE, 0
.if G >= 4
  .set LATE, 1
.endif
  load_distance 0
  .set k, 1
.rept P
  lw.p    k, 28, 4
  .set k, k+1
.endr
  add     x20, x20, x21
  load_distance 1
  ldh.b   22, 24
  load_weights 0
  .set k, 0
.rept L
  load    0, k
  .set k, k+1
.endr
  load_weights 1
  .balign 8
  .set k, 0
.rept P
.if k < G
  set.b   k, 22
.endif
  lw.p    11+k, 28, 4
  .set k, k+1
.endr
  .set k, 0
.rept L-LATE
  load    1, k
  .set k, k+1
.endr
  load_distance 0
.if LATE == 0
  load_distance 1
.endif
  lw.p    x29, x28, 4
  bnez    x30, 6f
  .balign 8
1:
  ldh.b   22, 24
  rpt     x27, 2f
  step    0, 1
  step    1, 0
2:
  bnez    x30, 4f
3:
  store   0
  .set g, 0
.rept G-1
  set.b   g, 22
  store   g+1
  .set g, g+1
.endr
  set.b   G-1, 22
  lw      x25, 36(x10)
  bdnz    x26, 1b
21:
  bltz    x29, 22f
  j       patches
22:
  xctl    0
4:
  li      x29, 4
  bne     x30, x29, 40f
  last_step
  lw      x29, -4(x28)
  j       3b
40:
  andi    x29, x30, 4
  beqz    x29, 41f
  last_step
41:
  andi    x29, x30, 8
  beqz    x29, 42f
  lw      x23, 8(x10)
  addi    x23, x23, 128
42:
  andi    x29, x30, 19
  bnez    x29, 46f
  lw      x29, -4(x28)
  j       3b
46:
  andi    x29, x30, 2
  beqz    x29, 44f
  andi    x29, x30, 1
  beqz    x29, 43f
  addi    x31, x31, -128*G
43:
  each_group st.acc g, 31
  j       45f
44:
  each_group store g
  lw      x25, 36(x10)
45:
  addi    x26, x26, -1
  bnez    x26, 5f
  lw      x29, -4(x28)
  j       21b
5:
  each_group set.b g, 22
6:
  andi    x29, x30, 1
  beqz    x29, 7f
  each_group ld.acc g, 31
7:
  bnez    x27, 1b
  ldh.b   22, 24
  j       4b
.endm

// a0: {input, output, weights, bias, distances, patch table, kind of the first patch, output
// blocks, pairs of steps, bytes of an output plane, mode, partial sums, flags}. The table: {places
// of inputs, places of outputs, kind of the next patch} for each patch, with a negative kind at
// its end. Kinds are distances of jumps.
codelet convolve
  lw      x1, 40(x10)
  lw      x29, 24(x10)
  lw      x28, 20(x10)
  lw      x27, 32(x10)
  lw      x31, 44(x10)
  lw      x30, 48(x10)
  mode.b  x1
patches:
  lw      x22, 16(x10)
  lw      x21, 0(x10)
  lw      x24, 12(x10)
  lw      x23, 8(x10)
  lw      x26, 28(x10)
  lw      x25, 4(x10)
  beqz    x29, patch_6_1
  auipc   x1, 0
  add     x1, x29, x1
  jalr    x0, 8(x1)         // the jump of this kind below; patch_6_1 has none
  j       patch_8_0
  j       patch_6_0
  j       patch_4_1
  j       patch_4_0
  j       patch_2_1
  j       patch_2_0
  j       patch_0_1
  j       patch_0_4
patch_6_1:
  patch   6, 1
patch_8_0:
  patch   8, 0
patch_6_0:
  patch   6, 0
patch_4_1:
  patch   4, 1
patch_4_0:
  patch   4, 0
patch_2_1:
  patch   2, 1
patch_2_0:
  patch   2, 0
patch_0_1:
  patch   0, 1
patch_0_4:
  patch   0, 4
end_codelet convolve

// The distances of `convolve` and `pool_max` from a step's inputs to the next one's, of all blocks
// in a row: each block has `kept` planes, each plane `taps`. a0: {distances, u16 numbers of the
// kept planes or 0 for all, offsets of the taps, taps, blocks, kept planes of a block, bytes of an
// input plane, odd number of steps, planes go on from block to block}.
codelet prepare
  lw      x7, 8(x10)
  lw      x8, 12(x10)
  lw      x5, 0(x10)
  lw      x6, 4(x10)
  lw      x9, 16(x10)
  lw      x11, 20(x10)
  lw      x12, 24(x10)
  lw      x13, 28(x10)
  lw      x14, 32(x10)
  slli    x24, x8, 2        // from a plane's first distance to the next one's
  add     x20, x7, x24
  lw      x25, 0(x7)
  lw      x27, -4(x20)
  slli    x13, x13, 2
  sub     x27, x27, x25     // from the first tap to the last
  li      x15, 0            // offset of the step before
  li      x16, 0            // plane
  li      x17, 0            // 4: a 0 stands behind the block's first distance
1:
  add     x18, x5, x17
  mv      x20, x18
  bnez    x14, 2f
  li      x16, 0
2:
  beqz    x6, 3f
  rpt     x11, 4f
  lhu.p   x19, x6, 2
  mul     x21, x19, x12
  add     x21, x21, x25
  sub     x22, x21, x15
  add     x15, x21, x27
  sw      x22, 0(x20)
  add     x20, x20, x24
4:
  j       5f
3:
  rpt     x11, 5f
  mul     x21, x16, x12
  addi    x16, x16, 1
  add     x21, x21, x25
  sub     x22, x21, x15
  add     x15, x21, x27
  sw      x22, 0(x20)
  add     x20, x20, x24
5:
  addi    x22, x8, -1
  beqz    x22, 7f
  mv      x21, x7
  mv      x23, x18
6:
  lw      x28, 0(x21)
  lw      x29, 4(x21)
  addi    x21, x21, 4
  addi    x23, x23, 4
  mv      x20, x23
  sub     x28, x29, x28
  rpt     x11, 8f
  sw      x28, 0(x20)
  add     x20, x20, x24
8:
  bdnz    x22, 6b
7:
  beqz    x17, 9f
  lw      x21, 0(x18)
  sw      x0, 0(x18)
  sw      x21, 0(x5)
9:
  mul     x21, x11, x24
  mv      x17, x13
  add     x5, x18, x21
  bdnz    x9, 1b
.rept 4
  sw.p    x0, x5, 4
.endr
  xctl    0
end_codelet prepare

// The largest of an even number of taps, plane by plane, in patches of four groups of halves: sets
// 0 (v0, v1) and 1 (v2, v3) in turns, results in v4 and v5. a0: {input, output, distances, patch
// table, planes, bytes of an output plane, pairs of taps}. Registers as above.
.macro load_places set
  .set k, 0
.rept 4
  ld4h    4*\set+k, 1+2*k, 2+2*k, 20+\set
  .set k, k+1
.endr
  load_distance \set
.endm

codelet pool_max
  lw      x28, 12(x10)
  lw      x27, 24(x10)
  addi    x27, x27, -1
1:
  lw      x22, 8(x10)
  lw      x21, 0(x10)
  lw      x26, 16(x10)
  lw      x25, 4(x10)
  lw.p    x20, x22, 4
  .set k, 0
.rept 8
  lw.p    1+k, 28, 4
  .set k, k+1
.endr
  add     x20, x20, x21
  load_distance 1
  .set k, 0
.rept 8
  lw.p    11+k, 28, 4
  .set k, k+1
.endr
  lw.p    x29, x28, 4
  load_places 0
  load_places 1
2:
  max.8b  v4, v0, v2
  max.8b  v5, v1, v3
  load_places 0
  load_places 1
  beqz    x27, 4f
  .balign 8
  nop
  rpt     x27, 3f
  max.8b  v4, v4, v0
  max.8b  v5, v5, v1
  load_places 0
  max.8b  v4, v4, v2
  max.8b  v5, v5, v3
  load_places 1
3:
4:
  .set k, 0
.rept 4
  st4h    8+k, 11+2*k, 12+2*k, 25
  .set k, k+1
.endr
  lw      x25, 20(x10)
  bdnz    x26, 2b
  bgez    x29, 1b
  xctl    0
end_codelet pool_max
