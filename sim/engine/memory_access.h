#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "sim/engine/access_log.h"
#include "sim/engine/op.h"

/// Loads and stores of one tile. Rotating the address right by the logarithm of the size moves
/// misaligned bits to the top, so that one comparison finds both faults.
namespace tessera::engine {

/// Sets the bounds that accesses are compared with.
void set_bounds(Frame& frame, const TileMemory& memory);

/// Notes the fault of an access that failed.
[[gnu::cold, gnu::noinline]] bool note_load_fault(Frame& frame, std::uint32_t address,
                                                  std::uint32_t bytes);
/// Checks exactly a store that failed the quick comparison (whose lower bound is rounded up to 8
/// bytes): true if it is valid after all.
[[gnu::cold, gnu::noinline]] bool check_store(Frame& frame, std::uint32_t address,
                                              std::uint32_t bytes);

template <class T>
constexpr unsigned kLogSize = std::countr_zero(sizeof(T));

/// The comparison that exactly the valid loads pass.
template <class T>
inline bool load_passes(const Frame& frame, std::uint32_t address) {
  constexpr unsigned kLog = kLogSize<T>;
  return std::rotr(address, kLog) < frame.load_limit[kLog];
}
/// True if a store is valid; a valid store just after the code may fail: see check_store.
template <class T>
inline bool store_passes(const Frame& frame, std::uint32_t address) {
  constexpr unsigned kLog = kLogSize<T>;
  return std::rotr(address, kLog) - frame.store_base[kLog] < frame.store_limit[kLog];
}

/// Prefetches what the next tile will read (TileMemory::next) into the host's L2 cache. Used by
/// wide loads and gathers, which read much memory or at addresses that no host predicts.
inline void bring(const std::byte* next) { __builtin_prefetch(next, 0, 2); }
constexpr std::size_t kWideBytes = 8;

/// Quick modes note no faults: a failed access is repeated in a mode that does (step.h).
template <class Mode, class T>
inline bool load(std::byte* memory, Frame& frame, std::uint32_t address, T& value) {
  if (!load_passes<T>(frame, address)) [[unlikely]]
    return Mode::kQuick ? false : note_load_fault(frame, address, sizeof(T));
  if constexpr (Mode::kRecords) {
    if (frame.log != nullptr) frame.log->read(address, sizeof(T));
  }
  std::memcpy(&value, memory + address, sizeof(T));
  if constexpr (Mode::kQuick && sizeof(T) == kWideBytes) bring(frame.next + address);
  return true;
}

template <class Mode, class T>
inline bool store(std::byte* memory, Frame& frame, std::uint32_t address, T value) {
  if (!store_passes<T>(frame, address)) [[unlikely]] {
    if (Mode::kQuick || !check_store(frame, address, sizeof(T))) return false;
  }
  if constexpr (Mode::kRecords) {
    if (frame.log != nullptr) frame.log->write(address, sizeof(T));
  }
  std::memcpy(memory + address, &value, sizeof(T));
  return true;
}

}  // namespace tessera::engine
