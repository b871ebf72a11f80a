#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "kernels/spmm_tilewise/pattern.h"
#include "sim/plan/pricing.h"

/// The overlay of method tew on one group's columns: single elements that workers add to C one by
/// one, from gathered rows of A^T.
namespace tessera::spmm_tilewise {

struct OverlayPart {
  std::vector<std::uint32_t> rows;   ///< rows of W with elements, ascending
  std::vector<std::uint32_t> begin;  ///< index of each column's first element, and the end
  std::vector<std::uint32_t> row;    ///< index in `rows` of each element's row, by column

  [[nodiscard]] bool empty() const { return row.empty(); }
  [[nodiscard]] std::uint64_t columns() const { return begin.size() - 1; }
  [[nodiscard]] std::uint64_t elements(Interval of) const {
    return begin[of.end] - begin[of.begin];
  }
};

/// The elements in columns [columns.begin, columns.end) of a tile of the pattern, except those of
/// `whole_rows` (ascending), which the matrix unit multiplies.
OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile, Interval columns,
                         const std::vector<std::uint32_t>& whole_rows);

/// Number of elements of each of `rows` rows of W in the columns of a tile.
std::vector<std::uint32_t> singles_by_row(const TilePattern& pattern, const ColumnTile& tile,
                                          std::uint32_t rows);

/// Cycles of the codelet in each panel, on a tile whose workers all do the same: for the panel
/// itself, and for each column and element of a worker.
struct OverlayWork {
  double panel = 0;
  double column = 0;
  double element = 0;

  [[nodiscard]] double cycles(std::uint64_t columns, std::uint64_t elements) const {
    return columns == 0 ? 0
                        : panel + static_cast<double>(columns) * column +
                              static_cast<double>(elements) * element;
  }
};

/// The columns of each worker: consecutive, of about equal work.
std::vector<Interval> worker_columns(const OverlayPart& part, const OverlayWork& work,
                                     std::uint32_t workers);

/// Calls of the tile code in sparse/code/codelets_overlay.S.
class OverlayCode {
 public:
  /// `code` must outlive the description.
  OverlayCode(const elf::KernelCode& code, plan::Description& description,
              const gemm::BlockShape& block, std::uint32_t contexts);

  struct Call {
    const OverlayPart& part;
    const OverlayWork& work;
    std::uint64_t panels;
    bool adds;  ///< true: adds to the result
  };
  struct Operands {
    Place list, values, a, result;
  };
  void add(const Call& call, const Operands& operands, Calls& calls) const;
  [[nodiscard]] std::uint64_t cycles(const Call& call, plan::Pricing& pricing) const;
  [[nodiscard]] OverlayWork work(plan::Pricing& pricing) const;

  static std::uint64_t list_bytes(const OverlayPart& part) {
    return sizeof(std::uint16_t) * (part.row.size() + part.columns());
  }
  /// Writes the number of elements of each column, then the offset of each element's row in a
  /// panel.
  void write_list(const OverlayPart& part, std::span<std::byte> into) const;

 private:
  [[nodiscard]] plan::Function function(const std::string& name, bool adds) const;
  [[nodiscard]] program::Vertex vertex(const Call& call, const Operands& operands) const;
  [[nodiscard]] Sizes sizes(const Call& call) const;

  plan::Description& description_;
  gemm::BlockShape block_;
  std::uint32_t contexts_;
  kernels::Codelet codelets_[2];  ///< overwriting C, and adding to it
  const plan::Function* functions_[2];
};

}  // namespace tessera::spmm_tilewise
