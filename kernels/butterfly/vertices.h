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

 private:
  std::uint32_t codelet(const std::string& name);

  const elf::KernelCode& code_;
  program::Program& program_;
  const Problem& problem_;
  std::uint32_t contexts_;
  std::uint32_t workers_n_;
  std::map<std::string, std::uint32_t> codelets_;  ///< in the program
};

}  // namespace tessera::butterfly
