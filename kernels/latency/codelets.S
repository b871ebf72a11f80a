// Chains of dependent instructions. a0: {steps of a chain, bytes of a worker's data, data, operand}; a worker's data: the
// states of 8 chains, then its ring (chains of loads).
#include "xtile.h"

// t0: the worker's data; t2: steps; t1, ft1: the operand
.macro chain_arguments
  csrr    t0, 0xcc0
  lw      t1, 4(a0)
  lw      t2, 0(a0)
  mul     t0, t0, t1
  lw      t1, 8(a0)
  add     t0, t0, t1
  lw      t1, 12(a0)
  flw     ft1, 12(a0)
.endm

// Emits `instruction` REGISTER, CHAIN for each of the first `count` chains: s0 ..., or fs0 ...
.macro chains count, instruction, bank
  .irp chain, 0,1,2,3,4,5,6,7
  .if \chain < \count
    \instruction \bank\chain, \chain
  .endif
  .endr
.endm

.macro load_word to, chain
  lw      \to, 4 * \chain(t0)
.endm
.macro store_word from, chain
  sw      \from, 4 * \chain(t0)
.endm
.macro load_float to, chain
  flw     \to, 4 * \chain(t0)
.endm
.macro store_float from, chain
  fsw     \from, 4 * \chain(t0)
.endm
.macro address_to_offset state, chain
  sub     \state, \state, t0
.endm

.macro step_load state, chain
  lw      \state, 0(\state)
.endm
.macro step_integer state, chain
  add     \state, \state, t1
.endm
.macro step_integer_multiply state, chain
  mul     \state, \state, t1
.endm
.macro step_integer_divide state, chain
  divu    \state, t1, \state
.endm
.macro step_f32_add state, chain
  fadd.s  \state, \state, ft1
.endm
.macro step_f32_multiply state, chain
  fmul.s  \state, \state, ft1
.endm
.macro step_f32_fma state, chain
  fmadd.s \state, \state, ft1, ft1
.endm
.macro step_f32_divide state, chain
  fdiv.s  \state, ft1, \state
.endm
.macro step_square_root state, chain
  fsqrt.s \state, \state
.endm

.macro chain_codelet operation, number, bank, count
codelet latency_\operation\()_\count
  chain_arguments
  chains  \count, load_\number, \bank
  rpt     t2, 1f
  chains  \count, step_\operation, \bank
1:
  .ifc \operation, load
  chains  \count, address_to_offset, s
  .endif
  chains  \count, store_\number, \bank
  xctl    0
end_codelet latency_\operation\()_\count
.endm

.irp count, 1,2,3,4,6,8
  .irp operation, load,integer,integer_multiply,integer_divide
    chain_codelet \operation, word, s, \count
  .endr
  .irp operation, f32_add,f32_multiply,f32_fma,f32_divide,square_root
    chain_codelet \operation, float, fs, \count
  .endr
.endr

// Branches, all taken but the last: the state is the remaining count.
codelet latency_branch_1
  chain_arguments
1:
  bdnz    t2, 1b
  sw      t2, 0(t0)
  xctl    0
end_codelet latency_branch_1

// Converts the offsets in a worker's data (states and ring) to addresses. a0 as above.
codelet latency_prepare
  chain_arguments
  lw      t1, 4(a0)
  add     t1, t1, t0
  mv      t3, t0
1:
  lw      t4, 0(t3)
  add     t4, t4, t0
  sw      t4, 0(t3)
  addi    t3, t3, 4
  bne     t3, t1, 1b
  xctl    0
end_codelet latency_prepare
