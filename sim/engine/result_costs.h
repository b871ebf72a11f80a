#pragma once

#include <cstdint>
#include <span>

#include "sim/engine/pipeline.h"
#include "sim/isa/activity.h"
#include "sim/isa/result_class.h"
#include "sim/machine/machine_config.h"

/// The numbers of a tile that say what instructions cost, by the class of their results: one table
/// for timing and for reports.
namespace tessera::engine {

/// A number in a group of a tile's config, with its key there.
template <class Group>
struct CostKey {
  const char* name = nullptr;  ///< null: there is none
  std::uint32_t Group::*number = nullptr;
};

struct ResultCosts {
  isa::ResultClass result;
  isa::Activity counted;  ///< above 0 where an instruction of the class was executed
  CostKey<LatencyConfig> latency;
  CostKey<SlotCosts> slots = {};  ///< slots for each turn of its lanes; none: one slot
  Unit unit = Unit::none;         ///< that computes the result
  CostKey<IntervalConfig> interval = {};
};

/// By result class.
std::span<const ResultCosts> result_costs();

inline const ResultCosts& costs_of(isa::ResultClass result) {
  return result_costs()[static_cast<std::size_t>(result)];
}

}  // namespace tessera::engine
