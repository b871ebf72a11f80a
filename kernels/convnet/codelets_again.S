// `convolve` again with another input and output, if this worker's previous call was one over the same run of patches:
// everything else is in registers or was prepared at its end.
#include "xtile.h"

#include "kernels/convnet/runs.inc"

// a0: as for `convolve`, without partial sums and shared weights, with an even number of steps, at least 4; but input and
// output are distances from those of the previous call's last patch. The previous call leaves x2-x9 at the inputs of its
// last step and x11-x18 at its last outputs, x20 and x21 with the distances from there to the first two steps, x22 after
// the third distance, x23 at the weights, h22 with the first bias and x24 after it, and x19, x27, x28 and the mode.
// Issues an operation; each of the last G operations is paired with setting the bias of a group.
.macro begin operation:vararg
  \operation
  .set q, q+1
.if q > ALONE
  set.b   q-ALONE-1, 22
.elseif q == ALONE && ALONE & 1
  set.b   0, 22
.endif
.endm
.macro again full, halves, type
  define_patch \full, \halves
  .set ROUNDED, 23
  .set INPUTS, 2
  .set HALVES, 8
  .set LATE, 1
codelet convolve_again_\full\()_\halves\type
  .balign 8
  .set q, 0
  .set ALONE, 2*L+8-G       // operations that are not paired with a bias
  begin   lw      x29, 0(x10)
  begin   load_weights 0
  begin   lw      x25, 4(x10)
  begin   lw      x26, 28(x10)
  begin   lw      x1, 0(x28)
  begin   addi    x22, x22, -4  // the third distance is loaded below
  begin   load_weights 1
  begin   add     x20, x20, x29
  times   k, L, begin   load    0, k
  begin   load_distance 0
  times   k, L-1, begin   load    1, k
  run_patches xctl 0
end_codelet convolve_again_\full\()_\halves\type
.endm

.macro all_again type
  again 6, 1, \type
  again 8, 0, \type
  again 6, 0, \type
  again 4, 1, \type
.endm
each_type all_again
