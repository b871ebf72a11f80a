#pragma once

#include <string>

#include "sim/config/fields.h"
#include "sim/plan/description.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `stream`: McCalpin's STREAM loops in the SRAM of every tile, each worker on its own
/// part of the arrays. copy: a = b; scale: a = s b; add: a = b + c; triad: a = b + s c; and, for
/// i32, PrIM's update: a = a + s. f16 and f32 are packed, i32 goes element by element.
namespace tessera::kernels {
class Comparison;
}

namespace tessera::stream {

enum class Operation { copy, scale, add, triad, update };

constexpr double kScalar = 1.5;              ///< s, exact in f16
constexpr std::uint32_t kIntegerScalar = 3;  ///< s of i32

/// What a loop body handles of each array: two 64-bit words, of i32 an element.
constexpr std::uint32_t body_bytes(program::Type type) {
  return type == program::Type::i32 ? 4 : 16;
}

/// Arrays that each tile holds: the result, and after it b and c where they are read.
constexpr std::uint32_t arrays_of(Operation operation) {
  if (operation == Operation::update) return 1;
  return operation == Operation::copy || operation == Operation::scale ? 2 : 3;
}

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

  [[nodiscard]] program::Program lowered() const override;
  [[nodiscard]] CheckResult check(const TensorReader& tensors,
                                  const CheckRequest& request) const override;

 private:
  [[nodiscard]] Prediction predict(MachineCosts& costs) const;
  /// The program on so many tiles, `bytes` of each array a worker.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t bytes,
                                           std::uint32_t repeats) const;
  [[nodiscard]] program::Vertex loop(std::uint32_t codelet, std::uint32_t bytes,
                                     program::BufferId a, program::BufferId b,
                                     program::BufferId c) const;
  /// Elements of an array of a tile before the run.
  void fill(TileId tile, std::uint64_t stream, std::span<std::byte> into) const;
  /// Element `at` of array `stream` (1: b, 2: c; what an update begins with is b) on a tile,
  /// before the run.
  [[nodiscard]] double initial(TileId tile, std::uint64_t stream, std::uint64_t at) const;
  [[nodiscard]] std::uint32_t initial_word(TileId tile, std::uint64_t stream,
                                           std::uint64_t at) const;
  /// What array a holds on a tile after the run, element by element.
  void compare_floats(TileId tile, std::span<const std::byte> bytes,
                      kernels::Comparison& comparison) const;
  void compare_integers(TileId tile, std::span<const std::byte> bytes,
                        kernels::Comparison& comparison) const;
  [[nodiscard]] std::uint32_t padded_elements() const;  ///< a worker, a whole number of loop bodies
  [[nodiscard]] std::uint32_t worker_bytes() const;
  [[nodiscard]] std::uint32_t scalar_bits() const;  ///< as the codelets load it

  Options options_;
  const MachineConfig machine_;
  const program::Codelet codelet_;
};

}  // namespace tessera::stream
