#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/native/region.h"

/// Groups the accesses of a node whose addresses differ by constants: one bounds comparison covers
/// a group.
namespace tessera::engine::native {

/// One access: `bytes` at x[base] + offset, before the instruction moves any register.
struct Access {
  std::uint8_t base = 0;
  bool store = false;
  std::uint8_t log = 0;  ///< logarithm of its size
  std::int32_t offset = 0;
};

/// The accesses of an instruction whose addresses are known when it begins.
struct Accesses {
  std::array<Access, 4> all{};
  std::size_t count = 0;
};
Accesses accesses_of(const isa::Instruction& instruction);

/// Accesses of one node relative to one value that some register holds.
struct Group {
  std::int32_t low = 0;   ///< offset of the first byte; not above any base's
  std::int32_t high = 0;  ///< offset behind the last byte
  std::uint8_t log = 0;   ///< alignment of `low`, as a logarithm
  bool store = false;     ///< one of them stores
  bool checked = false;   ///< by code emitted so far
};

struct PlannedAccess {
  int group = -1;            ///< -1: compared alone
  std::int32_t base_at = 0;  ///< its base register relative to the group's value
};

struct AddressPlan {
  std::vector<Group> groups;
  std::vector<PlannedAccess> accesses;  ///< in order of steps and of accesses_of
};

/// Plans the accesses of steps that run one after the other.
AddressPlan plan_addresses(std::span<const Step> steps);

}  // namespace tessera::engine::native
