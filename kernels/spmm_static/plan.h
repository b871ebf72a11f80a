#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/spmm_static/partition.h"
#include "sim/config/fields.h"
#include "sim/program/image.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The plan of Y = W X: numbers of column intervals and of bands of W, and how they are chosen.
namespace tessera::spmm_static {

/// The planner that chooses keys which are not pinned.
enum class Algorithm : std::uint8_t {
  best,       ///< the fewest predicted cycles for this pattern
  published,  ///< the vendor's planner: expectations for a random pattern (sparse/published)
};

/// Rounds with operands in external memory: for each part of the rows of W, whose values are loaded
/// once, all parts of the columns of X and Y.
struct Rounds {
  std::uint32_t m = 1;
  std::uint32_t n = 1;
  kernels::PinnedLoads loads = {};
  bool operator==(const Rounds&) const = default;
};
void describe(config::Fields& fields, Rounds& rounds);

struct Pinned {
  Algorithm algorithm = Algorithm::best;
  std::uint32_t parts = 0;  ///< 0: chosen
  std::uint32_t bands = 0;
  std::optional<Dealing> dealing = std::nullopt;  ///< none: chosen
  std::optional<Sums> sums = std::nullopt;        ///< none: chosen
  kernels::Form unit = {};                        ///< form of block products; none: chosen
  std::optional<Rounds> rounds = {};              ///< none: chosen, if there are any
  bool operator==(const Pinned&) const = default;
};
void describe(config::Fields& fields, Pinned& plan);
void describe_dealing(config::Fields& fields, std::optional<Dealing>& dealing);

struct Plan {
  Algorithm algorithm;
  Partition partition;
  Prediction prediction;
  program::CategoryBytes memory;      ///< bytes of the fullest tile, only for this product
  std::string misfit;                 ///< why nothing fits the tiles' SRAM; empty: the plan does
  bool outside = false;               ///< operands lie outside the tiles
  std::vector<Partition> below = {};  ///< partitions of further parts of W's rows
};
/// The plan as it is printed and can be pinned.
Pinned pinned(const Plan& plan);

/// The program around a product, which may have other steps.
struct Reservation {
  std::string kernel = "spmm_static";  ///< for messages
  std::string keys = "workload.plan";  ///< prefix of pinned keys
  std::vector<DenseRows> x = {};       ///< storage of X, if it is not one even array
  std::uint64_t beside = 0;            ///< bytes per tile that other steps hold meanwhile
  bool schedules = false;              ///< schedule the exchanges of the best plans
  bool outside = false;                ///< X, the values of W and Y lie in external memory
};

/// Throws KeyError for pinned cuts out of range.
Plan choose_plan(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n,
                 MachineCosts& costs, const Pinned& pinned, const Reservation& around = {});
/// The best of several forms of the product (sparse::make_shapes).
Plan choose_plan(const sparse::BlockMatrix& w, std::span<const sparse::Shape> shapes,
                 std::uint32_t n, MachineCosts& costs, const Pinned& pinned,
                 const Reservation& around = {});
/// True if the fullest tile's product in another form takes at most a quarter longer: with other
/// cuts that form may be faster.
bool may_be_faster(const sparse::Shape& shape, const Partition& than, const sparse::BlockMatrix& w,
                   MachineCosts& costs);

}  // namespace tessera::spmm_static
