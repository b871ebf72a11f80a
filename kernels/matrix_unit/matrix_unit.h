#pragma once

#include <memory>

#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `matrix_unit`: Y[n, O] += X[n, I] W[I, O] on every tile, with its own data, for the
/// I inputs and O outputs of the machine's matrix unit: what it reaches when all is in place.
namespace tessera::matrix_unit {

enum class Mode : std::uint8_t { f16, f16_f32, f32 };

struct Options {
  std::uint32_t n = 1024;
  Mode dtype = Mode::f16;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options);

/// Throws UserError if the machine's matrix unit does not have the type.
std::unique_ptr<Workload> make_matrix_unit(const Options& options, MachineCosts& costs);

}  // namespace tessera::matrix_unit
