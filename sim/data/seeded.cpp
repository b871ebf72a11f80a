#include "sim/data/seeded.h"

#include <utility>

#include "sim/data/element.h"

namespace tessera::data {

void Seeded::write(std::uint64_t first, std::span<std::byte> into) const {
  elements_by(type, [this](std::uint64_t number) { return element(number); })(first, into);
}

program::Tensor tensor_of(std::string name, const Seeded& elements,
                          std::vector<std::uint64_t> shape) {
  program::Tensor tensor{std::move(name), program::Role::input, elements.type, std::move(shape)};
  tensor.given = [elements](std::uint64_t first, std::span<std::byte> into) {
    elements.write(first, into);
  };
  return tensor;
}

}  // namespace tessera::data
