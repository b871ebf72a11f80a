#pragma once

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "sim/config/fields.h"
#include "sim/data/seeded.h"
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

class MatrixUnit : public Workload {
 public:
  /// Throws UserError if the machine's matrix unit does not have the type.
  MatrixUnit(const Options& options, MachineCosts& costs);

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  enum class Array : std::uint64_t { x, w, y };
  /// The program on so many tiles, of so many positions each.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t positions) const;
  [[nodiscard]] program::Vertex product(const kernels::Codelet& codelet, std::uint32_t positions,
                                        program::BufferId w, program::BufferId x,
                                        program::BufferId y) const;
  /// Element `at` of an array of a tile before the run, in row-major order.
  [[nodiscard]] double initial(Array array, std::uint32_t tile, std::uint64_t at) const;
  [[nodiscard]] data::Seeded seeded(Array array) const;
  class TileCheck;

  Options options_;
  MachineConfig machine_;
  kernels::BlockShape block_;
  program::Codelet codelet_;
};

}  // namespace tessera::matrix_unit
