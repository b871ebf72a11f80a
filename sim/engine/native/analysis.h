#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/native/hyperblock.h"

/// Decisions about a region that hold for all of it: which guest registers live in host registers,
/// and where f registers are known to hold boxed binary32 values.
namespace tessera::engine::native {

constexpr unsigned kLoopCounter = 32;  ///< number after the x registers: Frame::loops_left
constexpr std::int8_t kHome = -1;      ///< lives in memory

struct Allocation {
  /// Index into the emitter's pool of host registers; of shadows too.
  std::array<std::int8_t, kRegisters> x{};
  unsigned hosts = 0;  ///< how many of the pool are used so
  /// There are too few host registers: guest registers take turns in the remaining ones, and slots
  /// and work are counted in memory.
  bool crowded = false;
  unsigned free = 0;    ///< index of the first unused one in the pool
  unsigned free_f = 0;  ///< likewise for the f registers
  unsigned end_f = 0;   ///< behind the last of those
  std::array<std::int8_t, kRegisters> f{};
  std::uint64_t written_x = 0;  ///< somewhere in the region; bit 32: the loop counter
  std::uint32_t written_f = 0;
  /// For each node, f registers that hold binary32 values at its start and are read as such. Code
  /// that enters there from elsewhere must check them.
  std::vector<std::uint32_t> singles;
  std::vector<std::uint32_t> unboxed;  ///< those among them whose boxes may still be missing
};

/// F registers that `step` reads as binary32 values.
std::uint32_t reads_single(const Step& step);
/// F registers in which `step` leaves a boxed value.
std::uint32_t writes_boxed(const Step& step);

/// `x_hosts`, `f_hosts`: numbers of host registers.
Allocation analyse(const Region& region, const Loops& loops, unsigned x_hosts, unsigned f_hosts);

}  // namespace tessera::engine::native
