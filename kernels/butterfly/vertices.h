#pragma once

#include <string>

#include "kernels/butterfly/twiddles.h"
#include "kernels/codelet.h"

namespace tessera::butterfly {

using program::BufferId;
using program::Place;

/// Calls of the tile code as functions of a description. `code` outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, const Problem& problem,
            std::uint32_t contexts, std::uint32_t workers_n)
      : code_(code),
        description_(description),
        problem_(problem),
        contexts_(contexts),
        workers_n_(workers_n) {}

  /// Sizes: units. Operands: twiddles, rows in, rows out (the same or others). `adjoint`: F^H for
  /// twiddles as F has them: one factor, real numbers.
  const plan::Function& pass(const RowPass& pass, bool adjoint = false);
  /// The outer products of two rows of a gradient with two of x for every group of a pass of one
  /// factor, summed over their columns: four f32 numbers a group (of complex ones eight), for each
  /// part of the columns an array of `array_bytes`. Sizes: units. Operands: sums, gradient, x.
  const plan::Function& products(const RowPass& pass, std::uint64_t array_bytes);
  /// Gradients of angles from such sums, given their cosines and sines. Sizes: pairs. Operands:
  /// sums, angles, result.
  const plan::Function& angles();

 private:
  /// What each group and each part of the columns have where the first operand is.
  struct FirstOperand {
    std::uint64_t bytes, group_bytes, array_bytes;
  };
  /// A function of sizes units and operands first, rows in, rows out.
  const plan::Function& of_rows(const std::string& what, const std::string& codelet,
                                const RowPass& pass, const FirstOperand& first);
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return kernels::Codelet::of(code_, description_, name, contexts_);
  }
  /// What tile code calls the problem's numbers: of complex ones it may see the parts alone.
  [[nodiscard]] std::string number_name() const;

  const elf::KernelCode& code_;
  plan::Description& description_;
  Problem problem_;
  std::uint32_t contexts_, workers_n_;
};

}  // namespace tessera::butterfly
