#include "xtile.h"
#include "kernels/gemm/positions.inc"

// Y += X W of one weight block. Arguments: W, three words of padding; then for each worker 16 bytes:
// its activation rows - 3 (the pipelined loop's count), its part of X, of the partials, of the results.
.macro matrix_unit name, unit, inputs, outputs
codelet matrix_unit_\name
  set_shape \unit, \inputs, \outputs
  lw a1, 0(a0)
  lla t0, 5f
  ldcw load, a1
  run.block t0, a0, s1, blocks
  xctl 1
  ret

  .balign 8
  nop                           // aligns the loads below and the streams to 8 bytes
5:
  csrr t0, 0xcc0
  slli t0, t0, 4
  add t0, t0, a0
  lw s2, 16(t0)
  lw t3, 20(t0)
  lw t4, 24(t0)
  blez s2, 3f
  last_loads
  long_stream \unit, 1, fmv.s f4, f4
3:
  bltz s2, 2f
  nop
  last_loads
  short_stream \unit, 1, 3
2:
  addi t1, s2, 2
  blez t1, 1f
  last_loads
  short_stream \unit, 1, 2
1:
  bltz t1, 9f
  nop
  last_loads
  short_stream \unit, 1, 1
9:
  xctl 0
end_codelet matrix_unit_\name
.endm

// Paired with the instructions that set f31 to zero.
.macro last_loads
  lw t5, 28(t0)
  fmv.h.x f31, x0
  fld.p f1, t4, 8
  splat.h f31, f31
.endm

every_shape matrix_unit
