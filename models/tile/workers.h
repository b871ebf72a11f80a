#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/tile/race_check.h"
#include "models/tile/tile_program.h"
#include "models/tile/tile_settings.h"
#include "sim/base/errors.h"
#include "sim/engine/session.h"

namespace tessera {

/// The worker contexts of one tile and its weight store.
/// Timing: a worker started at t runs alone to its end at t + issue.cycles(slots); this is exact
/// because the workers of one `run` share no data until `join`.
class Workers {
 public:
  static constexpr std::uint32_t kWeightWords = 64;

  struct Work {
    std::uint64_t instructions = 0;
    std::uint64_t flops = 0;
    bool within_limit = true;
  };

  Workers(const TileSettings& settings, const TileProgram& program, TileId tile);

  /// Where and when a worker is started.
  struct Launch {
    std::uint32_t worker;
    std::uint32_t pc;
    std::uint32_t argument;   ///< a0
    std::uint32_t superstep;  ///< CSR superstep
    Cycle at;                 ///< not before free_at(worker)
  };

  /// Runs a worker to its end; `races` (may be null) records what it touches. Throws UserError for
  /// a fault or a race.
  Work start(const Launch& launch, const engine::TileMemory& memory, engine::Session& session,
             RaceCheck* races);

  /// When `worker` has ended what it was last given.
  [[nodiscard]] Cycle free_at(std::uint32_t worker) const { return free_at_[worker]; }
  [[nodiscard]] Cycle all_free_at() const;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(free_at_.size()); }
  /// "worker 2 running ...", if a worker passed the cycle limit; else empty.
  [[nodiscard]] std::string endless() const;
  [[nodiscard]] std::uint64_t* weights() { return weights_.data(); }
  [[nodiscard]] const engine::Context& context(std::uint32_t worker) const {
    return contexts_[worker];
  }

 private:
  [[nodiscard]] UserError fault(const engine::Context& context, const engine::Exit& exit) const;

  const TileSettings& settings_;
  const TileProgram& program_;
  std::vector<engine::Context> contexts_;
  std::vector<Cycle> free_at_;
  std::vector<std::uint64_t> weights_;
  std::vector<std::uint32_t> endless_;  ///< workers that passed the cycle limit
};

}  // namespace tessera
