#include "sim/plan/description.h"

namespace tessera::plan {

const Function& Description::function(Function function) {
  const auto [known, is_new] = functions_.try_emplace(function.name);
  if (!is_new) return known->second;
  const Sizes ones(function.axes.size(), 1);
  const std::vector<Place> operands(function.operand_bytes(ones).size());
  static_cast<void>(function.vertex(ones, operands));
  return known->second = std::move(function);
}

}  // namespace tessera::plan
