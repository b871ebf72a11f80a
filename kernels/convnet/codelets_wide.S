// Convolutions of few positions, like `convolve` (codelets.S), for several output blocks at a time: all use the same
// inputs, which are loaded once; loading their weights fills the latency. A patch has G groups and BLOCKS output blocks, an
// accumulator for each pair of them.
//
// Weights are loaded one step ahead into v2-v9 (eight blocks) or two steps ahead into two alternating sets of registers
// after those of the inputs. h20-h23 are biases.
#include "xtile.h"

#include "kernels/convnet/patch.inc"

// x1-x9: places of the patch's inputs, then weights of each block; x11-x19: places of its outputs, then the remaining
// weights; x20, x21: distances for the inputs of set 0 and 1; x22: list of these distances; x23: weights of the next
// round's first block; x24: bias; x25: distance for the outputs; x26: rounds of output blocks left; x27: pairs of steps;
// x28: patch table;
// x30: bytes of a block's weights; x31: partial sums.

.macro find_pointer block
  .set pointer, P+1+(\block)
.if pointer > 9
  .set pointer, pointer+1+P
.endif
.endm
.macro multiply set, block, group
  multiply_block (\block)*G+(\group), HALVES*\set+(\group), WEIGHTS+AHEAD*\set+(\block)
.endm
.macro multiply_next
  multiply SET, (slot/G), slot%G
.endm
.macro load_weights set, block
  find_pointer \block
  load_block WEIGHTS+AHEAD*\set+(\block), pointer
.endm
.macro load_distance set
  lw.p    20+\set, 22, 4
.endm

// A step on `set`: each slot pairs a multiplication with a load.
.macro step set, other
  .set SET, \set
  begin_slots 0, BLOCKS*G
  beside  0, load_distance \other
.if LATE
  beside  0, load_weights \other, BLOCKS-1
.endif
  times   b, BLOCKS-LATE, beside  (b+1)*G-1, load_weights \set, b
  beside_loads (BLOCKS-1)*G, load, \set, 0, L-1
  end_slots
.if alone & 1
  nop
.endif
.endm
.macro each instruction:vararg
  times   b, BLOCKS, times   g, G, \instruction
.endm
.macro load_inputs set
  times   k, L, load    \set, k
.endm
.macro load_biases
  times   k, BIASES, ldh.b   20+k, 24
.endm
.macro set_biases first
  times   b, BIASES, times   g, G, set.b   (\first+b)*G+g, 20+b
.endm

// a0: as for `convolve`, with the bytes of a block's weights instead of the kind of the first patch, and the rounds instead
// of the output blocks. All patches of the table are of this kind.
// Pointers: the x registers of all blocks' weights.
.macro wide type, full, halves, blocks, pointers:vararg
  define_patch \full, \halves
  .set BLOCKS, \blocks
  .set ROUNDED, 23
.if BLOCKS == 8
  .set HALVES, 1
  .set WEIGHTS, 2
  .set AHEAD, 0
  .set LATE, 0
  .set BIASES, 4
  .set ROUNDED, 3
.else
  .set HALVES, 8/BLOCKS
  .set WEIGHTS, HALVES
  .set AHEAD, BLOCKS
  .set LATE, 1
  .set BIASES, BLOCKS
.endif
codelet convolve_\full\()_\halves\type
  lw      x28, 20(x10)
  lw      x31, 44(x10)
  lw      x30, 24(x10)
1:
  lw      x24, 12(x10)
  lw      x23, 8(x10)
  lw      x1, 40(x10)
  lw      x26, 28(x10)
  lw      x25, 4(x10)
  addi    x29, x28, 4*P
  times   k, P, lw.p    11+k, 29, 4
  mode.b  x1
2:
  lw      x22, 16(x10)
  lw      x21, 0(x10)
  lw      x29, 40(x10)
  load_biases
.irp n, \pointers
  mv      x\n, x23
  add     x23, x23, x30
.endr
  load_distance 0
  times   k, P, lw.p    k+1, 28, 4
  addi    x28, x28, -4*P
  .set b, 0
.rept BLOCKS
  load_weights 0, b
.if LATE && b < BLOCKS-1
  load_weights 1, b
.endif
  .set b, b+1
.endr
  add     x20, x20, x21
  load_distance 1
  load_inputs 0
  andi    x27, x29, 64
  load_distance 0
  load_inputs 1
  bnez    x27, 3f
  lw      x27, 32(x10)
  set_biases 0
.if BIASES < BLOCKS
  load_biases
  set_biases BIASES
.endif
  j       4f
3:
  lw      x27, 32(x10)
  each    ld.acc b*G+g, 31
4:
  beqz    x27, 5f
  .balign 8
  nop
  rpt     x27, 5f
  step    0, 1
  step    1, 0
5:
  andi    x27, x29, 256
  beqz    x27, 6f
  each    multiply 0, b, g
6:
  andi    x27, x29, 128
  bnez    x27, 7f
  .set b, 0
.rept BLOCKS
  times   g, G, store   g, b
.if b == 0
  lw      x25, 36(x10)
.endif
  .set b, b+1
.endr
  j       9f
7:
  andi    x29, x29, 64
  beqz    x29, 8f
  addi    x31, x31, -128*G*BLOCKS
8:
  each    st.acc b*G+g, 31
9:
  bdnz    x26, 2b
  addi    x28, x28, 8*P
  lw.p    x29, x28, 4
  bgez    x29, 1b
  xctl    0
end_codelet convolve_\full\()_\halves\type
.endm

.macro all_wide type
  wide "\type", 0, 1, 8, 3, 4, 5, 6, 7, 8, 9, 13
  wide "\type", 2, 0, 4, 3, 4, 5, 6
  wide "\type", 2, 1, 2, 5, 6
  wide "\type", 4, 0, 2, 5, 6
  wide "\type", 0, 4, 2, 9, 19
.endm
each_type all_wide
