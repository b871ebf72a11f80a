// Convolutions of bf16, like `convolve` (codelets.S), and similar operators. Planes have 4 channels. A step multiplies the
// 8 inputs of two planes, words interleaved, and adds to the outputs of two planes. A patch has at most 4 groups, G, and an
// accumulator for each group of each output
// plane.
//
// Inputs are loaded two steps ahead into two alternating sets of G vector registers, weights into two sets of two registers
// after them: those of the second plane one step ahead. BIAS is the register of the biases, ROUNDED that of rounded halves.
// With 4 groups both use registers of the last inputs of set 1, which are then loaded again through the unchanged pointers.
#include "xtile.h"

#include "kernels/convnet/patch.inc"

// x1-x8: places of the patch's inputs; x11-x18: of its outputs; x19: bytes from an input plane to
// the next; x20, x21: distances for the inputs of set 0 and 1; x22: list of these distances; x23: weights; x24: bias; x25:
// distance for the outputs; x26: pairs of output planes left;
// x27: pairs of steps; x28: patch table; x29: kind of the next patch; x30: flags and mode; x31:
// partial sums.

.macro define_kind full, halves
  define_patch \full, \halves
  .set WEIGHTS, 2*G
  .set BIAS, 11
  .set ROUNDED, 20
.if G == 4
  .set BIAS, 2*G-1
  .set ROUNDED, 2*BIAS-1
.endif
  .set LOADS, F+2*H
.endm
.macro multiply_next
  amp.bf16 slot, G*SET+slot%G, WEIGHTS+2*SET+slot/G
.endm
.macro load_distance set
  lw.p    20+\set, 22, 4
.endm
.macro load_weights set, plane
  ldw.b   WEIGHTS+2*\set+\plane, 23
.endm
// Load `number` of a set: a group, or half of one.
.macro load_moved set, number, distance
.if (\number) < F
  ld8z    G*(\set)+(\number), INPUTS+(\number), 19, \distance
.else
  ld4z    2*(G*(\set)+F)+(\number)-F, INPUTS+(\number), 19, \distance
.endif
.endm
.macro load_inputs set, number
  load_moved \set, \number, 20+\set
.endm
// Paired with the multiplications of the second plane, each the last use of a register.
.macro beside_inputs set
  .set k, 0
.rept LOADS
  .set last_use, G+k
.if k >= F
  .set last_use, G+F+(k-F)/2
.endif
  beside  last_use, load_inputs \set, k
  .set k, k+1
.endr
.endm
.macro end_step
  end_slots
.if alone & 1
  nop
.endif
.endm
.macro step set, other
  .set SET, \set
  begin_slots 0, 2*G
  beside  0, load_distance \other
  beside  0, load_weights \other, 1
  beside  G-1, load_weights \set, 0
  beside_inputs \set
  end_step
.endm
// The last of an odd number of steps, on set 0: both sets are reloaded, so that the next planes begin with set 0. The list
// has a distance of 0 for it.
.macro last_step
  .set SET, 0
  addi    x23, x23, -64
  nop
  begin_slots 0, 2*G
  beside  0, load_distance 1
  beside  G-1, load_weights 0, 0
  beside_inputs 0
  end_step
  load_weights 0, 1
  load_weights 1, 0
  load_distance 0
  times   k, LOADS, load_inputs 1, k
.endm
.macro load_biases
  ldh.b   2*BIAS, 24
  ldh.b   2*BIAS+1, 24
.endm
.macro store_plane plane
  .set g, 0
.rept G
.if g < F
  st.bf16 (\plane)*G+g, 11+g, 25
.else
  .set place, 11+F+2*(g-F)
  srs.bf16 ROUNDED, (\plane)*G+g
  nop
  st4h    ROUNDED, place, place+1, 25
.endif
  set.b   (\plane)*G+g, 2*BIAS+(\plane)
  .set g, g+1
.endr
.endm
.macro each_sum instruction:vararg
  times   g, 2*G, \instruction
.endm

// All output planes of a patch.
.macro patch full, halves
  define_kind \full, \halves
  .balign 8
  load_distance 0
  load_input_places
  add     x20, x20, x21
  load_distance 1
  load_biases
  lw      x27, 32(x10)
  times   k, LOADS, load_inputs 0, k
  load_weights 0, 0
  load_weights 0, 1
  load_weights 1, 0
  load_distance 0
  times   k, P, lw.p    11+k, 28, 4
  each_sum set.b g, 2*BIAS+g/G
  times   k, LOADS, load_inputs 1, k
1:
  andi    x29, x30, 64
  beqz    x29, 2f
  each_sum ld.acc g, 31
2:
  beqz    x27, 4f
  .balign 8
  nop
  rpt     x27, 3f
  step    0, 1
  step    1, 0
3:
  andi    x29, x30, 256
  beqz    x29, 5f
4:
  .balign 8
  last_step
5:
  load_biases
  andi    x29, x30, 128
  bnez    x29, 7f
  .balign 8
  store_plane 0
  lw      x25, 36(x10)
  nop
  store_plane 1
6:
.if BIAS < WEIGHTS
  load_moved 1, LOADS-1, 0
.if H
  load_moved 1, LOADS-2, 0
  load_moved 1, LOADS-3, 0
.endif
.endif
  andi    x29, x30, 512
  beqz    x29, 61f
  lw      x23, 8(x10)
  addi    x23, x23, 192     // two steps, without the second plane's weights
61:
  bdnz    x26, 1b
  lw.p    x29, x28, 4
  bgez    x29, 90b
  xctl    0
7:
  andi    x29, x30, 64
  beqz    x29, 8f
  addi    x31, x31, -256*G
8:
  each_sum st.acc g, 31
  each_sum set.b g, 2*BIAS+g/G
  j       6b
.endm

// a0: as for `convolve`, except that output blocks are pairs of planes, and the bytes of an input plane follow.
codelet convolve_bf16
  load_call
  lw      x19, 56(x10)
  mode.b  x30
90:                         // the next patch
  load_patch
  auipc   x1, 0
  add     x1, x29, x1
  jalr    x0, -4(x1)        // the jump of this kind; the first existing one has number 16
  small_kinds jump_to_patch
  small_kinds patch_by_jump
end_codelet convolve_bf16
