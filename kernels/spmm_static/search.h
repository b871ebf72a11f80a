#pragma once

#include <map>
#include <memory>

#include "kernels/spmm_static/plan.h"
#include "kernels/spmm_static/product.h"
#include "sim/plan/pricing.h"

namespace tessera::spmm_static {

/// What the tile code of products takes on a machine.
class Cost {
 public:
  Cost(const Shape& shape, const sparse::BlockMatrix& w, MachineCosts& costs);

  /// Of a tile: `blocks` blocks in `rows` block rows, evenly, times `width` columns.
  std::uint64_t product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width);
  /// No more than product() says: what it has said for less work.
  [[nodiscard]] std::uint64_t product_at_least(std::uint64_t rows, std::uint64_t blocks,
                                               std::uint32_t width) const;
  /// Of a tile: `words` words of results of so many partials each.
  std::uint64_t adding(std::uint64_t words, std::uint64_t partials);

  [[nodiscard]] plan::Pricing& pricing() { return pricing_; }
  [[nodiscard]] const MachineConfig& machine() const { return pricing_.machine(); }
  [[nodiscard]] const sparse::TileCode& code() const { return code_; }
  /// Of single elements; null where W has blocks.
  [[nodiscard]] const std::shared_ptr<const ElementWorks>& elements() const { return elements_; }

 private:
  ElementWork element_work(std::uint32_t words, std::uint64_t most_in_row);
  std::uint64_t call(const plan::Function& function, const plan::Sizes& sizes) {
    return pricing_.call(shell_, function, sizes);
  }

  const Shape shape_;
  plan::Pricing pricing_;
  sparse::TileCode code_;
  std::uint32_t workers_;
  plan::Description shell_;  ///< of no steps: it keeps code
  Statement statement_;
  plan::Function blocks_, adding_;
  std::map<plan::Sizes, std::uint64_t> said_;  ///< of products of blocks
  std::shared_ptr<const ElementWorks> elements_;
};

/// The plan of one form of the product, what is pinned taken as it is.
Plan searched(const sparse::BlockMatrix& w, const sparse::Shape& shape, std::uint32_t n, Cost& cost,
              const Pinned& pinned, const Surroundings& around);

}  // namespace tessera::spmm_static
