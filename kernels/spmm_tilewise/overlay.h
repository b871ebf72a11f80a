#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codelet.h"
#include "kernels/gemm/shape.h"
#include "kernels/spmm_tilewise/pattern.h"
#include "sim/plan/pricing.h"

/// The overlay of method tew on one group's columns: single elements that workers add to C one
/// after the other, from rows of A^T that are gathered for them.
namespace tessera::spmm_tilewise {

struct OverlayPart {
  std::vector<std::uint32_t> rows;   ///< rows of W that it names, ascending
  std::vector<std::uint32_t> begin;  ///< index of each column's first element, and the end
  std::vector<std::uint32_t> row;    ///< by element, column by column: its row's index in `rows`

  [[nodiscard]] bool empty() const { return row.empty(); }
  [[nodiscard]] std::uint64_t columns() const { return begin.size() - 1; }
  [[nodiscard]] std::uint64_t elements(Interval of) const {
    return begin[of.end] - begin[of.begin];
  }
};

/// The elements in columns [columns.begin, columns.end) of a tile of the pattern, but for those of
/// `whole_rows` (ascending), which go through the matrix unit.
OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile, Interval columns,
                         const std::vector<std::uint32_t>& whole_rows);

/// Elements of each of `rows` rows of W in the columns of a tile.
std::vector<std::uint32_t> singles_by_row(const TilePattern& pattern, const ColumnTile& tile,
                                          std::uint32_t rows);

/// Cycles of the codelet in each panel, on a tile all of whose workers do the same: for the panel
/// itself, and for each column and each element of a worker.
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

/// The columns of each worker: neighbours of about equal work.
std::vector<Interval> worker_columns(const OverlayPart& part, const OverlayWork& work,
                                     std::uint32_t workers);

/// Calls of the tile code in sparse/code/codelets_overlay.S.
class OverlayCode {
 public:
  /// `code` outlives the description.
  OverlayCode(const elf::KernelCode& code, plan::Description& description,
              const gemm::BlockShape& block, std::uint32_t contexts);

  struct Call {
    const OverlayPart& part;
    const OverlayWork& work;
    std::uint64_t panels;
    bool adds;  ///< to what the result holds
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
  /// Writes for each column the number of its elements, then the place of each element's row in a
  /// panel.
  void write_list(const OverlayPart& part, std::span<std::byte> into) const;

 private:
  [[nodiscard]] plan::Function function(const std::string& name, bool adds) const;
  [[nodiscard]] program::Vertex vertex(const Call& call, const Operands& operands) const;
  [[nodiscard]] Sizes sizes(const Call& call) const;

  plan::Description& description_;
  gemm::BlockShape block_;
  std::uint32_t contexts_;
  kernels::Codelet codelets_[2];  ///< that overwrite C, and that add to it
  const plan::Function* functions_[2];
};

}  // namespace tessera::spmm_tilewise
