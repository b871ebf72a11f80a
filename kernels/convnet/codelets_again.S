// `convolve` once more, with another input and output: where the call before on this worker was one
// over the same run of patches, all else is in registers or made ready by its end.
#include "xtile.h"

#include "kernels/convnet/convolve.inc"

// a0: as for `convolve`, without partial sums and shared weights, with an even number of steps, 4 at
// least; but instead of input and output how far they lie behind those of the last patch before. The
// call before has left x1-x8 (x1 in x19) at the inputs of its last step and x11-x18 at its last outputs, x20
// and x21 with the distances from there to the first two steps, x22 at the list of distances, x23
// behind the first weights, which v8 holds, h22 with the first bias and x24 behind it, x9, x27, x28
// and the mode.
.macro again full, halves
  define_patch \full, \halves
  .set LATE, 1
codelet convolve_again_\full\()_\halves
  lw      x29, 0(x10)
  addi    x22, x22, 8
  mv      x1, x19
  load_weights 1
  lw      x25, 4(x10)
  lw      x26, 28(x10)
  nop
  add     x20, x20, x29
  .balign 8
  .set k, 0
.rept 2*L-LATE+2
.if k < G-1
  set.b   k, 22
.else
  set.b   G-1, 22
.endif
.if k < L
  load    0, k
.elseif k == L
  load_distance 0
.elseif k <= 2*L-LATE
  load    1, k-L-1
.else
  j       51f
.endif
  .set k, k+1
.endr
  .balign 8
  run_patches
  xctl    0
end_codelet convolve_again_\full\()_\halves
.endm

again 6, 1
again 8, 0
again 6, 0
again 4, 1
