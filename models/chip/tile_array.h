#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <systemc>

#include "models/chip/accounts.h"
#include "models/chip/agenda.h"
#include "models/chip/modules.h"
#include "models/chip/node_settings.h"
#include "models/chip/sram.h"
#include "models/tile/tile.h"
#include "models/timing/timing_proof.h"
#include "sim/base/parallel.h"
#include "sim/report/profile.h"
#include "sim/report/run_progress.h"

namespace tessera {

/// The tiles of a chip. Between two interactions a tile is independent, so all tiles that continue
/// at one event run ahead on host threads; their arrivals are collected and passed to barriers and
/// fabric: one event per barrier or transfer, not per tile.
class TileArray : public sc_core::sc_module, public TilePort {
 public:
  struct Config {
    std::uint64_t shuffle = 0;        ///< runs the tiles of a batch in a random order, for tests
    RunProgress* progress = nullptr;  ///< null: no progress reports
  };

  /// All but `images` outlive it.
  TileArray(const sc_core::sc_module_name& name, const Config& config,
            const program::Images& images, const NodeSettings& settings, const Sram& sram,
            Agenda& agenda, Accounts& accounts, HostThreads& threads);

  sc_core::sc_port<BarrierPort> barriers;
  sc_core::sc_port<TransferPort> transfers;
  /// Transfers with external memory; unbound on a chip without any.
  sc_core::sc_port<TransferPort, 1, sc_core::SC_ZERO_OR_MORE_BOUND> outside;
  sc_core::sc_port<TransferPort> host;

  /// Gives each tile's workers their own bytes of external memory; needs TileSettings::external.
  using Outside = std::function<std::span<std::byte>(TileId)>;
  void reach(const Outside& bytes) {
    for (Tile& tile : tiles_) tile.reach(bytes(tile.id()));
  }

  /// Computes no values: workers' calls take their cost from `proof`, which must outlive it. Where
  /// contexts share a pipeline, calls still execute.
  void replay(const TimingProof& proof);

  /// The cycle at which the next run begins: after the previous run.
  [[nodiscard]] Cycle begins_at() const { return accounts_.end(); }
  /// Starts every tile at `at`, or restarts it once all have ended.
  void begin(Cycle at);
  void release(const Release& release) override;
  void deliver(const fabric::Moved& moved) override;

  [[nodiscard]] const std::vector<Tile>& tiles() const { return tiles_; }
  [[nodiscard]] const Arrival& arrival(TileId tile) const { return tiles_[index(tile)].arrival(); }
  /// Profile of the workers' codelets; needs TileSettings::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const;
  /// Adds each tile's measurements to `result`.
  void add_to(RunResult& result) const;

  /// A tile has passed TileSettings::max_cycles.
  struct PastLimit {};

 private:
  /// Everything that continues in one cycle.
  struct Batch {
    bool begins = false;
    std::vector<Release> releases;
    std::vector<TileId> tiles;  ///< waited for transfers, or stopped at a horizon
  };
  /// Result of one piece of the batch, written by one host thread.
  struct alignas(64) Piece {
    ArrivalGroup group;         ///< tiles that wait at one barrier for one step
    std::vector<TileId> apart;  ///< the others
  };

  void make_tiles(const program::Images& images, const Sram& sram);
  void go_on();
  void run_next();
  void share_hosted(std::uint32_t zone);
  void ring();
  template <class Resume>
  void run_ahead(std::span<const TileId> batch, Cycle at, Resume resume);
  template <class Resume>
  void run_piece(std::span<const TileId> tiles, Cycle horizon, Piece& piece, Resume& resume);
  void settle();
  void settle_apart(TileId tile);
  void submit(const fabric::Participant& side);
  [[nodiscard]] ArrivalGroup alone(TileId tile) const;
  void end(TileId tile);

  const Config config_;
  const NodeSettings& settings_;
  Accounts& accounts_;
  HostThreads& threads_;
  Agenda& agenda_;
  Agenda::Alarm alarm_;
  using ProgramKey = std::pair<const program::CodeImage*, const TileSettings*>;
  std::map<ProgramKey, std::unique_ptr<TileProgram>> programs_;
  std::vector<Tile> tiles_;
  std::vector<TileId> all_;  ///< every tile, in order
  std::map<Cycle, Batch> batches_;
  std::vector<Piece> pieces_;
  std::uint32_t ended_ = 0;
  std::vector<std::size_t> ended_of_zone_;
  bool begun_ = false;
};

}  // namespace tessera
