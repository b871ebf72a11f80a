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
/// Decides exactly about a store that failed the quick comparison, whose lower bound is rounded up
/// to 8 bytes: true if it is allowed after all.
[[gnu::cold, gnu::noinline]] bool check_store(Frame& frame, std::uint32_t address,
                                              std::uint32_t bytes);

template <class T>
constexpr unsigned kLogSize = std::countr_zero(sizeof(T));

template <bool kRecords, class T>
inline bool load(std::byte* memory, Frame& frame, std::uint32_t address, T& value) {
  constexpr unsigned kLog = kLogSize<T>;
  if (std::rotr(address, kLog) >= frame.load_limit[kLog]) [[unlikely]]
    return note_load_fault(frame, address, sizeof(T));
  if constexpr (kRecords) {
    if (frame.log != nullptr) frame.log->read(address, sizeof(T));
  }
  std::memcpy(&value, memory + address, sizeof(T));
  return true;
}

/// Whether a store of a T is allowed: for instructions that store after another access, since none
/// of their effects may remain when one of them faults.
template <class T>
inline bool may_store(Frame& frame, std::uint32_t address) {
  constexpr unsigned kLog = kLogSize<T>;
  if (std::rotr(address - frame.store_base, kLog) >= frame.store_limit[kLog]) [[unlikely]]
    return check_store(frame, address, sizeof(T));
  return true;
}

template <bool kRecords, class T>
inline bool store(std::byte* memory, Frame& frame, std::uint32_t address, T value) {
  if (!may_store<T>(frame, address)) [[unlikely]]
    return false;
  if constexpr (kRecords) {
    if (frame.log != nullptr) frame.log->write(address, sizeof(T));
  }
  std::memcpy(memory + address, &value, sizeof(T));
  return true;
}

}  // namespace tessera::engine
