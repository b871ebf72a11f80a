// `convolve` once more, with another input and output: where the call before on this worker was one
// over the same run of patches, all else is in registers or made ready by its end.
#include "xtile.h"

#include "kernels/convnet/runs.inc"

// a0: as for `convolve`, without partial sums and shared weights, with an even number of steps, 4 at
// least; but instead of input and output how far they lie behind those of the last patch before. The
// call before has left x2-x9 at the inputs of its last step and x11-x18 at its last outputs, x20
// and x21 with the distances from there to the first two steps, x22 behind the third distance, x23
// at the weights, h22 with the first bias and x24 behind it, x19, x27, x28 and the mode.
.macro begin_operation number
.if (\number) == 0
  lw      x29, 0(x10)
.elseif (\number) == 1
  load_weights 0
.elseif (\number) == 2
  lw      x25, 4(x10)
.elseif (\number) == 3
  lw      x26, 28(x10)
.elseif (\number) == 4
  lw      x1, 0(x28)
.elseif (\number) == 5
  addi    x22, x22, -4      // the third distance comes below
.elseif (\number) == 6
  load_weights 1
.elseif (\number) == 7
  add     x20, x20, x29
.elseif (\number) <= L+7
  load    0, (\number)-8
.elseif (\number) == L+8
  load_distance 0
.else
  load    1, (\number)-L-9
.endif
.endm
.macro again full, halves
  define_patch \full, \halves
  .set INPUTS, 2
  .set LATE, 1
codelet convolve_again_\full\()_\halves
  .balign 8
  times   q, 2*L+8-G, begin_operation q
  .set g, 0
.if (2*L+8-G)&1
  set.b   0, 22
.endif
.rept G
  begin_operation q
  set.b   g, 22
  .set q, q+1
  .set g, g+1
.endr
  run_patches xctl 0
end_codelet convolve_again_\full\()_\halves
.endm

again 6, 1
again 8, 0
again 6, 0
again 4, 1
