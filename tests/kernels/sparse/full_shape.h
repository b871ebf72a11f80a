#pragma once

#include "kernels/sparse/code/shape.h"
#include "tests/sim/machine/units.h"

namespace tessera::test {

/// A product in blocks, or of single elements, on the full unit.
inline sparse::Shape full_shape(std::uint32_t block, sparse::Type type, sparse::Type partials) {
  sparse::Shape shape{block, type, partials};
  shape.unit = kernels::block_shape(full_unit(), type, partials);
  return shape;
}

}  // namespace tessera::test
