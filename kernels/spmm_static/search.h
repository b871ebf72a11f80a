#pragma once

#include <map>
#include <memory>
#include <vector>

#include "kernels/spmm_static/expectation.h"
#include "kernels/spmm_static/plan.h"
#include "kernels/spmm_static/product.h"
#include "sim/plan/pricing.h"

namespace tessera::spmm_static {

/// Cycles of the products' tile code on a machine.
class Cost {
 public:
  Cost(const Shape& shape, const sparse::BlockMatrix& w, MachineCosts& costs);

  /// Cycles of a tile for `blocks` blocks spread evenly over `rows` block rows, times `width`
  /// columns that the workers divide.
  std::uint64_t product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width);
  /// A lower bound of product(), from its results for less work.
  [[nodiscard]] std::uint64_t product_at_least(std::uint64_t rows, std::uint64_t blocks,
                                               std::uint32_t width) const;
  /// Prices of the ways in which workers share a product of at least `rows` block rows in vector
  /// code.
  const PricedSharings& sharings(std::uint32_t width, std::size_t rows);
  /// Cycles of a tile to sum `words` words of results from `partials` partials each.
  std::uint64_t adding(std::uint64_t words, std::uint64_t partials);

  [[nodiscard]] plan::Pricing& pricing() { return pricing_; }
  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }
  [[nodiscard]] const sparse::TileCode& code() const { return code_; }
  /// Work of single elements; null where W has blocks.
  [[nodiscard]] const std::shared_ptr<const ElementWorks>& elements() const { return elements_; }

 private:
  const plan::Function& shared(const Sharing& sharing);
  SharingPrice price(const Sharing& sharing, std::uint32_t width);
  ElementWork element_work(std::uint32_t words, std::uint64_t most_in_row);
  std::uint64_t call(const plan::Function& function, const Sizes& sizes) {
    return pricing_.call(shell_, function, sizes);
  }

  const Shape shape_;
  plan::Pricing pricing_;
  sparse::TileCode code_;
  std::uint32_t workers_;
  plan::Description shell_;  ///< has no steps; owns the code
  Statement statement_;
  plan::Function blocks_, adding_;
  std::map<Sharing, plan::Function> shared_;          ///< blocks in vector code
  std::map<std::uint32_t, PricedSharings> sharings_;  ///< by width
  std::map<Sizes, std::uint64_t> said_;               ///< cycles of products of blocks
  std::shared_ptr<const ElementWorks> elements_;
};

/// Searches the plan of one form of the product; pinned keys are kept.
Plan searched(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n, Cost& cost,
              const Pinned& pinned, const Reservation& around);

/// The ways to bring the operands that the search tries: rounds of columns, parts of the rows of W,
/// and when they are loaded. What it refers to outlives it.
class RoundChoices {
 public:
  RoundChoices(const sparse::BlockMatrix& w, const Shape& shape, std::uint32_t n,
               const MachineConfig& machine, const Pinned& pinned, const Reservation& around)
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
  [[nodiscard]] std::uint32_t columns(std::uint32_t rounds) const;
  std::span<const sparse::BlockMatrix> parts_of(std::uint32_t row_parts);
  /// The problem of a round with the first part of the rows.
  Problem round_of(const Cuts& cuts);
  /// All ways, with pinned cuts only: one if the operands lie on the tiles.
  [[nodiscard]] std::vector<Cuts> all() const;
  /// Expected cycles of all rounds if one takes `cycles`.
  [[nodiscard]] std::uint64_t expected(const Cuts& cuts, std::uint64_t cycles) const;

 private:
  /// Numbers of parts of W's rows to try: the fewest whose values fit on all tiles together, and
  /// some more.
  [[nodiscard]] std::vector<std::uint32_t> numbers_of_row_parts() const;
  /// Bytes that all rounds load and store.
  [[nodiscard]] std::uint64_t moved(const Cuts& cuts) const;

  const sparse::BlockMatrix& w_;
  std::uint32_t n_;
  const MachineConfig& machine_;
  const Pinned& pinned_;
  const Reservation& around_;
  Problem problem_;
  std::map<std::uint32_t, std::vector<sparse::BlockMatrix>> parts_;  ///< parts of W's rows
};

}  // namespace tessera::spmm_static
