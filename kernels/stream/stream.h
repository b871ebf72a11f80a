#pragma once

#include <string>

#include "kernels/codelet.h"
#include "sim/config/fields.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The workload `stream`: McCalpin's STREAM loops in the SRAM of every tile, each worker on its own
/// part of the arrays. copy: a = b; scale: a = s b; add: a = b + c; triad: a = b + s c; and, for
/// i32, PrIM's update: a = a + s. f16 and f32 are packed, i32 goes element by element.
/// With operands in memory outside each worker brings its blocks of b and c by its own DMA and
/// stores those of a, as PrIM's forms do; read, write and copy_dma are the transfers alone. Where
/// workers have no DMA, supervisors bring a tile's blocks in rounds.
namespace tessera::kernels {
class Comparison;
}

namespace tessera::stream {

enum class Operation { copy, scale, add, triad, update, read, write, copy_dma };

/// What an element of a takes.
struct Facts {
  std::uint32_t reads;   ///< of b and c
  std::uint32_t writes;  ///< of a
  std::uint32_t operations;
};
constexpr Facts facts_of(Operation operation) {
  constexpr Facts kFacts[] = {{1, 1, 0}, {1, 1, 1}, {2, 1, 1}, {2, 1, 2},
                              {1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  return kFacts[static_cast<std::size_t>(operation)];
}
constexpr bool only_moves(Operation operation) { return operation >= Operation::read; }

constexpr double kScalar = 1.5;              ///< s, exact in f16
constexpr std::uint32_t kIntegerScalar = 3;  ///< s of i32

/// What a loop body handles of each array: two 64-bit words, of i32 an element.
constexpr std::uint32_t body_bytes(program::Type type) {
  return type == program::Type::i32 ? 4 : 16;
}

/// Arrays that each tile holds in SRAM: the result, and after it b and c where they are read.
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
  std::uint32_t block_bytes = 1024;  ///< if external
  std::uint64_t seed = 1;
};

/// How a worker's part of an array outside lies: in blocks, among those of the tile's other
/// workers: the first of each, the second of each, ... The last ones are smaller where they do not
/// come out.
struct Blocks {
  std::uint32_t workers;
  std::uint32_t bytes;  ///< of a block
  std::uint32_t count;  ///< of a worker
  std::uint32_t last;   ///< bytes of its last one

  [[nodiscard]] std::uint64_t worker_bytes() const {
    return (count - 1) * std::uint64_t{bytes} + last;
  }
  [[nodiscard]] std::uint64_t tile_bytes() const { return workers * worker_bytes(); }
  /// Bytes from a block to its worker's next.
  [[nodiscard]] std::uint32_t stride() const { return workers * bytes; }
  /// Where a worker's block of that number begins in the tile's part.
  [[nodiscard]] std::uint64_t begin(std::uint32_t worker, std::uint32_t block) const {
    return std::uint64_t{block} * stride() +
           worker * std::uint64_t{block + 1 == count ? last : bytes};
  }
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
  [[nodiscard]] Prediction predict_outside(MachineCosts& costs) const;
  [[nodiscard]] Blocks blocks() const;
  /// The program on operands outside, on so many tiles. `filled`: with contents.
  [[nodiscard]] plan::Description describe_outside(std::uint32_t tiles, const Blocks& blocks,
                                                   std::uint32_t repeats, bool filled) const;
  [[nodiscard]] program::Vertex block_loop(const kernels::Codelet& codelet, const Blocks& blocks,
                                           const plan::OuterId (&arrays)[3],
                                           program::BufferId held) const;
  void add_outside_tensors(plan::Description& description, const Blocks& blocks,
                           const plan::OuterId (&arrays)[3], program::BufferId held) const;
  /// The same where supervisors bring blocks, on all tiles.
  [[nodiscard]] Prediction predict_rounds(MachineCosts& costs) const;
  [[nodiscard]] plan::Description describe_rounds() const;
  [[nodiscard]] std::uint32_t rounds() const;
  void add_round_tensors(plan::Description& description, const plan::OuterId (&arrays)[3],
                         program::BufferId read) const;
  [[nodiscard]] bool by_workers() const { return workers_start_transfers(machine_); }
  [[nodiscard]] bool in_rounds() const { return options_.external && !by_workers(); }
  /// Of the result, along its first extent.
  [[nodiscard]] std::uint32_t slices() const;
  /// Number of the element of b that stands at `at` in a tile's result.
  [[nodiscard]] std::uint64_t source_of(std::uint64_t at) const;
  /// The program on so many tiles, `bytes` of each array a worker.
  [[nodiscard]] plan::Description describe(std::uint32_t tiles, std::uint32_t bytes,
                                           std::uint32_t repeats) const;
  [[nodiscard]] program::Vertex loop(const kernels::Codelet& codelet, std::uint32_t bytes,
                                     program::BufferId a, program::BufferId b,
                                     program::BufferId c) const;
  /// Elements of an array of a tile before the run, from number `first` on.
  void fill(TileId tile, std::uint64_t stream, std::span<std::byte> into,
            std::uint64_t first = 0) const;
  /// Element `at` of array `stream` (1: b, 2: c; what an update begins with is b) on a tile,
  /// before the run.
  [[nodiscard]] double initial(TileId tile, std::uint64_t stream, std::uint64_t at) const;
  [[nodiscard]] std::uint32_t initial_word(TileId tile, std::uint64_t stream,
                                           std::uint64_t at) const;
  /// What a slice of the result holds after the run, element by element.
  void compare_floats(std::uint32_t slice, std::span<const std::byte> bytes,
                      kernels::Comparison& comparison) const;
  void compare_integers(std::uint32_t slice, std::span<const std::byte> bytes,
                        kernels::Comparison& comparison) const;
  /// The element of b and c of which element `at` of a slice is made.
  struct Element {
    TileId tile;
    std::uint64_t at;
  };
  [[nodiscard]] Element element(std::uint32_t slice, std::uint64_t at,
                                std::uint64_t elements) const;
  [[nodiscard]] std::uint32_t padded_elements() const;  ///< a worker, a whole number of loop bodies
  [[nodiscard]] std::uint32_t worker_bytes() const;
  [[nodiscard]] kernels::Codelet codelet(const plan::Description& description) const {
    return {description.code()->add_codelet(codelet_), machine_.tile.contexts};
  }
  [[nodiscard]] std::uint32_t scalar_bits() const;  ///< as the codelets load it

  Options options_;
  const MachineConfig machine_;
  const program::Codelet codelet_;
};

}  // namespace tessera::stream
