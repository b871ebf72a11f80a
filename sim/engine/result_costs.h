#pragma once

#include <cstdint>
#include <span>

#include "sim/engine/pipeline.h"
#include "sim/isa/activity.h"
#include "sim/isa/result_class.h"
#include "sim/machine/machine_config.h"

/// A tile's instruction costs, by the class of their results: one table for timing and reports.
namespace tessera::engine {

/// A value in a group of a tile's config, with its key.
template <class Group>
struct CostKey {
  const char* name = nullptr;  ///< null: there is none
  std::uint32_t Group::*number = nullptr;
};

struct ResultCosts {
  isa::ResultClass result;
  isa::Activity counted;  ///< above 0 if an instruction of the class was executed
  CostKey<LatencyConfig> latency;
  CostKey<SlotCosts> slots = {};  ///< slots per group of lanes; none: one slot
  Unit unit = Unit::none;         ///< unit that computes the result
  CostKey<IntervalConfig> interval = {};
};

/// By result class.
std::span<const ResultCosts> result_costs();

inline const ResultCosts& costs_of(isa::ResultClass result) {
  return result_costs()[static_cast<std::size_t>(result)];
}

}  // namespace tessera::engine
