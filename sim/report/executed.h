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

/// The instructions that nodes [begin, end) executed. Instructions without a counter of their own
/// count as executed if the nodes' code contains them.
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
  /// The run.block numbers in the code.
  [[nodiscard]] const std::set<std::uint32_t>& blocks() const { return blocks_; }

 private:
  void note(std::span<const std::byte> code);

  std::array<bool, isa::kMnemonics> mnemonics_{};
  std::array<bool, static_cast<std::size_t>(isa::ResultClass::matrix) + 1> results_{};
  std::set<std::uint32_t> blocks_;
  TileActivity done_;
};

/// Pipeline waits that a supervisor's code can cause.
struct SupervisorWaits {
  bool branches = false;
  bool loads = false;  ///< the next instruction reads a loaded register
};

/// Waits in an image's control code; if that makes calls, load waits in all its code.
SupervisorWaits supervisor_waits(const program::CodeImage& image, TileConfig tile);

}  // namespace tessera::report
