#include "kernels/sparse/code/shape.h"

namespace tessera::sparse {

std::vector<Shape> make_shapes(std::uint32_t block, Type type, Type partials, Layout layout,
                               const MachineConfig& machine, const kernels::Form& pinned,
                               const char* key) {
  if (type == Type::f32) partials = Type::f32;
  const MatrixUnitConfig& unit = machine.tile.matrix_unit;
  std::vector<Shape> shapes;
  for (const kernels::BlockShape& form :
       kernels::block_shapes_within(block, unit, type, partials, pinned, key)) {
    shapes.push_back({block, type, partials, layout, false, form});
    if (block == 1) break;  // no blocks are multiplied
  }
  return shapes;
}

}  // namespace tessera::sparse
