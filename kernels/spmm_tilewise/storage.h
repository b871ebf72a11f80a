#pragma once

#include <cstdint>
#include <vector>

#include "kernels/spmm_tilewise/plan.h"

/// Where A, W and C lie before and after the run: spread evenly over all tiles of the machine,
/// whatever the plan makes of them. A and C are stored alike, [panel of rows][column][row], so that
/// the C of one layer is the A of the next; W [group][depth block][column][input], kept rows only.
namespace tessera::spmm_tilewise {

using kernels::EvenStorage;

/// The stretch of W that a group takes in one superstep.
class WeightStorage {
 public:
  WeightStorage(const Problem& problem, const Plan& plan, const TilePattern& pattern,
                const DenseWeights& w, std::uint32_t tiles);

  [[nodiscard]] const EvenStorage& storage() const { return storage_; }
  [[nodiscard]] Interval bytes_of(std::uint32_t group, std::uint32_t cut) const;
  /// Writes what is stored from byte `first` on.
  void fill(std::uint64_t first, std::span<std::byte> into) const;
  /// Element of a group, counted from its first.
  [[nodiscard]] double value(std::uint32_t group, std::uint64_t element) const;

 private:
  [[nodiscard]] std::uint64_t block_bytes(const Group& group) const;  ///< of one block of depth

  const Problem& problem_;
  const Plan& plan_;
  const TilePattern& pattern_;
  const DenseWeights& w_;
  std::vector<std::uint64_t> begin_;  ///< by group, and the end
  EvenStorage storage_;
};

}  // namespace tessera::spmm_tilewise
