#pragma once

#include <exception>
#include <optional>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "models/chip/chip.h"
#include "models/host/host.h"
#include "models/run_options.h"
#include "sim/base/stopwatch.h"
#include "sim/machine/machine_config.h"
#include "sim/program/image.h"
#include "sim/program/workload.h"
#include "sim/report/profile.h"
#include "sim/report/run_result.h"

namespace tessera {

/// A machine in a SystemC platform: chip, tiles, fabric, barriers and host. It never calls
/// sc_start or sc_stop, sets neither time resolution nor report actions, and throws nothing through
/// the kernel: a run that fails ends in a state, with the interrupt. Several may lie in a platform,
/// whose own calls must come from SystemC's thread.
/// Timing: an access through `socket` takes the host link's latency and its bytes over the link's
/// rate, added to the annotated delay; debug access, DMI and load() take none. Tiles run ahead of
/// simulated time up to their next interaction, so memory shows what the simulated moment holds
/// only while no run is going on.
/// Leaves out: accesses that wait for each other at the host link.
class MachineModule : public sc_core::sc_module {
 public:
  enum class State : std::uint8_t { idle, running, done, failed };

  /// Registers behind all SRAM, from control_address() on; each word is little-endian.
  enum class Register : std::uint8_t {
    control = 0,  ///< 4 bytes, written: kStart or kLowerInterrupt, alone
    status = 4,   ///< 4 bytes, read: State
    cycles = 8    ///< 8 bytes, read: cycles()
  };
  static constexpr std::uint32_t kStart = 1;
  static constexpr std::uint32_t kLowerInterrupt = 2;

  /// Throws UserError for a machine that cannot be built. `images` are not needed afterwards, but
  /// `program`'s buffers are read while it is constructed.
  MachineModule(const sc_core::sc_module_name& name, const MachineConfig& config,
                const program::Program& program, const program::Images& images,
                const RunOptions& options);

  /// SRAM, byte address = tile x SRAM bytes + address within the tile, nodes of other classes
  /// behind them without gaps, and the registers. May stay unbound. An access outside of one tile's
  /// SRAM is an address error, byte enables and streaming are refused by their own responses, and a
  /// start that start() refuses by a generic error. DMI is granted for the tile that the address
  /// lies in.
  tlm_utils::simple_target_socket_optional<MachineModule> socket;
  /// Memory outside the tiles, loosely timed, where machine.external.model is `platform`: blocking
  /// accesses of the tiles' DMA, of at most request_bytes, as many at a time as all tiles'
  /// `outstanding` allow; debug access of load() and of memory(). Byte addresses from 0 on; where
  /// each tile has its own memory that of tile t begins at t x its capacity. To be bound then and
  /// only then; load() says so.
  tlm_utils::simple_initiator_socket_optional<MachineModule> outside;
  /// High from the end of a run, done or failed, until the next start or kLowerInterrupt. May stay
  /// unbound.
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  /// Writes the inputs of run `run` (Buffer::inputs), the first time code and constants too. Takes
  /// no simulated time. To be called after elaboration, while no run is going on, with what the
  /// machine was constructed of. Throws UserError if `outside` is not bound as the config says, or
  /// if the memory there does not take its bytes.
  void load(const program::Program& program, const program::Images& images, std::uint32_t run);
  [[nodiscard]] bool is_elaborated() const { return elaborated_; }
  /// Begins a run at the present time, on what memory holds; cycles go on from those of the runs
  /// before. Returns false, and does nothing, before the first load(), while a run is going on and
  /// after one that failed. To be called after elaboration.
  bool start();
  [[nodiscard]] State state() const { return state_; }
  /// The end of the run that failed, as an exception: UserError for a tile fault, NoProgress with
  /// the state of every stuck tile. Null unless State::failed.
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }
  /// Totals of all runs that ended. Throws Defect before the first has.
  [[nodiscard]] const RunResult& result() const;
  /// Cycles of the measured region of all runs that ended.
  [[nodiscard]] Cycle cycles() const { return result_ ? result_->time.total() : Cycle(0); }

  /// Where the cycles of all workers' codelets went so far; needs RunOptions::profile.
  [[nodiscard]] std::vector<report::ProfiledFunction> profile() const { return chip_.profile(); }
  /// The tiles' memory, through the host's debug access.
  [[nodiscard]] const MemoryReader& memory() const { return host_; }
  /// Address of Register::control: above all SRAM, a multiple of 4096.
  [[nodiscard]] std::uint64_t control_address() const { return control_address_; }

 private:
  void end_of_elaboration() override { elaborated_ = true; }
  void require_memory();
  [[nodiscard]] RunResult make_result();
  void finish();
  void drive_interrupt();
  void set_interrupt(bool high);

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  unsigned read_registers(tlm::tlm_generic_payload& payload) const;
  bool write_control(const tlm::tlm_generic_payload& payload);

  MachineConfig config_;
  RunProgress* progress_;  ///< null: nobody asks
  bool poison_;
  bool measure_host_;
  const TimingProof* proof_;  ///< null: values are computed
  HostThreads threads_;
  NodeSettings settings_;
  Chip chip_;
  Host host_;
  std::uint64_t control_address_;

  State state_ = State::idle;
  std::exception_ptr failure_;
  bool elaborated_ = false;
  bool loaded_ = false;
  Bytes host_bytes_;  ///< a run's, as far as they are measured
  Cycle host_cycles_;
  std::vector<RunRecord> runs_;
  std::optional<RunResult> result_;
  Stopwatch watch_;  ///< times the run that is going on
  double host_seconds_ = 0;
  bool interrupt_high_ = false;
  sc_core::sc_event interrupt_changed_;
};

}  // namespace tessera
