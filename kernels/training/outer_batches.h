#pragma once

#include <memory>

#include "kernels/external.h"
#include "kernels/training/course.h"

/// Batches that lie in memory outside the tiles: a panel each, in the order in which tiles hold
/// them.
namespace tessera::training {

class OuterBatches {
 public:
  /// What the host would give a tile of a copy: places on it, and the contents of the n-th
  /// transfer.
  using Pieces = std::function<void(plan::Tile, plan::HostPieces&)>;
  /// `batches` of all copies, of which `times` are brought.
  OuterBatches(const plan::Copies& copies, const Batches& batches, std::uint32_t times,
               const Pieces& pieces);

  /// Batches that differ: where samples are gone through again, a panel serves again as soon as one
  /// begins where an earlier one did.
  static std::uint64_t panels(const Batches& batches, std::uint32_t times);

  /// Rounds that bring one batch each into `arrays`, those of the pieces; states the buffer.
  [[nodiscard]] plan::Rounds rounds(plan::Description& description, std::string_view name,
                                    std::vector<program::BufferId> arrays,
                                    kernels::Loads loads) const;

 private:
  struct Part {
    plan::Tile tile;  ///< of the machine
    std::uint64_t begin;
    std::uint32_t copy;
    program::HostPiece piece;
  };
  void fill(std::uint64_t panel, std::uint64_t at, std::span<std::byte> into) const;

  std::uint32_t times_, copies_;
  plan::Tile tiles_;
  kernels::PanelFile file_;
  std::shared_ptr<std::vector<Part>> parts_;  ///< of a panel
};

}  // namespace tessera::training
