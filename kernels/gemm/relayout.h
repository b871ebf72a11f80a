#pragma once

#include <memory>
#include <vector>

#include "kernels/gemm/panels.h"
#include "kernels/gemm/vertices.h"
#include "sim/program/program.h"

namespace tessera::gemm {

/// The steps that layout `natural` adds to a product: rows of A and B become panels of X and W,
/// blocks of Y become rows, rows of parts become the rows of C.
class Relayout {
 public:
  using BufferId = program::BufferId;
  /// A and B as they are given, C where it is wanted. Each matrix is at least as wide and, but for
  /// A and C, as high as whole blocks.
  struct Matrices {
    Rows a, b, c;
  };
  Relayout(const Geometry& geometry, const MachineConfig& machine, program::Program& program,
           Vertices& vertices, Matrices matrices);

  /// Two steps, in this order, that fill the panels.
  program::Exchange inputs();
  program::ComputeSet regrouping();
  [[nodiscard]] std::vector<Storage::Piece> pieces(Storage::Role role, const Cell& cell,
                                                   std::uint32_t cut) const;
  /// By tile of the machine.
  [[nodiscard]] const std::vector<BufferId>& panels(Storage::Role role) const;

  /// Regroups the parts `y` of Y into `rows`, by tile of the geometry.
  program::ComputeSet y_to_rows(const std::vector<BufferId>& y, const std::vector<BufferId>& rows);
  /// Sends each tile's share of the finished rows to where C is wanted.
  program::Exchange result(const std::vector<BufferId>& results) const;

 private:
  struct Side {
    Panels panels;
    Rows given;
    std::vector<BufferId> received = {};   ///< panels in rows
    std::vector<BufferId> regrouped = {};  ///< panels in blocks
  };
  BufferId add_buffer(std::uint32_t tile, std::uint64_t bytes, std::string_view name);
  void add_buffers(Side& side);
  void add_exchange(const Side& side, program::Exchange& exchange) const;
  void add_vertices(const Side& side, program::ComputeSet& set);

  const Geometry& geometry_;
  const MachineConfig& machine_;
  program::Program& program_;
  Vertices& vertices_;
  Side x_;
  Side w_;
  Rows c_;
};

}  // namespace tessera::gemm
