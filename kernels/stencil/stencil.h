#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "kernels/external.h"
#include "kernels/layout.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"
#include "sim/plan/search.h"

/// The workload `stencil`: steps of a 3x3 stencil on a grid of cells with several channels. Each
/// tile holds a block of the grid with a halo of neighbouring cells, which an exchange updates
/// before every step.
namespace tessera::stencil {

using plan::Tile;

enum class Boundary : std::uint8_t { zero, periodic };
/// Storage of cells with contiguous neighbours: in the tile's grid, or copied by each worker.
enum class Slices : std::uint8_t { tile, worker };
/// Tile code: scheduled by hand, or compiled, for 64-bit words or single elements.
enum class Code : std::uint8_t { scheduled, compiled, elements };

/// Blocks of a grid in external memory. With one block it is loaded once for all steps; with
/// several, each step loads and stores all of them one after the other.
struct Rounds {
  std::uint32_t rows = 1, columns = 1;
  kernels::PinnedLoads loads = {};  ///< always set, except in a pinned plan
};
void describe(config::Fields& fields, Rounds& rounds);

struct Plan {
  std::uint32_t tile_rows = 1, tile_columns = 1;
  std::uint32_t worker_columns = 1;
  Slices slices = Slices::tile;
  Code code = Code::scheduled;
  std::optional<Rounds> rounds = {};  ///< if set, the rest of the plan is for one block
};
void describe(config::Fields& fields, Plan& plan);

/// Weights of the 3 x 3 cells around a cell (north-west, north, ...) for its next value; by default
/// a Gaussian blur.
struct Weights {
  std::array<double, 9> of{0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625};
};
void describe(config::Fields& fields, Weights& weights);

struct Options {
  std::uint32_t rows = 500, columns = 1000, channels = 4;
  program::Type dtype = program::Type::f32;
  std::uint32_t steps = 1;
  Boundary boundary = Boundary::zero;
  Weights weights;
  std::string x;
  std::uint64_t seed = 1;
  bool external = false;  ///< the grid is in external memory
  std::optional<Plan> plan;
};
void describe(config::Fields& fields, Options& options);

/// Inputs of a program's description; its functions hold a reference to them.
struct Problem {
  Options options;
  MachineConfig machine;
  data::DenseOperand x;  ///< [rows, columns x channels]
  std::array<double, 9> weights = options.weights.of;
  std::uint64_t rounded_weights = data::round_all(options.dtype, weights);
  /// Cells are padded to whole 64-bit words.
  std::uint32_t cell_bytes = round_up(options.channels * data::element_bytes(options.dtype), 8U);
  elf::KernelCode code{"stencil"};

  /// Throws KeyError if the grid is external and the machine has no external memory for it.
  Problem(const Options& options, const MachineConfig& machine);
  [[nodiscard]] std::uint32_t cell_numbers() const {
    return cell_bytes / data::element_bytes(options.dtype);
  }
};

/// A block of cells with its halo.
struct Block {
  std::uint64_t rows, columns;

  [[nodiscard]] std::uint64_t line() const { return columns + 2; }  ///< row pitch
  /// One more cell, which tile code reads after the last one and does not use.
  [[nodiscard]] std::uint64_t size() const { return (rows + 2) * line() + 1; }
};

/// One axis of the grid, in rounds of equal size: if they do not divide it, rounds overlap and
/// compute the shared cells twice with equal results. Tiles divide a round among themselves.
struct Axis {
  std::uint32_t cells, rounds;
  Tile tiles;

  [[nodiscard]] std::uint32_t step() const { return cells / rounds; }
  [[nodiscard]] std::uint32_t size() const { return cells - (rounds - 1) * step(); }
  [[nodiscard]] Interval part(Tile tile) const { return EvenSplit{size(), tiles}.part(tile); }
};

/// Partition of the grid by a plan.
struct Geometry {
  std::shared_ptr<const Problem> problem;
  Plan plan;
  Rounds rounds = plan.rounds.value_or(Rounds{});
  Axis rows{problem->options.rows, rounds.rows, plan.tile_rows};
  Axis columns{problem->options.columns, rounds.columns, plan.tile_columns};
  std::uint64_t cell = problem->cell_bytes;

  [[nodiscard]] std::uint32_t passes() const { return rounds.rows * rounds.columns; }
  /// True if every step loads all blocks of the grid; else it stays on the tiles.
  [[nodiscard]] bool streams() const { return passes() > 1; }
  [[nodiscard]] Tile tiles() const { return rows.tiles * columns.tiles; }
  [[nodiscard]] Interval rows_of(Tile tile) const { return rows.part(tile / columns.tiles); }
  [[nodiscard]] Interval columns_of(Tile tile) const { return columns.part(tile % columns.tiles); }
  [[nodiscard]] Block block(Tile tile) const {
    return {rows_of(tile).size(), columns_of(tile).size()};
  }
};

/// The stencil function of a block; its sizes are the block's rows and columns. It reads the block
/// with halo, or slices, and writes a block with halo or, with `to_rows`, contiguous rows.
const plan::Function& stencil_of(const std::shared_ptr<const Geometry>& geometry,
                                 plan::Description& description, bool to_rows);

/// The program of a plan, and representative tiles.
plan::Described described(const std::shared_ptr<const Problem>& problem, const Plan& plan);

WorkloadSummary summary(const Problem& problem, const Plan& plan);
CheckResult checked(const Problem& problem, const Plan& plan, const TensorReader& tensors,
                    HostThreads& threads);

}  // namespace tessera::stencil
