#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "sim/isa/activity.h"
#include "sim/isa/mnemonic.h"
#include "sim/isa/result_class.h"
#include "sim/machine/machine_config.h"
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
  /// Numbers of run.block.
  [[nodiscard]] const std::set<std::uint32_t>& blocks() const { return blocks_; }

 private:
  void note(std::span<const std::byte> code);

  std::array<bool, isa::kMnemonics> mnemonics_{};
  std::array<bool, static_cast<std::size_t>(isa::ResultClass::matrix) + 1> results_{};
  std::set<std::uint32_t> blocks_;
  TileActivity done_;
};

/// Waits possible in supervisors' code, beside the costs in other parts of a tile.
struct SupervisorWaits {
  bool branches = false;
  bool loads = false;  ///< the next instruction reads a loaded register
};

/// Waits in an image's control code; in all its code if control code may call some.
SupervisorWaits supervisor_waits(const program::CodeImage& image, TileConfig tile);

}  // namespace tessera::report
