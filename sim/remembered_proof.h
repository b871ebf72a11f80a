#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/timing/timing_proof.h"
#include "sim/config/config.h"
#include "sim/program/fingerprint.h"
#include "sim/report/report.h"

namespace tessera {

/// The last proof of a timing run, for the next config of a process: it holds where tiles hold the
/// same in more SRAM, and the config is the same but for its size.
class RememberedProof {
 public:
  /// The result of `prove` for this config: runs it, or returns the remembered one.
  std::shared_ptr<const TimingProof> proof(const config::Config& config, const report::Built& built,
                                           const std::function<TimingProof()>& prove);

 private:
  std::string config_;  ///< resolved, without the size of the SRAM
  std::uint32_t sram_kib_ = 0;
  program::Fingerprint program_, images_;
  std::shared_ptr<const TimingProof> proof_;  ///< null: none
};

}  // namespace tessera
