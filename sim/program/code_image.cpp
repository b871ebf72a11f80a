#include <algorithm>

#include "sim/base/errors.h"
#include "sim/program/image.h"

namespace tessera::program {
namespace {

/// The value of the last of `stretches` that begins at or before pc; null before the first.
template <class Value>
const Value* stretch_of(const std::vector<std::pair<Address, Value>>& stretches, std::uint32_t pc) {
  const auto after = std::upper_bound(
      stretches.begin(), stretches.end(), pc,
      [](std::uint32_t at, const auto& stretch) { return at < stretch.first.count(); });
  return after == stretches.begin() ? nullptr : &std::prev(after)->second;
}

}  // namespace

std::uint32_t CodeImage::step_of(std::uint32_t pc) const {
  const std::uint32_t* step = stretch_of(steps, pc);
  return step == nullptr ? kNoStep : *step;
}

const std::string& CodeImage::symbol_of(std::uint32_t pc) const {
  const std::string* symbol = stretch_of(symbols, pc);
  check(symbol != nullptr, "program: no symbol at or before {:#x}", pc);
  return *symbol;
}

}  // namespace tessera::program
