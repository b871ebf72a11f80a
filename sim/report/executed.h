#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "sim/isa/activity.h"
#include "sim/isa/mnemonic.h"
#include "sim/isa/result_class.h"
#include "sim/program/image.h"
#include "sim/report/run_result.h"

namespace tessera::report {

/// Instructions that the nodes from `begin` to `end` executed. What is not counted one by one may
/// have been executed if their code holds it.
class Executed {
 public:
  Executed(const program::Images& images, const RunResult& result, std::size_t begin,
           std::size_t end);

  [[nodiscard]] bool some(isa::Mnemonic mnemonic) const { return mnemonics_[isa::index(mnemonic)]; }
  [[nodiscard]] bool some(isa::ResultClass result) const {
    return results_[static_cast<std::size_t>(result)];
  }
  [[nodiscard]] bool some(isa::Activity activity) const {
    return done_.counts[isa::index(activity)] > 0;
  }

 private:
  void note(std::span<const std::byte> code);

  std::array<bool, isa::kMnemonics> mnemonics_{};
  std::array<bool, static_cast<std::size_t>(isa::ResultClass::matrix) + 1> results_{};
  TileActivity done_;
};

}  // namespace tessera::report
