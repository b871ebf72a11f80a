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

/// The workload `stencil`: steps of a 3x3 stencil on a grid of cells of several channels. Each tile
/// holds a block of the grid in a ring of its neighbours' cells, which an exchange brings before
/// every step.
namespace tessera::stencil {

using plan::Tile;

enum class Boundary : std::uint8_t { zero, periodic };
/// Who has cells with all their neighbours behind each other: the tile, or each worker a copy.
enum class Slices : std::uint8_t { tile, worker };
/// Tile code: scheduled by hand, or as a compiler makes it, for words of elements or single ones.
enum class Code : std::uint8_t { scheduled, compiled, elements };

/// Blocks of the grid where it lies outside the tiles. One: it is brought once and stays for all
/// steps; several: in each step all of them are brought and go, one after the other.
struct Rounds {
  std::uint32_t rows = 1, columns = 1;
  kernels::PinnedLoads loads = {};  ///< known, but of a pinned plan
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

/// Weights of the 3 x 3 cells around a cell (north-west, north, ...) in its next value; a Gaussian
/// blur.
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
  bool external = false;  ///< the grid lies in external memory
  std::optional<Plan> plan;
};
void describe(config::Fields& fields, Options& options);

/// The inputs of a program's description; its functions keep them.
struct Problem {
  Options options;
  MachineConfig machine;
  data::DenseOperand x;  ///< [rows, columns x channels]
  std::array<double, 9> weights = options.weights.of;
  std::uint64_t rounded_weights = data::round_all(options.dtype, weights);
  /// Cells lie on whole 64-bit words.
  std::uint32_t cell_bytes = round_up(options.channels * data::element_bytes(options.dtype), 8U);
  elf::KernelCode code{"stencil"};

  /// Throws KeyError if the grid lies outside and the machine has no place for it there.
  Problem(const Options& options, const MachineConfig& machine);
  [[nodiscard]] std::uint32_t cell_numbers() const {
    return cell_bytes / data::element_bytes(options.dtype);
  }
};

/// Cells of rows and columns, in a ring of neighbours.
struct Block {
  std::uint64_t rows, columns;

  [[nodiscard]] std::uint64_t line() const { return columns + 2; }  ///< from row to row
  /// With a cell more, which tile code reads behind the last and does not use.
  [[nodiscard]] std::uint64_t size() const { return (rows + 2) * line() + 1; }
};

/// Rows or columns of the grid, in rounds of one size: where they do not divide it, each takes some
/// of the next one's too, which makes the same of them. The tiles share what a round has.
struct Axis {
  std::uint32_t cells, rounds;
  Tile tiles;

  [[nodiscard]] std::uint32_t step() const { return cells / rounds; }
  [[nodiscard]] std::uint32_t size() const { return cells - (rounds - 1) * step(); }
  [[nodiscard]] Interval part(Tile tile) const { return EvenSplit{size(), tiles}.part(tile); }
};

/// How a plan divides the grid.
struct Geometry {
  std::shared_ptr<const Problem> problem;
  Plan plan;
  Rounds rounds = plan.rounds.value_or(Rounds{});
  Axis rows{problem->options.rows, rounds.rows, plan.tile_rows};
  Axis columns{problem->options.columns, rounds.columns, plan.tile_columns};
  std::uint64_t cell = problem->cell_bytes;

  [[nodiscard]] std::uint32_t passes() const { return rounds.rows * rounds.columns; }
  /// True if every step brings all blocks of the grid; else it stays on the tiles.
  [[nodiscard]] bool streams() const { return passes() > 1; }
  [[nodiscard]] Tile tiles() const { return rows.tiles * columns.tiles; }
  [[nodiscard]] Interval rows_of(Tile tile) const { return rows.part(tile / columns.tiles); }
  [[nodiscard]] Interval columns_of(Tile tile) const { return columns.part(tile % columns.tiles); }
  [[nodiscard]] Block block(Tile tile) const {
    return {rows_of(tile).size(), columns_of(tile).size()};
  }
};

/// The stencil of a block, whose rows and columns are the sizes: from its ring, or slices, to a
/// ring, or to rows one behind the other.
const plan::Function& stencil_of(const std::shared_ptr<const Geometry>& geometry,
                                 plan::Description& description, bool to_rows);

/// The program, of which time and memory of all plans come, and tiles that stand for all.
plan::Described described(const std::shared_ptr<const Problem>& problem, const Plan& plan);

WorkloadSummary summary(const Problem& problem, const Plan& plan);
CheckResult checked(const Problem& problem, const Plan& plan, const TensorReader& tensors,
                    HostThreads& threads);

}  // namespace tessera::stencil
