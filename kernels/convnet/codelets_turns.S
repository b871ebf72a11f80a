// Convolutions of few positions, like `convolve` (codelets.S), block by block, for blocks with inputs of their own: four
// steps per iteration, so that loads paired with few multiplications arrive in time. All patches of the table are of one
// kind.
//
// Weights of a step are loaded three steps ahead into four rotating registers, inputs two steps ahead into two sets of
// registers; with one or two groups four steps ahead into four sets. h22 is the bias.
#include "xtile.h"

#include "kernels/convnet/patch.inc"

// x1-x8: places of the patch's inputs; x11-x18: of its outputs; x20, x21, x9, x19: rotating distances for the inputs; x22:
// list of these distances; x23: weights; x24: bias; x25: distance for the outputs; x26: output blocks left; x27:
// iterations; x28: patch table; x29: kind of the next
// patch; x31: flags and mode.

.macro find_distance step
  .set distance, 20+(\step)%4
.if distance > 21
  .set distance, 9+10*(distance-22)
.endif
.endm
.macro load_distance step
  find_distance \step
  lw.p    distance, 22, 4
.endm
.macro load_weights step
  load_block WEIGHTS+(\step)%4, 23
.endm
.macro load_input step, number
  find_distance \step
  load_by distance, ((\step)%SETS), \number
.endm
.macro multiply step, group
  multiply_block \group, 2*V*((\step)%SETS)+(\group), WEIGHTS+(\step)%4
.endm
.macro multiply_next
  multiply (first+slot/G), slot%G
.endm
// Issues the loads paired with a step, from multiplication `begin` on, in an order in which inputs arrive in time and no
// slot is left empty.
.macro beside_step step, begin
  .set weights_last, G == 3 && (\step) % 2
.if weights_last == 0
  beside  \begin, load_weights \step+3
.endif
  beside_loads \begin, load_input, \step, 0, 0
.if G != 3
  beside  \begin, load_distance \step+3
.endif
  beside_loads \begin, load_input, \step, 1, L-1
.if weights_last
  beside  \begin, load_weights \step+3
.endif
.if G == 3
  beside  \begin, load_distance \step+3
.endif
.endm
// Steps `from` and `from` + 1: each slot pairs a multiplication with a load.
.macro two_steps from
  .set first, \from
  begin_slots 0, 2*G
  beside_step \from, 0
  beside_step \from+1, G
  end_slots
.endm

// a0: as for `convolve`, with the number of iterations instead of the pairs of steps. Without partial sums and shared
// weights.
.macro turns full, halves, type
  define_patch \full, \halves
  .set ROUNDED, 23
  .set V, (G+1)/2
  .set SETS, 2
.if G <= 2
  .set SETS, 4
.endif
  .set WEIGHTS, V*SETS
  .set HALVES, 2*V
codelet convolve_turns_\full\()_\halves\type
  lw      x28, 20(x10)
  lw      x31, 40(x10)
1:
  load_patch 20
  lw      x27, 32(x10)
  load_input_places
  lw.p    x30, x22, 4
  mode.b  x31
  times   k, SETS-1, load_distance k+1
  ldh.b   22, 24
  load_weights 0
  load_weights 1
  load_weights 2
  add     x20, x20, x30
  .balign 8
  load_output_places
  times   step, SETS, times   k, L, load_input step, k
  load_distance 0
  load_distance 1
  load_distance 2
  lw      x29, RUN(x28)
  .balign 8
2:
  ldh.b   22, 24
  rpt     x27, 3f
  two_steps 0
  two_steps 2
3:
  store_groups
  set.b   G-1, 22
  bdnz    x26, 2b
  addi    x28, x28, RUN+4
  bgez    x29, 1b
  xctl    0
end_codelet convolve_turns_\full\()_\halves\type
.endm

.macro all_turns type
  turns 0, 1, \type
  turns 2, 0, \type
  turns 2, 1, \type
  turns 4, 0, \type
  turns 0, 4, \type
  turns 4, 1, \type
.endm
each_type all_turns
