#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/timing/timing_proof.h"
#include "sim/config/config.h"
#include "sim/program/fingerprint.h"
#include "sim/report/report.h"

namespace tessera {

/// Caches the last proof of a timing run for a process's next config. It stays valid if the config
/// differs only by more SRAM, tiles hold the same images, and there are no input files.
class RememberedProof {
 public:
  /// Returns the cached proof if it is valid for this config, else calls `prove`.
  std::shared_ptr<const TimingProof> proof(const config::Config& config, const report::Built& built,
                                           const std::function<TimingProof()>& prove);

 private:
  std::string config_;  ///< resolved, without the SRAM's size
  std::uint32_t sram_kib_ = 0;
  program::Fingerprint program_, images_;
  std::shared_ptr<const TimingProof> proof_;  ///< null: no proof yet
};

}  // namespace tessera
