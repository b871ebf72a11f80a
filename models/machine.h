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
/// the kernel: a run that fails ends in a state, with the interrupt. A platform may hold several
/// machines; it must call them from SystemC's thread.
/// Timing: an access through `socket` takes the host link's latency and its bytes over the link's
/// rate, added to the annotated delay; debug access, DMI and load() take none. Tiles run ahead of
/// simulated time up to their next interaction, so memory matches simulated time only while no run
/// is going on.
/// Leaves out: contention of accesses on the host link.
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

  /// Throws UserError for a machine that cannot be built. `images` need not outlive the call;
  /// `program`'s buffers are read during it.
  MachineModule(const sc_core::sc_module_name& name, const MachineConfig& config,
                const program::Program& program, const program::Images& images,
                const RunOptions& options);

  /// SRAM and the registers: byte address = tile x SRAM bytes + address within the tile; nodes of
  /// other classes follow without gaps. May stay unbound. An access that leaves one tile's SRAM
  /// gets an address error, byte enables and streaming get their own error responses, and a start
  /// that start() refuses gets a generic error. DMI is granted for the addressed tile's SRAM.
  tlm_utils::simple_target_socket_optional<MachineModule> socket;
  /// External memory, loosely timed, where machine.external.model is `platform`: blocking
  /// accesses of the tiles' DMA, of at most request_bytes, as many at a time as all tiles'
  /// `outstanding` allow; debug access of load() and of memory(). Byte addresses start at 0; where
  /// each tile has its own memory, tile t's begins at t x its capacity. Must be bound for this
  /// model and for no other; load() checks it.
  tlm_utils::simple_initiator_socket_optional<MachineModule> outside;
  /// High from the end of a run (done or failed) until the next start or kLowerInterrupt. May stay
  /// unbound.
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  /// Writes the inputs of run `run` (Buffer::inputs); the first call also writes code and
  /// constants. Takes no simulated time. Call it after elaboration, while no run is going on, with
  /// the constructor's program and images. Throws UserError if `outside` is not bound as the config
  /// says, or if that memory does not accept all bytes.
  void load(const program::Program& program, const program::Images& images, std::uint32_t run);
  [[nodiscard]] bool is_elaborated() const { return elaborated_; }
  /// Begins a run now on the current memory contents; cycles continue from the previous run.
  /// Returns false, and does nothing, before the first load(), during a run, and after a failed
  /// run. Call it after elaboration.
  bool start();
  [[nodiscard]] State state() const { return state_; }
  /// The failed run's error: UserError for a tile fault, NoProgress with the state of every stuck
  /// tile. Null unless State::failed.
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }
  /// Totals of all finished runs. Throws Defect before the first has finished.
  [[nodiscard]] const RunResult& result() const;
  /// Cycles of the measured region, over all finished runs.
  [[nodiscard]] Cycle cycles() const { return result_ ? result_->time.total() : Cycle(0); }

  /// Profile of all workers' codelets so far; needs RunOptions::profile.
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
  RunProgress* progress_;  ///< null: no progress reports
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
  Bytes host_bytes_;  ///< measured transfers of one run
  Cycle host_cycles_;
  std::vector<RunRecord> runs_;
  std::optional<RunResult> result_;
  Stopwatch watch_;  ///< times the current run
  double host_seconds_ = 0;
  bool interrupt_high_ = false;
  sc_core::sc_event interrupt_changed_;
};

}  // namespace tessera
