#pragma once

#include <memory>

#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `latency`: chains of instructions that each need the result of the one before, on
/// every context of every tile; `load` is a pointer chase. With one chain a context a step takes
/// the instruction's latency, with more of them, or of contexts, what latency they leave over.
namespace tessera::latency {

enum class Operation {
  load,
  integer,
  integer_multiply,
  integer_divide,
  f32_add,
  f32_multiply,
  f32_fma,
  f32_divide,
  square_root,
  branch
};

struct Options {
  Operation operation = Operation::load;
  std::uint32_t chains = 1;
  std::uint32_t steps = 110880;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options);

std::unique_ptr<Workload> make_latency(const Options& options, MachineCosts& costs);

}  // namespace tessera::latency
