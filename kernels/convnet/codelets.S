// Convolutions of int8 and int16 and similar operators, for machines with a matrix unit for these types. An
// activation is planes of 8 or 4 channels, [plane][row][column][channel]; a position is 8 bytes. A group is 4 positions: 4
// adjacent ones, or 2 and 2 ("halves"). A patch is up to 8 groups computed together; patches.h and calls.h make the tables
// and argument blocks.
//
// A step adds inputs of one plane, shifted by one kernel tap, times a block of weights. Its inputs are loaded two steps
// ahead into two alternating sets of registers, 0 (v0-v3) and 1 (v4-v7); weights into v8 and v9; h22 is the bias.
#include "xtile.h"


// x2-x9: places of the patch's inputs; x11-x18: of its outputs; x1: patches of a run left, or free;
// x19: bytes from patch to patch, or the weights; x20, x21: distances for the inputs of set 0 and 1; x22: list of these
// distances; x23: weights; x24: bias; x25: distance for the outputs;
// x26: output blocks left; x27: pairs of steps; x28: patch table; x29: kind of the next patch, or
// free; x30: mode and flags; x31: partial sums, or 1 if bit 31 is not set.

#include "kernels/convnet/runs.inc"

// All output blocks of patches of one kind. Flags, in addition to the mode: 64 begins with partial sums, 128 ends with
// them, 256 an odd number of steps, 512 all blocks have the same weights, 1024 a single step; bit 31: any of these, or
// fewer than 4 steps; bit 30: only an odd number of steps; bit 29: only the same weights.
.macro patch full, halves
  define_patch \full, \halves
  .set INPUTS, 2
  .set HALVES, 8
  .set ROUNDED, 23
  .set LATE, 0
.if G >= 4
  .set LATE, 1
.endif
  .balign 8
  load_distance 0
.if RUN == 0
  lw      x27, 32(x10)
.elseif (P+L)&1           // pairs follow
  lw      x27, 52(x10)
.endif
  load_input_places
  add     x20, x20, x21
  load_distance 1
  ldh.b   22, 24
  load_weights 0
  times   k, L, load    0, k
  load_weights 1
  .balign 8
  load_output_places
.if RUN != 0 && ((P+L)&1) == 0
  lw      x27, 52(x10)
.endif
  times   k, L-LATE, load    1, k
  load_distance 0
.if LATE == 0
  load_distance 1
.endif
.if RUN
  lw      x1, 0(x28)
  bltz    x30, 6f
  lw      x19, 4(x28)
  .balign 8
  set.b   G-1, 22
  nop
  run_patches j 21f
.else
  bltz    x30, 6f
  lw      x29, 0(x28)
.endif
  .balign 8
1:
  ldh.b   22, 24
  rpt     x27, 2f
  step    0, 1
  step    1, 0
2:
  bltz    x30, 4f
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
  addi    x28, x28, RUN+4
  j       90b
22:
  xctl    0
4:
  slli    x1, x30, 1
  bgez    x1, 40f
  last_step
  j       3b
40:
  slli    x1, x30, 2
  bgez    x1, 41f
  addi    x23, x19, 2*BLOCK
  j       3b
41:
  andi    x1, x30, 256
  beqz    x1, 42f
  last_step
42:
  andi    x1, x30, 512
  beqz    x1, 43f
  addi    x23, x19, 2*BLOCK
43:
  andi    x1, x30, 1216
  beqz    x1, 3b
  andi    x1, x30, 128
  beqz    x1, 45f
  andi    x1, x30, 64
  beqz    x1, 44f
  addi    x31, x31, -128*G
44:
  times   g, G, st.acc g, 31
  j       46f
45:
  times   g, G, store g
  lw      x25, 36(x10)
46:
  addi    x26, x26, -1
  bnez    x26, 5f
  j       21b
5:
  times   g, G, set.b g, 22
  j       7f
6:
  lw      x29, RUN(x28)
  lw      x19, 8(x10)
7:
  andi    x1, x30, 64
  beqz    x1, 8f
  times   g, G, ld.acc g, 31
8:
  bnez    x27, 1b
  ldh.b   22, 24
  j       4b
.endm

// a0: {input, output, weights, bias, distances, patch table, kind of the first patch, output
// blocks, pairs of steps, bytes of an output plane, mode and flags, partial sums or 1, the fourth
// distance, unless bit 31 is set the pairs of steps without the first and last one}.
// The table: {places of inputs, places of outputs, kind of the next patch} for each patch; a negative kind ends it. Kinds
// with more than 4 groups have a run before the next kind: {patches, bytes from the inputs of one to the next one's, from
// the last output plane of one to the first of the next}; unless bit 31 is set, that many patches are computed. Kinds are
// jump distances.
.macro kinds_behind_first each, type
  \each   8, 0, \type
  \each   6, 0, \type
  \each   4, 1, \type
  small_kinds \each, \type
.endm
.macro convolve type
codelet convolve\type
  load_call
90:                         // the next patch
  load_patch
  mode.b  x30
  bnez    x29, other_kinds\type
  patch   6, 1
other_kinds\type:
  auipc   x1, 0
  add     x1, x29, x1
  jalr    x0, 8(x1)         // the jump of this kind below
  kinds_behind_first jump_to_patch, \type
  kinds_behind_first patch_by_jump, \type
end_codelet convolve\type
.endm
each_type convolve

// `prepare`: writes the distances for `convolve` and `pool_max` from a step's inputs to the next one's, for all blocks in
// order, then the first ones again, which lead back to the start: each block has `kept` planes, each plane `taps`. a0:
// {distances, u16 numbers of the kept planes or 0 for all, offsets of
// the taps, taps, blocks, kept planes of a block, bytes of an input plane, odd number of steps,
// planes continue from block to block, length of the list if each distance but a block's first is that of two planes or 0,
// that first distance}.
// The first distance of plane `number`; `before`: offset of the previous plane from the first one. Numbers are loaded two
// planes ahead.
.macro place_number number, plane, before
  mul     \plane, \number, x12
  lhu.p   \number, x6, 2
  sub     x22, \plane, \before
.if TAPS
  sub     x22, x22, x27
  sw      x22, 0(x20)
  add     x20, x20, x24
.else
  sw.p    x22, x20, 4
.endif
.endm
.macro place_numbers
  beqz    x4, 4f
  rpt     x4, 4f
  place_number x19, x21, x31
  place_number x26, x31, x21
4:
  beqz    x13, 5f
  place_number x19, x21, x31
  mv      x31, x21
  mv      x22, x26
  mv      x26, x19
  mv      x19, x22
5:
.endm

codelet prepare
  lw      x20, 36(x10)
  lw      x7, 8(x10)
  lw      x11, 20(x10)
  lw      x12, 24(x10)
  lw      x5, 0(x10)
  lw      x9, 16(x10)
  lw      x3, 40(x10)
  lw      x6, 4(x10)
  beqz    x20, 10f
  lw      x25, 0(x7)        // planes in order, the same for every block
  slli    x11, x11, 2
  mv      x22, x5
  addi    x9, x9, 1         // one more, for the end
  rpt     x20, 11f
  sw.p    x12, x22, 4
11:
  mv      x22, x5
  rpt     x9, 12f
  sw      x3, 0(x22)
  add     x22, x22, x11
12:
  sw      x25, 0(x5)
  xctl    0
10:
  lw      x8, 12(x10)
  lw      x13, 28(x10)
  lw      x25, 0(x7)
  slli    x24, x8, 2        // from a plane's first distance to the next one's
  add     x20, x7, x24
  lw      x27, -4(x20)
  lw      x14, 32(x10)
  addi    x2, x11, -1
  addi    x23, x8, -1
  mul     x3, x2, x12       // from a block's first plane to its last
  slli    x15, x13, 2
  srli    x4, x11, 1
  andi    x13, x11, 1
  mv      x1, x5
  li      x16, 0            // plane
  li      x17, 0            // 4: a 0 follows the block's first distance
  sub     x31, x0, x27      // bytes from the first plane to the one before
  sub     x27, x27, x25     // from the first tap to the last
  sub     x30, x12, x27
  beqz    x6, 1f
  lhu.p   x19, x6, 2
  lhu.p   x26, x6, 2
1:
  add     x18, x5, x17
  mv      x20, x18
  bnez    x6, 3f
  bnez    x14, 2f
  li      x16, 0
2:
  mul     x21, x16, x12
  add     x16, x16, x11
  sub     x22, x21, x31
  sub     x22, x22, x27
  add     x31, x21, x3
  sw      x22, 0(x20)
  beqz    x2, 6f
  bnez    x23, 21f
  addi    x20, x20, 4
  rpt     x2, 20f
  sw.p    x30, x20, 4
20:
  j       7f
21:
  rpt     x2, 22f
  add     x20, x20, x24
  sw      x30, 0(x20)
22:
  j       6f
3:
  bnez    x23, 32f
  .set TAPS, 0
  place_numbers
  j       7f
32:
  .set TAPS, 1
  place_numbers
6:
  beqz    x23, 7f
  lw      x29, 4(x7)
  mv      x28, x25
  addi    x21, x7, 8
  mv      x22, x23
  mv      x8, x18
62:
  addi    x8, x8, 4
  mv      x20, x8
  sub     x10, x29, x28
  mv      x28, x29
  lw.p    x29, x21, 4
  rpt     x11, 8f
  sw      x10, 0(x20)
  add     x20, x20, x24
8:
  bdnz    x22, 62b
7:
  mul     x21, x11, x24
  add     x5, x18, x21
  beqz    x17, 9f
  lw      x21, 0(x18)
  sw      x0, 0(x18)
  sub     x20, x18, x17
  sw      x21, 0(x20)
9:
  mv      x17, x15
  bdnz    x9, 1b
  add     x31, x31, x27
  add     x31, x31, x25     // offset of the last step
  times   k, 4, sw x0, 4*k(x5) // if there are fewer distances
  lw      x20, 0(x1)
  lw      x21, 4(x1)
  lw      x22, 8(x1)
  lw      x23, 12(x1)
  sub     x20, x20, x31     // back to the first step
  sw      x20, 0(x5)
  sw      x21, 4(x5)
  sw      x22, 8(x5)
  sw      x23, 12(x5)
  xctl    0
end_codelet prepare

// Maximum over an even number of taps, plane by plane, in patches of four groups of halves, for bf16 (SHORT: 2) too: sets 0
// (v0, v1) and 1 (v2, v3) alternate, results in v4 and v5. a0: {input,
// output, distances, patch table, planes, bytes of an output plane, pairs of taps}. Registers as
// above.
.macro load_places set
  times   k, 4, ld4h    4*\set+k, 1+2*k, 2+2*k, 20+\set
  load_distance \set
.endm

.macro larger maxima, a, b
.if SHORT == 2
  max.bf16 \maxima, \a, \b
.elseif SHORT
  max.i16 \maxima, \a, \b
.else
  max.8b  \maxima, \a, \b
.endif
.endm

.macro pool_max type
codelet pool_max\type
  lw      x28, 12(x10)
  lw      x27, 24(x10)
  addi    x27, x27, -1
1:
  lw      x22, 8(x10)
  lw      x21, 0(x10)
  lw      x26, 16(x10)
  lw      x25, 4(x10)
  lw.p    x20, x22, 4
  times   k, 8, lw.p    1+k, 28, 4
  add     x20, x20, x21
  load_distance 1
  times   k, 8, lw.p    11+k, 28, 4
  lw.p    x29, x28, 4
  load_places 0
  load_places 1
2:
  larger  v4, v0, v2
  larger  v5, v1, v3
  load_places 0
  load_places 1
  beqz    x27, 4f
  .balign 8
  nop
  rpt     x27, 3f
  larger  v4, v4, v0
  larger  v5, v5, v1
  load_places 0
  larger  v4, v4, v2
  larger  v5, v5, v3
  load_places 1
3:
4:
  times   k, 4, st4h    8+k, 11+2*k, 12+2*k, 25
  lw      x25, 20(x10)
  bdnz    x26, 2b
  bgez    x29, 1b
  xctl    0
end_codelet pool_max\type
.endm
each_type pool_max
  .set SHORT, 2
pool_max _bf16
