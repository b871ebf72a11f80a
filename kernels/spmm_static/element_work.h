#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/sparse/code/shape.h"
#include "kernels/spmm_static/layer.h"

/// How the workers of a tile divide the rows and columns of an element-wise product, and what the
/// codelets of codelets_elements.S take for it.
namespace tessera::spmm_static {

using sparse::Shape;

/// One of the element-wise codelets: a pass is `words` 64-bit words of a row of X.
struct ElementCode {
  std::string_view codelet;
  std::uint32_t words;
  bool mixed;  ///< two nonzeros at a time
  bool half;   ///< f16 elements
  [[nodiscard]] std::uint64_t row_slots(std::uint64_t nonzeros) const;
  [[nodiscard]] std::uint64_t slots(std::uint64_t row_slots, std::uint64_t passes) const;
};
/// For passes of one or two words.
ElementCode element_code(const Shape& shape, std::uint32_t words);

/// Where one worker of a tile works: rows of the share and passes.
struct WorkerShare {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;
  std::uint32_t first_pass = 0;
  std::uint32_t passes = 0;
  std::uint64_t slots = 0;
};

/// Rectangles of about equal work, `workers` of them; some may be empty.
std::vector<WorkerShare> divide(const Share& share, const ElementCode& code, std::uint32_t passes,
                                std::uint32_t workers);

}  // namespace tessera::spmm_static
