#include "kernels/convnet/array.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera::convnet {

Range part_of(std::uint32_t all, std::uint32_t parts, std::uint32_t number) {
  const std::uint32_t each = (all + parts - 1) / parts;
  return {std::min(all, number * each), std::min(all, (number + 1) * each)};
}

Array array_of(const MachineConfig& machine) {
  constexpr const char* kStreams[] = {kActivations, kWeights,     kResults, kHalo,
                                      kLoad,        kLoadWeights, kStore};
  const Array array = arrays::array_of(machine, kStreams, "convnet");
  if (!machine.tile.matrix_unit.i8.exists())
    throw KeyError("machine.tile.matrix_unit.i8.outputs",
                   "found 0, allowed 8: convnet computes on the int8 unit");
  return array;
}

}  // namespace tessera::convnet
