#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "models/costs/remembered_programs.h"
#include "models/costs/remembered_samples.h"
#include "models/costs/tile_sampler.h"
#include "sim/program/machine_costs.h"

namespace tessera {

/// The part of `machine` that planners may know (MachineCosts::machine).
MachineConfig known_to_planners(const MachineConfig& machine);

/// A machine's costs, measured on its own models: a tile runs the code, and the machine's fabric
/// estimates exchanges.
class MeasuredCosts final : public MachineCosts {
 public:
  /// The samples that were measured on tiles, and their costs.
  struct Queries {
    std::vector<std::pair<TileSampler::Prepared, TileCost>> tiles;
    std::uint64_t bytes = 0;  ///< sum over all samples
  };

  /// Throws UserError for a machine that cannot be built. Programs known to `programs` are not
  /// recompiled; null: all are compiled.
  explicit MeasuredCosts(const MachineConfig& machine, RememberedPrograms* programs = nullptr);

  /// For planners that only check whether a plan fits, not for the fastest plan.
  void leave_out_schedules() { schedules_ = false; }
  /// Records later tile queries in `asked`, unless null.
  void note(Queries* asked) { asked_ = asked; }
  /// True if this machine's tiles give the recorded answer to every query of `asked`: planners that
  /// see equal machines then make the same plan.
  [[nodiscard]] bool answers_alike(const Queries& asked);

  [[nodiscard]] const MachineConfig& machine() const override { return known_; }
  [[nodiscard]] std::unique_ptr<MachineCosts> with_workers(std::uint32_t workers) const override;
  [[nodiscard]] bool workers_compete() const override { return shares_pipeline(machine_.tile); }
  [[nodiscard]] std::unique_ptr<MachineCosts> with_tiles(std::uint32_t tiles) const override;
  [[nodiscard]] TileCost tile(const program::Program& sample) override;
  [[nodiscard]] std::uint64_t way(TileId from, TileId to) const override;
  [[nodiscard]] std::uint64_t exchange(const ExchangeLoad& load) const override;
  [[nodiscard]] std::uint64_t outside(std::span<const OuterLoad> loads, bool closely) override;
  [[nodiscard]] std::optional<std::uint64_t> script(const OuterScript& script) override;
  [[nodiscard]] std::optional<program::ResourceUsage> watched_usage(
      const program::Program& program, const program::Watch& watch) const override;
  [[nodiscard]] bool schedules() const override { return schedules_; }
  [[nodiscard]] std::uint64_t barrier() const override { return known_.sync.chip_cycles; }

 private:
  [[nodiscard]] std::unique_ptr<MeasuredCosts> costs_of(const MachineConfig& machine) const;

  MachineConfig machine_;
  MachineConfig known_;  ///< may have fewer tiles
  TileSampler sampler_;
  std::shared_ptr<RememberedSamples> samples_;  ///< shared with with_workers(), with_tiles()
  RememberedPrograms* programs_;
  bool schedules_ = true;
  Queries* asked_ = nullptr;
  /// Answers of outside(), by a digest of the query: plans that partition a product differently may
  /// transfer the same bytes.
  std::map<std::pair<program::Fingerprint, bool>, std::uint64_t> outside_;
  /// One rough answer, measured on many requests, serves all transfers of its kind.
  struct OfKind {
    std::uint64_t cycles, bytes;
  };
  std::map<std::array<std::uint64_t, 9>, OfKind> kinds_;
};

}  // namespace tessera
