// Sums and running sums of each worker's elements. a0: {sums of the workers, words of the tile (enum Word in scan.cpp)},
// then for each worker {x, y, elements, 0}.
#include "xtile.h"

.macro worker_part
  csrr    t0, 0xcc0
  slli    t1, t0, 4
  add     t1, t1, a0
  lw      t2, 8(t1)     // x
  lw      t3, 12(t1)    // y
  lw      t4, 16(t1)    // elements
  lw      t5, 0(a0)     // sums
.endm

// Stores the sum of a worker's elements.
.macro scan_sums type, load, add, store, zero, value, sum
codelet scan_sums_\type
  worker_part
  \zero   \sum, x0
  beqz    t4, 1f
  rpt     t4, 1f
  \load   \value, t2, 4
  \add    \sum, \sum, \value
1:
  sh2add  t5, t0, t5
  \store  \sum, 0(t5)
  xctl    0
end_codelet scan_sums_\type
.endm

// y: running sums, starting from the sum of all elements before the worker's part; `exclusive`: without an element itself.
.macro scan_write name, exclusive, type, load, add, store, store_next, get, value, sum
codelet \name
  worker_part
  lw      t6, 4(a0)
  \get    \sum, 0(t6)
  \get    \value, 8(t6)
  \add    \sum, \sum, \value
  beqz    t0, 1f
  sh2add  t1, t0, t5
2:
  \get    \value, 0(t5)
  addi    t5, t5, 4
  \add    \sum, \sum, \value
  bne     t5, t1, 2b
1:
  beqz    t4, 3f
  rpt     t4, 3f
  \load   \value, t2, 4
.if \exclusive
  \store_next \sum, t3, 4
  \add    \sum, \sum, \value
.else
  \add    \sum, \sum, \value
  \store_next \sum, t3, 4
.endif
3:
  xctl    0
end_codelet \name
.endm

scan_sums i32, lw.p, add, sw, mv, a1, a2
scan_sums f32, flw.p, fadd.s, fsw, fmv.w.x, f1, f2
scan_write scan_inclusive_i32, 0, i32, lw.p, add, sw, sw.p, lw, a1, a2
scan_write scan_exclusive_i32, 1, i32, lw.p, add, sw, sw.p, lw, a1, a2
scan_write scan_inclusive_f32, 0, f32, flw.p, fadd.s, fsw, fsw.p, flw, f1, f2
scan_write scan_exclusive_f32, 1, f32, flw.p, fadd.s, fsw, fsw.p, flw, f1, f2
