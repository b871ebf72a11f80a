#pragma once

#include <memory>
#include <string>

#include "kernels/butterfly/twiddles.h"
#include "sim/elf/codelet.h"
#include "sim/plan/description.h"

namespace tessera::butterfly {

using program::BufferId;
using program::Place;

/// Makes calls of the tile code for one program. `code` and `program` outlive it.
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
  /// Gradients of `pairs` angles from such sums, given their cosines and sines.
  program::Vertex angles(TileId tile, std::uint64_t pairs, Place sums, BufferId angles,
                         BufferId result);

 private:
  /// What tile code calls the problem's numbers: of complex ones it may see the parts alone.
  [[nodiscard]] std::string number_name() const;
  /// A call whose groups and runs are divided among workers; each group has `group_bytes` at
  /// `second` and each part of the columns an array of `array_bytes` there.
  program::Vertex rows_vertex(TileId tile, const std::string& name, const RowPass& pass,
                              std::uint64_t units, BufferId in, BufferId out, Place second,
                              std::uint64_t group_bytes, std::uint64_t array_bytes);

  const elf::KernelCode& code_;
  program::Program& program_;
  Problem problem_;
  std::uint32_t contexts_;
  std::uint32_t workers_n_;
};

/// The same calls as functions of a description. `code` outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, const Problem& problem,
            std::uint32_t contexts, std::uint32_t workers_n)
      : description_(description),
        problem_(problem),
        workers_n_(workers_n),
        vertices_(
            std::make_shared<Vertices>(code, *description.code(), problem, contexts, workers_n)) {}

  /// Sizes: units. Operands: twiddles, rows in, rows out.
  const plan::Function& pass(const RowPass& pass);
  /// The same of F^H, as Vertices has it.
  const plan::Function& adjoint_pass(const RowPass& pass);
  /// Sizes: units. Operands: sums, gradient, x.
  const plan::Function& products(const RowPass& pass, std::uint64_t array_bytes);
  /// Sizes: pairs. Operands: sums, angles, result.
  const plan::Function& angles();

 private:
  using MakePass = program::Vertex (Vertices::*)(TileId, const RowPass&, std::uint64_t, Place,
                                                 BufferId, BufferId);
  const plan::Function& pass_by(const char* what, MakePass make, const RowPass& pass);
  [[nodiscard]] std::string name_of(const char* what, const RowPass& pass) const;
  [[nodiscard]] std::uint64_t rows_bytes(const RowPass& pass, std::uint64_t units) const {
    return pass.rows.count() * units * problem_.unit_bytes();
  }

  plan::Description& description_;
  Problem problem_;
  std::uint32_t workers_n_;
  std::shared_ptr<Vertices> vertices_;
};

}  // namespace tessera::butterfly
