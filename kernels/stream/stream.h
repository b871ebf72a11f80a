#pragma once

#include <string>

#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `stream`: McCalpin's STREAM loops in the SRAM of every tile, each worker on its own
/// part of the arrays. copy: a = b; scale: a = s b; add: a = b + c; triad: a = b + s c.
namespace tessera::stream {

enum class Operation { copy, scale, add, triad };

/// The scalar s of scale and triad, exact in f16.
constexpr double kScalar = 1.5;

constexpr std::uint32_t kBodyBytes = 16;  ///< a loop body handles two 64-bit words of each array

struct Options {
  Operation operation = Operation::triad;
  program::Type dtype = program::Type::f32;
  std::uint32_t elements_per_worker = 7500;
  std::uint32_t repeats = 1;
  std::uint64_t seed = 1;
};
void describe(config::Fields& fields, Options& options);

class Stream : public Workload {
 public:
  Stream(const Options& options, MachineCosts& costs);

  [[nodiscard]] nlohmann::ordered_json plan() const override;
  [[nodiscard]] Prediction prediction() const override { return prediction_; }
  [[nodiscard]] std::uint64_t useful_flops() const override;
  [[nodiscard]] std::uint64_t useful_bytes() const override;
  [[nodiscard]] std::string peak_type() const override;
  [[nodiscard]] program::Program build() const override;
  [[nodiscard]] CheckResult check(const MemoryReader& memory, CheckMode mode) const override;

 private:
  [[nodiscard]] Prediction predict(MachineCosts& costs) const;
  /// The loop on `tile`, `bytes` of each array a worker, with values to work on if `filled`.
  [[nodiscard]] program::Vertex loop(program::Program& program, TileId tile, std::uint32_t bytes,
                                     bool filled) const;
  [[nodiscard]] program::Step repeated(program::ComputeSet set, std::uint32_t times) const;
  [[nodiscard]] program::BufferId add_array(program::Program& program, TileId tile,
                                            std::uint64_t stream, std::uint32_t bytes) const;
  /// Element `at` of array `stream` (1: b, 2: c) on a tile, before the run.
  [[nodiscard]] double initial(TileId tile, std::uint64_t stream, std::uint64_t at) const;
  [[nodiscard]] std::uint32_t padded_elements() const;  ///< a worker, a whole number of loop bodies
  [[nodiscard]] std::uint32_t worker_bytes() const;
  [[nodiscard]] std::uint32_t scalar_bits() const;  ///< as the codelets load it

  Options options_;
  const MachineConfig machine_;
  const program::Codelet codelet_;
  Prediction prediction_;
};

}  // namespace tessera::stream
