#pragma once

#include <map>
#include <string>

#include "kernels/butterfly/twiddles.h"
#include "sim/elf/codelet.h"

namespace tessera::butterfly {

using program::BufferId;
using program::Place;

/// Makes calls of the tile code for one program.
class Vertices {
 public:
  Vertices(const elf::KernelCode& code, program::Program& program, const Problem& problem,
           std::uint32_t contexts, std::uint32_t workers_n)
      : code_(code),
        program_(program),
        problem_(problem),
        contexts_(contexts),
        workers_n_(workers_n) {}

  /// `pass` on rows of `units` in `in`, to those in `out` (the same or others).
  program::Vertex pass(TileId tile, const RowPass& pass, std::uint64_t units, Place twiddles,
                       BufferId in, BufferId out);
  /// The same of F^H for twiddles as F has them: one factor, real numbers.
  program::Vertex adjoint_pass(TileId tile, const RowPass& pass, std::uint64_t units,
                               Place twiddles, BufferId in, BufferId out);
  /// The outer products of two rows of `gradient` with two of `x` for every group of a pass of one
  /// factor, summed over their columns: four f32 numbers a group (of complex ones eight) at `sums`,
  /// for each part of the columns an array of `array_bytes`.
  program::Vertex products(TileId tile, const RowPass& pass, std::uint64_t units, Place sums,
                           std::uint64_t array_bytes, BufferId gradient, BufferId x);
  /// The arrays, the first of them, that this writes: few units leave workers idle.
  [[nodiscard]] std::uint32_t arrays(std::uint64_t units) const;
  /// Gradients of `pairs` angles from such sums, given their cosines and sines.
  program::Vertex angles(TileId tile, std::uint64_t pairs, Place sums, BufferId angles,
                         BufferId result);

 private:
  std::uint32_t codelet(const std::string& name);
  /// What tile code calls the problem's numbers: of complex ones it may see the parts alone.
  [[nodiscard]] std::string number_name() const;
  /// Bytes of a row that tile code takes at once.
  [[nodiscard]] std::uint32_t step_bytes() const {
    return problem_.complex_code() ? problem_.unit_bytes() : kWordBytes;
  }
  /// A call whose groups and runs are divided among workers; each group has `group_bytes` at
  /// `second` and each part of the columns an array of `array_bytes` there.
  program::Vertex rows_vertex(TileId tile, const std::string& name, const RowPass& pass,
                              std::uint64_t units, BufferId in, BufferId out, Place second,
                              std::uint64_t group_bytes, std::uint64_t array_bytes);

  const elf::KernelCode& code_;
  program::Program& program_;
  const Problem& problem_;
  std::uint32_t contexts_;
  std::uint32_t workers_n_;
  std::map<std::string, std::uint32_t> codelets_;  ///< in the program
};

}  // namespace tessera::butterfly
