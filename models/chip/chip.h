#pragma once

#include <memory>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include "models/chip/accounts.h"
#include "models/chip/agenda.h"
#include "models/chip/clock.h"
#include "models/chip/fabric_module.h"
#include "models/chip/platform_memory.h"
#include "models/chip/sram.h"
#include "models/chip/sync_module.h"
#include "models/chip/tile_array.h"
#include "models/timing/timing_proof.h"
#include "sim/base/errors.h"
#include "sim/base/parallel.h"

namespace tessera {

class ExternalMemory;
class HostLink;

/// The tiles, their fabric and barriers, as modules connected through ports.
class Chip : public sc_core::sc_module, public OutsidePort, public HostLinkPort {
 public:
  struct Config {
    MachineConfig machine;
    bool measure_host = false;           ///< counts the program's host transfers
    std::uint64_t shuffle = 0;           ///< runs the tiles of a batch in a random order, for tests
    std::uint64_t tile_steps = 0;        ///< tiles x rows of RunResult::tile_steps
    trace::RunTrace* trace = nullptr;    ///< null: none
    RunProgress* progress = nullptr;     ///< null: no progress reports
    const TimingProof* proof = nullptr;  ///< for a run without values; outlives the chip
  };

  /// `settings` and `threads` outlive the chip; `images` need not outlive the call.
  Chip(const sc_core::sc_module_name& name, const Config& config, const program::Images& images,
       const NodeSettings& settings, HostThreads& threads);

  /// Host and debug access to SRAM: byte address = tile x SRAM bytes + address within the tile;
  /// nodes of other classes follow without gaps.
  tlm_utils::simple_target_socket<Chip> socket;

  /// External memory where machine.external.model is `platform`; otherwise unused.
  sc_core::sc_port<tlm::tlm_fw_transport_if<>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> memory;

  /// Access to external memory, the chip's or `tile`'s own. Throw Defect if there are no such
  /// bytes.
  [[nodiscard]] std::span<std::byte> outside(TileId tile, std::uint64_t address,
                                             std::uint64_t bytes) override;
  void read_outside(TileId tile, std::uint64_t address, std::span<std::byte> into) override;
  void write_outside(TileId tile, std::uint64_t address, std::span<const std::byte> from) override;
  [[nodiscard]] std::span<const std::byte> written(std::string_view transfer) const override;
  /// Bytes of all host transfers so far.
  [[nodiscard]] Bytes hosted() const;

  /// Starts every tile now, or restarts it once all have ended. Call it after elaboration.
  void start();
  /// Notified at the cycle of the last tile's end, or immediately when a fault or a deadlock ends
  /// the run early.
  [[nodiscard]] const sc_core::sc_event& ended() const { return agenda_.ended(); }
  /// Throws the error that ended the run early: UserError for a fault, NoProgress with the state of
  /// every stuck tile. Call it after ended().
  void check_finished() const;
  /// The measured region.
  [[nodiscard]] RunResult result() const;
  /// Profile of the workers' codelets; needs TileSettings::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const { return tiles_.profile(); }

 private:
  [[nodiscard]] const FabricModule& carrier_of(program::Carrier carrier) const;
  /// `arrived`: by zone, the number of tiles at its barrier.
  [[nodiscard]] std::string state(const Tile& tile,
                                  const std::vector<std::uint32_t>& arrived) const;
  [[nodiscard]] std::vector<std::string> kinds() const;
  [[nodiscard]] NoProgress stuck(const std::string& problem) const;
  [[nodiscard]] NoProgress branched_apart(std::size_t zone) const;

  [[nodiscard]] const HostLink& link() const;
  void add_worker_channels(RunResult& result) const;
  void leave_values(const TimingProof& proof);
  void make_memory(const MachineConfig& machine, HostThreads& threads);
  [[nodiscard]] std::uint64_t platform_address(TileId tile, std::uint64_t address) const;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  const NodeSettings& settings_;
  Clock clock_;
  Agenda agenda_;
  Sram sram_;
  Accounts accounts_;
  TileArray tiles_;
  FabricModule fabric_;
  FabricModule host_link_;
  ExternalConfig external_config_;
  std::unique_ptr<PlatformMemory> platform_;  ///< external memory; null: external_
  std::unique_ptr<FabricModule> memory_;      ///< external memory; null: there is none
  ExternalMemory* external_ = nullptr;        ///< the fabric inside memory_
  Sync sync_;
};

}  // namespace tessera
