#pragma once

#include <vector>

#include "kernels/codelet.h"
#include "sim/config/fields.h"
#include "sim/data/seeded.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `stream`: McCalpin's STREAM loops in the SRAM of every tile, each worker on its own
/// part of the arrays. copy: a = b; scale: a = s b; add: a = b + c; triad: a = b + s c; and, for
/// i32, PrIM's update: a = a + s. f16 and f32 use packed arithmetic, i32 single elements. With
/// operands in external memory each worker loads its blocks of b and c and stores those of a by its
/// own DMA, as PrIM's programs do; read, write and copy_dma are the transfers alone. If workers
/// have no DMA, supervisors load a tile's blocks in rounds.
namespace tessera::stream {

using plan::Tile;

enum class Operation { copy, scale, add, triad, update, read, write, copy_dma };

/// Accesses and arithmetic operations per element of a.
struct Facts {
  std::uint32_t reads;   ///< reads of b and c
  std::uint32_t writes;  ///< writes of a
  std::uint32_t operations;
};
constexpr Facts facts_of(Operation operation) {
  constexpr Facts kFacts[] = {{1, 1, 0}, {1, 1, 1}, {2, 1, 1}, {2, 1, 2},
                              {1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  return kFacts[static_cast<std::size_t>(operation)];
}
constexpr bool only_moves(Operation operation) { return operation >= Operation::read; }

constexpr double kScalar = 1.5;              ///< s of f16 and f32, exact in f16
constexpr std::uint32_t kIntegerScalar = 3;  ///< s of i32

/// Bytes per array that a loop body handles: two 64-bit words, or one i32 element.
constexpr std::uint32_t body_bytes(program::Type type) {
  return type == program::Type::i32 ? 4 : 16;
}

/// Number of arrays of a tile in SRAM: the result, then b and c if they are read.
constexpr std::uint32_t arrays_of(Operation operation) {
  if (operation == Operation::update) return 1;
  return operation == Operation::copy || operation == Operation::scale ? 2 : 3;
}

struct Options {
  Operation operation = Operation::triad;
  program::Type dtype = program::Type::f32;
  std::uint32_t elements_per_worker = 7500;
  std::uint32_t repeats = 1;
  bool external = false;
  std::uint32_t block_bytes = 1024;  ///< with external operands
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
  struct Blocks;
  struct Outside;
  using Shape = std::vector<std::uint64_t>;

  [[nodiscard]] bool by_workers() const { return workers_start_transfers(machine_); }
  [[nodiscard]] bool in_rounds() const { return options_.external && !by_workers(); }
  [[nodiscard]] Prediction predict(MachineCosts& costs) const;
  /// The program without rounds, on `tiles` tiles. `filled`: external buffers have contents and
  /// tensors.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t turns,
                                           std::uint32_t repeats, bool filled) const;
  [[nodiscard]] plan::Description describe_rounds() const;
  void state_loop(plan::Description& description, std::uint32_t bodies,
                  std::uint32_t repeats) const;
  void state_blocks(plan::Description& description, const Blocks& blocks, std::uint32_t repeats,
                    bool filled) const;
  /// Adds the call of a tile's loop, `repeats` times.
  static void add_calls(plan::Description& description, std::string_view name,
                        const program::Vertex& vertex, std::uint32_t repeats);
  [[nodiscard]] program::Vertex loop(const kernels::Codelet& codelet, std::uint32_t bytes,
                                     BufferId a, BufferId b, BufferId c) const;
  [[nodiscard]] program::Vertex block_loop(const kernels::Codelet& codelet, const Blocks& blocks,
                                           const Outside& arrays, BufferId held) const;
  /// Adds the arrays in external memory, each of `bytes` bytes, or of a tile's part.
  Outside add_outside(plan::Description& description, std::uint64_t bytes, bool filled) const;
  /// Adds the tensor of b (1) or c (2) as given, in slices along the first extent.
  void add_given(plan::Description& description, const char* name, std::uint64_t stream,
                 const Shape& shape) const;

  [[nodiscard]] Blocks blocks() const;
  [[nodiscard]] std::uint32_t turns() const;            ///< loop bodies or blocks per worker
  [[nodiscard]] std::uint32_t rounds() const;           ///< if supervisors load blocks
  [[nodiscard]] std::uint32_t padded_elements() const;  ///< per worker, in whole loop bodies
  [[nodiscard]] std::uint32_t worker_bytes() const;
  [[nodiscard]] std::uint32_t element_bytes() const;
  [[nodiscard]] std::uint32_t scalar_bits() const;  ///< in the codelets' format
  [[nodiscard]] kernels::Codelet codelet(const plan::Description& description) const {
    return {description.code()->add_codelet(codelet_), machine_.tile.contexts};
  }

  /// Element `at` of array `stream` (1: b, also the initial value of an update; 2: c) on a tile,
  /// before the run.
  [[nodiscard]] double initial(TileId tile, std::uint64_t stream, std::uint64_t at) const;
  /// Random data for which results are exact in every type.
  [[nodiscard]] data::Seeded seeded(std::uint64_t stream) const {
    return {options_.dtype, options_.seed, stream, 8};
  }
  /// Slices of the result along its first extent: one for each tile, or for each block that
  /// supervisors store.
  [[nodiscard]] std::uint32_t slices() const;
  /// Tile and index of the element of b and c from which element `at` of a slice is computed.
  struct Element {
    TileId tile;
    std::uint64_t at;
  };
  [[nodiscard]] Element element(std::uint32_t slice, std::uint64_t at,
                                std::uint64_t elements) const;
  [[nodiscard]] std::uint64_t source_of(std::uint64_t at) const;

  Options options_;
  const MachineConfig machine_;
  const program::Codelet codelet_;
};

}  // namespace tessera::stream
