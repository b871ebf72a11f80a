#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/chip/clock.h"
#include "models/chip/exchanges.h"
#include "models/chip/host_port.h"
#include "models/chip/ledger.h"
#include "models/chip/recordings.h"
#include "models/chip/sram.h"
#include "models/sync/sync.h"
#include "models/tile/tile.h"
#include "sim/base/errors.h"
#include "sim/base/parallel.h"
#include "sim/program/image.h"
#include "sim/report/profile.h"
#include "sim/report/run_progress.h"

namespace tessera {

/// The chip's fabric as a module: exchanges being gathered, and one event for those that are done.
class ExchangeModule : public sc_core::sc_module {
 public:
  ExchangeModule(const sc_core::sc_module_name& name, std::unique_ptr<fabric::Fabric> fabric)
      : sc_module(name), exchanges(std::move(fabric)), done("done") {}

  Exchanges exchanges;
  sc_core::sc_event done;  ///< notified at the first of `waiting`
  /// Tiles that go on when their exchange is done, by the cycle of the first of them.
  std::multimap<Cycle, std::vector<TileId>> waiting;
};

/// The tiles with their fabric and barriers. Between two interactions a tile is alone, so the chip
/// takes all tiles released at one time, runs them ahead on host threads, collects their arrivals
/// in an array and schedules one event a barrier or exchange, not one a tile.
class Chip : public sc_core::sc_module {
 public:
  struct Config {
    MachineConfig machine;
    bool measure_host = false;         ///< transfers of the program are measured
    std::uint64_t shuffle = 0;         ///< runs the tiles of a batch in a random order, for tests
    std::uint64_t tile_steps = 0;      ///< tiles x rows of RunResult::tile_steps
    trace::RunTrace* trace = nullptr;  ///< null: none
    RunProgress* progress = nullptr;   ///< null: nobody asks
  };

  /// `settings` and `threads` outlive the chip; `images` is read here only.
  Chip(const sc_core::sc_module_name& name, const Config& config, const program::Images& images,
       const TileSettings& settings, HostThreads& threads);

  /// Host and debug access to SRAM: byte address = tile x SRAM bytes + address within the tile.
  tlm_utils::simple_target_socket<Chip> socket;
  /// Who carries out the program's transfers; needed by programs that have some.
  sc_core::sc_port<HostPort, 1, sc_core::SC_ZERO_OR_MORE_BOUND> host;

  /// Lets every tile begin now, again if all have ended; to be called after elaboration.
  void start();
  /// Notified at the cycle of the last tile's end; as soon as it is found if a fault, or that
  /// nothing will release the tiles that wait, ends the run before.
  [[nodiscard]] const sc_core::sc_event& ended() const { return ended_event_; }
  /// Rethrows what ended the run early. To be called after ended().
  void check_finished() const;
  /// The measured region.
  [[nodiscard]] RunResult result() const;
  /// Profile of the workers' codelets; needs TileSettings::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const;

 private:
  void make_programs(const program::Images& images);
  void make_tiles(const program::Images& images);

  void advance();
  void step();
  void start_tiles();
  void release_zone(std::size_t zone);
  void release_exchanges(Cycle due);
  [[nodiscard]] std::optional<Cycle> next_release() const;
  template <class Resume>
  void run_ahead(std::span<const TileId> batch, Resume resume);
  template <class Resume>
  void run_piece(std::span<const TileId> tiles, std::size_t number, engine::Session& session,
                 Resume& resume);
  void settle();
  bool settle_apart(TileId tile);
  void settle_sync(const ArrivalGroup& group);
  void settle_exchanges();
  HostPort::Done transfer_with_host();
  bool close_superstep(Cycle at, HostPort::Done done = {});
  void add_stalls(RunResult& result) const;
  void end_program();

  [[nodiscard]] const Arrival& arrival(TileId tile) const { return tiles_[index(tile)].arrival(); }
  [[nodiscard]] std::string state(TileId tile) const;
  [[nodiscard]] NoProgress stuck(const std::string& problem) const;
  [[nodiscard]] NoProgress nothing_releases() const;
  [[nodiscard]] NoProgress branched_apart(std::size_t zone) const;
  void notify_at(sc_core::sc_event& event, Cycle cycle) const;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  const Config config_;
  const TileSettings& settings_;
  HostThreads& threads_;
  Clock clock_;
  Sram sram_;
  sc_core::sc_event begin_;  ///< or to go on at the same time, with a later cycle
  sc_core::sc_event ended_event_;
  Sync sync_;
  ExchangeModule fabric_;
  std::vector<program::StepInfo> steps_;
  Ledger ledger_;
  Recordings recordings_;
  std::map<const program::CodeImage*, std::unique_ptr<TileProgram>> programs_;
  std::vector<Tile> tiles_;

  std::vector<TileId> all_;  ///< every tile, in order
  /// Result of one piece of the batch, written by one host thread.
  struct alignas(64) Piece {
    ArrivalGroup group;         ///< that wait at one barrier for one step
    std::vector<TileId> apart;  ///< the others
  };
  std::vector<Piece> pieces_;
  struct ZoneRelease {
    bool pending = false;
    Cycle at;
    bool measured = false;
    std::uint32_t sync_step = program::kNoStep;  ///< that the tiles which have arrived wait for
  };
  std::vector<ZoneRelease> zones_;
  std::uint32_t ended_ = 0;
  bool started_ = false;
  std::exception_ptr failure_;
};

}  // namespace tessera
