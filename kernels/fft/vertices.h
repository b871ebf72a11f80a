#pragma once

#include <map>
#include <string>

#include "kernels/fft/passes.h"
#include "sim/elf/codelet.h"

namespace tessera::fft {

using program::BufferId;
using program::Place;

/// What one worker does of a vertex: so many groups (pairs of rows), so many units of each.
struct Share {
  std::uint64_t groups;
  std::uint64_t units;
};

/// Makes calls of the tile code for one program. `unit_parts`: of the units of a group among the
/// workers; it divides their number.
class Vertices {
 public:
  Vertices(const elf::KernelCode& code, program::Program& program, std::uint32_t contexts)
      : code_(code), program_(program), contexts_(contexts) {}

  /// `pass` over rows of `columns` points.
  program::Vertex pass(TileId tile, const Pass& pass, std::uint64_t columns, Direction direction,
                       BufferId twiddles, BufferId in, BufferId out, std::uint32_t unit_parts);
  /// A transposition of `pairs` pairs of rows of `columns` points, to where `list` (RowPairs'
  /// entries) says; with `twiddles`, laid out as `in`, or without (null).
  program::Vertex transposition(TileId tile, std::uint64_t pairs, std::uint64_t columns,
                                const BufferId* twiddles, BufferId list, BufferId in, BufferId out,
                                std::uint32_t unit_parts);

 private:
  std::uint32_t codelet(const std::string& name);

  const elf::KernelCode& code_;
  program::Program& program_;
  std::uint32_t contexts_;
  std::map<std::string, std::uint32_t> codelets_;  ///< in the program
};

/// Numbers of a pass's twiddles, and their bytes.
void fill_twiddles(const Pass& pass, Direction direction, std::span<std::byte> into);
std::uint32_t twiddle_bytes(const Pass& pass);

}  // namespace tessera::fft
