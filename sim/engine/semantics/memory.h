#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/engine/semantics/integer.h"
#include "sim/isa/float/format.h"

/// Loads and stores: RV32I, F, Zfh, the 64-bit containers and Xtile. Each returns true if it
/// succeeded; one that faults changes nothing.
namespace tessera::engine::semantics {

using fp::F16;
using fp::F32;

/// Loads a T, sign- or zero-extended to 32 bits.
template <class T, class H>
bool load_x(H& h) {
  T value;
  if (!h.load(h.rs1() + h.imm(), value)) return false;
  h.rd(static_cast<std::uint32_t>(static_cast<std::int32_t>(value)));
  return true;
}
template <class T, class H>
bool store_x(H& h) {
  return h.store(h.rs1() + h.imm(), static_cast<T>(h.rs2()));
}
template <class H>
void set_f(H& h, std::uint16_t value) {
  h.fd(fp::box<F16>(value));
}
template <class H>
void set_f(H& h, std::uint32_t value) {
  h.fd_f32(value);
}
template <class H>
void set_f(H& h, std::uint64_t value) {
  h.fd(value);
}

template <class T, class H>
bool load_f(H& h) {
  T value;
  if (!h.load(h.rs1() + h.imm(), value)) return false;
  set_f(h, value);
  return true;
}
template <class T, class H>
bool store_f(H& h) {
  return h.store(h.rs1() + h.imm(), static_cast<T>(h.fs2()));
}

// clang-format off
template <class H> bool execute(Is<lb>, H& h) { return load_x<std::int8_t>(h); }
template <class H> bool execute(Is<lh>, H& h) { return load_x<std::int16_t>(h); }
template <class H> bool execute(Is<lw>, H& h) { return load_x<std::uint32_t>(h); }
template <class H> bool execute(Is<lbu>, H& h) { return load_x<std::uint8_t>(h); }
template <class H> bool execute(Is<lhu>, H& h) { return load_x<std::uint16_t>(h); }
template <class H> bool execute(Is<sb>, H& h) { return store_x<std::uint8_t>(h); }
template <class H> bool execute(Is<sh>, H& h) { return store_x<std::uint16_t>(h); }
template <class H> bool execute(Is<sw>, H& h) { return store_x<std::uint32_t>(h); }
template <class H> bool execute(Is<flh>, H& h) { return load_f<std::uint16_t>(h); }
template <class H> bool execute(Is<flw>, H& h) { return load_f<std::uint32_t>(h); }
template <class H> bool execute(Is<fld>, H& h) { return load_f<std::uint64_t>(h); }
template <class H> bool execute(Is<fsh>, H& h) { return store_f<std::uint16_t>(h); }
template <class H> bool execute(Is<fsw>, H& h) { return store_f<std::uint32_t>(h); }
template <class H> bool execute(Is<fsd>, H& h) { return store_f<std::uint64_t>(h); }
// clang-format on

// Post-increment: the base advances first, so that a destination equal to it keeps the load.
template <class T, class H>
bool load_x_and_advance(H& h) {
  T value;
  if (!h.load(h.rs1(), value)) return false;
  h.advance(h.op().rs1, h.imm());
  h.rd(static_cast<std::uint32_t>(value));
  return true;
}
template <class T, class H>
bool load_f_and_advance(H& h) {
  T value;
  if (!h.load(h.rs1(), value)) return false;
  h.advance(h.op().rs1, h.imm());
  set_f(h, value);
  return true;
}
template <class T, class H>
bool store_and_advance(H& h, std::uint64_t value) {
  if (!h.store(h.rs1(), static_cast<T>(value))) return false;
  h.advance(h.op().rs1, h.imm());
  return true;
}

// clang-format off
template <class H> bool execute(Is<flh_p>, H& h) { return load_f_and_advance<std::uint16_t>(h); }
template <class H> bool execute(Is<flw_p>, H& h) { return load_f_and_advance<std::uint32_t>(h); }
template <class H> bool execute(Is<fld_p>, H& h) { return load_f_and_advance<std::uint64_t>(h); }
template <class H> bool execute(Is<lw_p>, H& h) { return load_x_and_advance<std::uint32_t>(h); }
template <class H> bool execute(Is<lhu_p>, H& h) { return load_x_and_advance<std::uint16_t>(h); }
template <class H> bool execute(Is<fsh_p>, H& h) { return store_and_advance<std::uint16_t>(h, h.fs2()); }
template <class H> bool execute(Is<fsw_p>, H& h) { return store_and_advance<std::uint32_t>(h, h.fs2()); }
template <class H> bool execute(Is<fsd_p>, H& h) { return store_and_advance<std::uint64_t>(h, h.fs2()); }
template <class H> bool execute(Is<sw_p>, H& h) { return store_and_advance<std::uint32_t>(h, h.rs2()); }
template <class H> bool execute(Is<sh_p>, H& h) { return store_and_advance<std::uint16_t>(h, h.rs2()); }
// clang-format on

// Gather and scatter: the index is the u16 at rs2.
template <class T, class H>
bool gather(H& h, std::uint32_t advance) {
  std::uint16_t index;
  T value;
  if (!h.load(h.rs2(), index)) return false;
  const std::uint32_t address = h.rs1() + std::uint32_t{sizeof(T)} * index;
  if (!h.load(address, value)) return false;
  if constexpr (H::Mode::kQuick && sizeof(T) < kWideBytes) bring(h.frame().next + address);
  h.advance(h.op().rs2, advance);
  set_f(h, value);
  return true;
}
template <class T, class H>
bool scatter(H& h) {
  std::uint16_t index;
  if (!h.load(h.rs2(), index)) return false;
  if (!h.store(h.rs1() + std::uint32_t{sizeof(T)} * index, static_cast<T>(h.fd()))) return false;
  h.advance(h.op().rs2, sizeof(index));
  return true;
}

// clang-format off
template <class H> bool execute(Is<lgx_h>, H& h) { return gather<std::uint16_t>(h, 2); }
template <class H> bool execute(Is<lgx_s>, H& h) { return gather<std::uint32_t>(h, 2); }
template <class H> bool execute(Is<lgx_d>, H& h) { return gather<std::uint64_t>(h, 2); }
template <class H> bool execute(Is<lgn_d>, H& h) { return gather<std::uint64_t>(h, 0); }
template <class H> bool execute(Is<sgx_d>, H& h) { return scatter<std::uint64_t>(h); }
template <class H> bool execute(Is<sgx_s>, H& h) { return scatter<std::uint32_t>(h); }
// clang-format on

// Several accesses of one slot. All loads are taken before the store.
inline constexpr std::uint32_t kWord = 8;  ///< bytes by which each pointer advances

template <class H>
bool execute(Is<ld2>, H& h) {
  std::uint64_t first;
  std::uint64_t second;
  if (!h.load(h.rs1(), first) || !h.load(h.rs2(), second)) return false;
  h.advance(h.op().rs1, kWord);
  h.advance(h.op().rs2, kWord);
  h.fd(first);
  h.context().f[h.op().rs3] = second;
  return true;
}
template <class H>
bool execute(Is<ldst>, H& h) {
  std::uint64_t loaded;
  if (!h.load(h.rs1(), loaded) || !h.store(h.rs2(), h.fs3())) return false;
  h.advance(h.op().rs1, kWord);
  h.advance(h.op().rs2, kWord);
  h.fd(loaded);
  return true;
}
template <class H>
bool execute(Is<ld2st>, H& h) {
  std::uint32_t* const t = h.context().x + 28;  // t3, t4, t5
  std::uint64_t first;
  std::uint64_t second;
  if (!h.load(t[0], first) || !h.load(t[1], second) || !h.store(t[2], h.fs2())) return false;
  for (int i = 0; i < 3; ++i) t[i] += kWord;
  h.fd(first);
  h.context().f[h.op().rs3] = second;
  return true;
}
template <class H>
bool execute(Is<ld4>, H& h) {
  std::uint64_t loaded[4];
  for (std::uint32_t i = 0; i < 4; ++i) {
    if (!h.load(h.rs1() + kWord * i, loaded[i])) return false;
  }
  h.advance(h.op().rs1, 4 * kWord);
  for (std::uint32_t i = 0; i < 4; ++i) h.context().f[h.op().rd + i] = loaded[i];
  return true;
}

}  // namespace tessera::engine::semantics
