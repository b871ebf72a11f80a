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
/// Arrays of the given A and B and of C. Each is at least as wide and, except A and C, as high as
/// whole blocks.
struct RowArrays {
  RowArray a, b, c;
};
/// Adds the arrays of a product. Without operands they only serve estimates.
RowArrays given_by_rows(const Geometry& geometry, plan::Tile tiles, plan::Description& description,
                        const Operand* a, const Operand* b);
/// Pulls bytes of a row of C from the tiles that add it, whose results are in `from`; `into`:
/// destination of the first byte.
void pull_row(const Geometry& geometry, BufferId from, std::uint64_t row, Interval bytes,
              Place into, Pulls& pulls);

/// States the program of a plan without rounds, and its result's tensor. Without operands it only
/// serves estimates. All arguments but `geometry` must outlive the description.
void describe_program(plan::Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code, const Operand* a,
                      const Operand* b);

/// Adds the steps of a plan in layout natural to a description in which other steps produce A and
/// B.
void describe_product(plan::Description& description, const Geometry& geometry,
                      const MachineConfig& machine, const elf::KernelCode& code,
                      const RowArrays& matrices);

/// The steps of a product in layout blocked whose operands are loaded, round by round, and whose
/// result is stored by others.
struct RoundSteps {
  BufferId x, w;  ///< destination of a round's operands, as in Storage
  BufferId result;
  bool in_place;                          ///< the sums of later rounds overwrite the result
  std::function<void(bool first)> round;  ///< states a round; `first`: its sum begins with it
  std::function<void()> finish;  ///< states the conversion of all rounds' sums to the result
};
/// Adds its arrays. All arguments must outlive the description.
RoundSteps round_steps(const Geometry& geometry, const MachineConfig& machine,
                       const elf::KernelCode& code, plan::Description& description);

/// Representative tiles: the fullest, and those whose pairs receive different operands.
std::vector<plan::Tile> representatives(const Geometry& geometry);

}  // namespace tessera::gemm
