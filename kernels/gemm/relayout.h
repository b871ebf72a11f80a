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
  /// Adds the buffers of C: that of tile t is number t.
  Relayout(const Geometry& geometry, const MachineConfig& machine, program::Program& program,
           Vertices& vertices);

  /// An exchange and a compute set that fill the panels.
  void add_inputs(const Operand& a, const Operand& b);
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
    RowMajor stored;
    const Operand* operand = nullptr;
    std::vector<BufferId> given;      ///< row-major
    std::vector<BufferId> received;   ///< panels in rows
    std::vector<BufferId> regrouped;  ///< panels in blocks
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
  RowMajor c_;
  std::vector<BufferId> c_buffers_;
};

}  // namespace tessera::gemm
