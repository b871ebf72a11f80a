// The STREAM loops. a0: {scalar, 0}, then for each worker {a, b, c, loop bodies - 1}; a body is two slots for
// two 64-bit words: each pair stores the result of the pair before and loads for the next.
#include "xtile.h"

// t3, t4, t5: b, c and a of this worker; t2: repetitions of the body; f0: the scalar
.macro stream_arguments
  csrr    t0, 0xcc0
  flw     f0, 0(a0)
  slli    t0, t0, 4
  add     t0, t0, a0
  lw      t3, 12(t0)
  lw      t4, 16(t0)
  lw      t5, 8(t0)
  lw      t2, 20(t0)
.endm

// Two operands: result = compute(word f2 of b, word f3 of c), alternately in f4 and f5.
.macro stream_three name, splat, compute
codelet \name
  stream_arguments
  ld2     f2, f3, t3, t4
  \splat  f0, f0
  \compute f4
  ld2     f2, f3, t3, t4
  beqz    t2, 1f
  rpt     t2, 1f
  \compute f5
  ld2st   f2, f3, f4
  \compute f4
  ld2st   f2, f3, f5
1:
  \compute f5
  fsd.p   f4, t5, 8
  fsd.p   f5, t5, 8
  xctl    0
end_codelet \name
.endm

// One operand: result = compute(word f2 of b).
.macro stream_two name, splat, compute
codelet \name
  stream_arguments
  fld.p   f2, t3, 8
  \splat  f0, f0
  \compute f4
  fld.p   f2, t3, 8
  beqz    t2, 1f
  rpt     t2, 1f
  \compute f5
  ldst    f2, f4, t3, t5
  \compute f4
  ldst    f2, f5, t3, t5
1:
  \compute f5
  fsd.p   f4, t5, 8
  fsd.p   f5, t5, 8
  xctl    0
end_codelet \name
.endm

.macro copy_word to
  fsgnj.d \to, f2, f2
.endm
.macro scale_f32 to
  mul.2s  \to, f0, f2
.endm
.macro scale_f16 to
  mul.4h  \to, f0, f2
.endm
.macro add_f32 to
  add.2s  \to, f2, f3
.endm
.macro add_f16 to
  add.4h  \to, f2, f3
.endm
.macro triad_f32 to
  axpy.2s \to, f0, f3, f2
.endm
.macro triad_f16 to
  axpy.4h \to, f0, f3, f2
.endm

stream_two   stream_copy_f32, splat.s, copy_word
stream_two   stream_copy_f16, splat.h, copy_word
stream_two   stream_scale_f32, splat.s, scale_f32
stream_two   stream_scale_f16, splat.h, scale_f16
stream_three stream_add_f32, splat.s, add_f32
stream_three stream_add_f16, splat.h, add_f16
stream_three stream_triad_f32, splat.s, triad_f32
stream_three stream_triad_f16, splat.h, triad_f16
