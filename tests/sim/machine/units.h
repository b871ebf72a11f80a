#pragma once

#include "sim/machine/matrix_unit.h"

namespace tessera::test {

/// A matrix unit for every floating-point type: 16x16, 16x8, 8x16 (inputs x outputs).
inline MatrixUnitConfig full_unit() {
  MatrixUnitConfig unit;
  unit.f16.outputs = 16;
  unit.f16_f32.outputs = 8;
  unit.f32.outputs = 16;
  return unit;
}

}  // namespace tessera::test
