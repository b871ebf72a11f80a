#pragma once

#include <functional>

#include "kernels/gemm/storage.h"
#include "kernels/gemm/vertices.h"
#include "sim/plan/description.h"

namespace tessera::gemm {

/// A row-major matrix and the array of a description that holds it.
struct RowArray {
  RowMajor stored;
  BufferId array;
};
/// A and B as they are given, C where it is wanted. Each is at least as wide and, but for A and C,
/// as high as whole blocks.
struct RowArrays {
  RowArray a, b, c;
};
/// Adds those of a product. Without operands they are good for estimates alone.
RowArrays given_by_rows(const Geometry& geometry, plan::Tile tiles, plan::Description& description,
                        const Operand* a, const Operand* b);
/// Bytes of a row of C from the tiles that add it up, which have their results in `from`; `into`:
/// the place of the first.
void pull_row(const Geometry& geometry, BufferId from, std::uint64_t row, Interval bytes,
              Place into, Pulls& pulls);

/// States the program of a plan without rounds, and the tensor of its result. Without operands it
/// is good for estimates alone. All but `geometry` outlive the description.
void describe_program(plan::Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code, const Operand* a,
                      const Operand* b);

/// Adds the steps of a plan of layout natural to a description in which others make A and B.
void describe_product(plan::Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code,
                      const RowArrays& matrices);

/// The steps of a product of layout blocked, of which others bring the operands, round by round,
/// and take the result.
struct RoundSteps {
  BufferId x, w;  ///< where the operands of a round are brought, as Storage has them
  BufferId result;
  bool in_place;                          ///< the sums of the next rounds overwrite the result
  std::function<void(bool first)> round;  ///< states one, of a sum that begins with it or goes on
  std::function<void()> finish;           ///< states what makes the sums of all rounds the result
};
/// Adds its arrays. All arguments outlive the description.
RoundSteps round_steps(const Geometry& geometry, const MachineConfig& machine,
                       const elf::KernelCode& code, plan::Description& description);

/// The tiles that stand for all others: the fullest, and those whose pairs take different operands.
std::vector<plan::Tile> representatives(const Geometry& geometry);

}  // namespace tessera::gemm
