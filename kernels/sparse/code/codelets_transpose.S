// Transposes squares of elements, a 64-bit word wide. Arguments: source, destination; then for each worker 8
// bytes: its list, its runs. A run of the list is 20 bytes: offsets in source and destination (u32), squares,
// bytes between the words of a square and to the next square in the source, the same in the destination,
// padding (u16 each).
#include "xtile.h"

.macro transpose name, lanes
codelet \name
  worker_arguments t0, 8
  lw a3, 12(t0)               // runs
  lw a1, 8(t0)
  beqz a3, 5f
  lw a2, 0(a0)
  lw a4, 4(a0)
1:// run
  lw.p a5, a1, 4
  lw.p a6, a1, 4
  lhu.p s0, a1, 2             // squares
  lhu.p s1, a1, 2
  lhu.p s2, a1, 2
  lhu.p s3, a1, 2
  lhu.p s4, a1, 2
  lhu.p s5, a1, 2
  add a5, a5, a2
  add a6, a6, a4
  .balign 8
2:// square
  fld f0, 0(a5)
  add t3, a5, s1
  fld f1, 0(t3)
  .if \lanes == 4
    add t3, t3, s1
    fld f2, 0(t3)
    add t3, t3, s1
    fld f3, 0(t3)
    add a5, a5, s2
    zip.h f4, f5, f0, f2
    add t3, a6, s3
    zip.h f6, f7, f1, f3
    add t4, t3, s3
    zip.h f0, f1, f4, f6
    add t5, t4, s3
    zip.h f2, f3, f5, f7
    fsd f0, 0(a6)
    fsd f1, 0(t3)
    fsd f2, 0(t4)
    fsd f3, 0(t5)
  .else
    add a5, a5, s2
    zip.s f2, f3, f0, f1
    add t3, a6, s3
    fsd f2, 0(a6)
    fsd f3, 0(t3)
  .endif
  add a6, a6, s4
  bdnz s0, 2b
  bdnz a3, 1b
5:
  xctl 0
end_codelet \name
.endm

transpose transpose_f16, 4
transpose transpose_f32, 2
