#pragma once

#include <array>
#include <optional>

#include "kernels/external.h"
#include "kernels/layout.h"
#include "kernels/planned.h"
#include "sim/data/dense_operand.h"
#include "sim/data/element.h"
#include "sim/elf/codelet.h"

/// The workload `stencil`: steps of a 3x3 stencil on a grid of cells of several channels. Each tile
/// holds a block of the grid in a ring of its neighbours' cells, which an exchange brings before
/// every step.
namespace tessera::stencil {

enum class Boundary : std::uint8_t { zero, periodic };
/// Who has cells with all their neighbours behind each other: the tile, or each worker a copy.
enum class Slices : std::uint8_t { tile, worker };
/// Tile code: scheduled by hand, or as a compiler makes it, for words of elements or single ones.
enum class Code : std::uint8_t { scheduled, compiled, elements };

constexpr std::size_t kWeights = 9;

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
  std::optional<Rounds> rounds = {};  ///< of a block all else is said
};
void describe(config::Fields& fields, Plan& plan);

/// Of the cell to the north-west, north, ... of a cell in its next value; a Gaussian blur.
struct Weights {
  std::array<double, kWeights> of{0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625};
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
  bool external = false;  ///< the grid lies in memory outside the tiles
  std::optional<Plan> plan;
};
void describe(config::Fields& fields, Options& options);

/// What a program is described from; its functions keep it.
struct Problem {
  Options options;
  MachineConfig machine;
  data::DenseOperand x;  ///< [rows, columns x channels]
  elf::KernelCode code{"stencil"};

  Problem(const Options& options, const MachineConfig& machine);
  [[nodiscard]] std::string text() const;  ///< for messages
  /// Cells lie on whole 64-bit words, in so many numbers.
  [[nodiscard]] std::uint32_t cell_bytes() const;
  [[nodiscard]] std::uint32_t cell_numbers() const {
    return cell_bytes() / data::element_bytes(options.dtype);
  }
  /// Writes numbers of a row of the grid in a ring of zeros, from number `first` of that row on.
  void store(std::uint64_t row, std::uint64_t first, std::span<std::byte> into) const;
  [[nodiscard]] double weight(std::size_t i) const;  ///< in the type of the grid
};

/// Time and memory of all plans come from this.
plan::Description describe_program(const std::shared_ptr<const Problem>& problem, const Plan& plan);

/// Bytes that rounds bring and store in all steps.
std::uint64_t moved_bytes(const Problem& problem, const Plan& plan);
/// Bytes of the fullest tile's cells, at least.
std::uint64_t least_bytes(const std::shared_ptr<const Problem>& problem, const Plan& plan);
/// Cycles that tiles work at least in all steps, without what rounds move. `shell`: a description
/// without steps, which keeps the calls.
std::uint64_t least_steps(const std::shared_ptr<const Problem>& problem, const Plan& plan,
                          plan::Description& shell, plan::Pricing& pricing);

/// Throws UserError if no plan fits.
kernels::Planned<Plan> planned(const std::shared_ptr<const Problem>& problem, MachineCosts& costs);
WorkloadSummary summary(const Problem& problem, const Plan& plan);
CheckResult checked(const Problem& problem, const Plan& plan, const TensorReader& tensors,
                    const CheckRequest& request);

using Stencil = kernels::PlannedWorkload<Problem, Plan>;

}  // namespace tessera::stencil
