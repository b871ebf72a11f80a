// Adds the partial rows that a tile received to rows of results. Arguments: partials, results; then for
// each worker 16 bytes: its list, its segments, offset of its results, padding. A segment of the list is 16 bytes: offset of its first partial (u32), bytes
// between partials (u32), partials (u16), whole chunks (u16), single units (u16), bytes from the outputs of one run
// to the next in 8-byte words (u16). A chunk is four words of partials, a unit the words that make one word of results. If
// a block's outputs are several runs (`runs`, `words` of a column in each), a chunk is a column.
#include "xtile.h"

// Sums four words of s5 + 1 partials, a7 bytes apart, into f4-f7: two from t3 on and the next two (of the next run); zeros
// if there are no partials.
.macro sum_chunk add, words
  .if \words == 4
    addi t4, t3, 16
  .else
    sh3add t4, s7, t3
  .endif
  bltz s5, 7f                 // no partial
  ld2 f4, f6, t3, t4
  ld2 f5, f7, t3, t4
  beqz s5, 8f                 // one
  add t3, t3, s6
  add t4, t4, s6
  ld2 f0, f2, t3, t4
  .balign 8
  beqz s4, 9f                 // two
  rpt s4, 9f
  \add f4, f4, f0
  ld2 f1, f3, t3, t4
  \add f6, f6, f2
  add t3, t3, s6
  \add f5, f5, f1
  add t4, t4, s6
  \add f7, f7, f3
  ld2 f0, f2, t3, t4
9:
  \add f4, f4, f0
  ld2 f1, f3, t3, t4
  \add f6, f6, f2
  \add f5, f5, f1
  \add f7, f7, f3
  j 8f
7:
  fsgnj.d f4, f31, f31
  fsgnj.d f5, f31, f31
  fsgnj.d f6, f31, f31
  fsgnj.d f7, f31, f31
8:
.endm

.macro store_chunk pack
  .if \pack
    pack.4h f4, f4, f5
    pack.4h f6, f6, f7
    fsd.p f4, t5, 8
    fsd.p f6, t5, 8
  .else
    fsd.p f4, t5, 8
    fsd.p f5, t5, 8
    fsd.p f6, t5, 8
    fsd.p f7, t5, 8
  .endif
.endm

// Like sum_chunk for one unit: one word, or two that are packed into one.
.macro sum_unit add, pack
  bltz s5, 7f
  fld f4, 0(t3)
  .if \pack
    fld f5, 8(t3)
  .endif
  beqz s5, 8f
  add t3, t3, a7
  .balign 8
  mv t4, s5
  rpt t4, 9f
  fld f0, 0(t3)
  .if \pack
    fld f1, 8(t3)
    \add f4, f4, f0
    add t3, t3, a7
    \add f5, f5, f1
    nop
  .else
    add t3, t3, a7
    \add f4, f4, f0
    nop
  .endif
9:
  j 8f
7:
  fsgnj.d f4, f31, f31
  fsgnj.d f5, f31, f31
8:
.endm

.macro reduce name, add, pack, runs=1, words=4
codelet \name
  worker_arguments t0, 16
  lw a3, 12(t0)               // segments
  lw a1, 8(t0)                // list
  beqz a3, 5f
  lw t5, 16(t0)               // offset of results
  lw a2, 0(a0)
  lw a4, 4(a0)
  add t5, t5, a4
  fmv.w.x f31, zero
  splat.s f31, f31
1:// segment
  lw.p a5, a1, 4              // offset of its first partial
  lw.p a7, a1, 4              // between partials
  lhu.p s5, a1, 2
  lhu.p s0, a1, 2             // chunks
  lhu.p s1, a1, 2             // units
  lhu.p s7, a1, 2
  add a5, a5, a2
  addi s5, s5, -1
  addi s4, s5, -1
  addi s6, a7, -16
  .if \runs == 4
    slli s8, s7, 1
  .endif
  beqz s0, 3f
2:// chunk
  mv t3, a5
  sum_chunk \add, \words
  store_chunk \pack
  .if \runs * \words > 4
    .if \runs == 4
      sh3add t3, s8, a5
    .else
      sh3add t3, s7, a5
    .endif
    sum_chunk \add, \words
    store_chunk \pack
  .endif
  addi a5, a5, 8 * \words
  bdnz s0, 2b
3:
  beqz s1, 4f
6:// unit
  mv t3, a5
  sum_unit \add, \pack
  .if \pack
    pack.4h f4, f4, f5
    addi a5, a5, 16
  .else
    addi a5, a5, 8
  .endif
  fsd.p f4, t5, 8
  bdnz s1, 6b
4:
  bdnz a3, 1b
5:
  xctl 0
end_codelet \name
.endm

reduce reduce_f16, add.4h, 0
reduce reduce_f16_2x2, add.4h, 0, 2, 2
reduce reduce_f16_f32, add.2s, 1
reduce reduce_f16_f32_2x4, add.2s, 1, 2, 4
reduce reduce_f16_f32_2x2, add.2s, 1, 2, 2
reduce reduce_f16_f32_4x2, add.2s, 1, 4, 2
reduce reduce_f32, add.2s, 0
reduce reduce_f32_2x4, add.2s, 0, 2, 4
reduce reduce_f32_2x2, add.2s, 0, 2, 2
reduce reduce_f32_4x2, add.2s, 0, 4, 2
