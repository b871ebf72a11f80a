#pragma once

#include <map>
#include <vector>

#include "kernels/spmm_static/expectation.h"
#include "kernels/spmm_static/plan.h"

namespace tessera::spmm_static {

/// The ways to bring the operands that the search tries: rounds of columns, parts of the rows of W,
/// and when they are loaded. What it refers to outlives it.
class RoundChoices {
 public:
  RoundChoices(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
               const MachineConfig& machine, const Pinned& pinned, const Surroundings& around)
      : w_(w),
        n_(n),
        machine_(machine),
        pinned_(pinned),
        around_(around),
        problem_(make_problem(w, shape, n)) {}

  /// The product as a whole.
  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// Bytes of a tile, without what others hold.
  [[nodiscard]] std::uint64_t room() const;
  /// Columns of a round.
  [[nodiscard]] std::uint32_t columns(std::uint32_t rounds) const;
  /// W, or parts of its rows.
  std::span<const sparse::BlockMatrix> parts_of(std::uint32_t row_parts);
  /// The problem of a round with the first part of the rows.
  Problem round_of(const Cuts& cuts);
  /// All ways, without cuts otherwise: one if the operands lie on the tiles.
  [[nodiscard]] std::vector<Cuts> all() const;
  /// Cycles of all rounds where one is expected to take so many.
  [[nodiscard]] std::uint64_t expected(const Cuts& cuts, std::uint64_t cycles) const;

 private:
  /// Parts of the rows of W that are tried: as few as have values that all tiles together hold, and
  /// some more.
  [[nodiscard]] std::vector<std::uint32_t> numbers_of_row_parts() const;
  /// Bytes that rounds bring and store.
  [[nodiscard]] std::uint64_t moved(const Cuts& cuts) const;

  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  const MachineConfig& machine_;
  const Pinned& pinned_;
  const Surroundings& around_;
  Problem problem_;
  std::map<std::uint32_t, std::vector<sparse::BlockMatrix>> parts_;  ///< of W's rows
};

}  // namespace tessera::spmm_static
