#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <systemc>
#include <tlm>

/// Tessera in somebody's SystemC platform. Needs C++17; link it by find_package(Tessera), target
/// Tessera::tessera, or pkg-config tessera.
namespace tessera {

/// A config, or a call, that is not possible. `exit_code` is what the program `tessera` would end
/// with: 2 the user's mistake, 3 no progress, 4 a bug of ours, 5 the host has not enough.
class MachineError : public std::runtime_error {
 public:
  MachineError(const std::string& message, int exit_code)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// A machine with its workload, both of one config as `tessera run` reads them, as a module.
///
///     tessera::Machine machine("machine", tessera::Machine::Config::from_file("gemm.json"));
///     machine.socket  <- an initiator;  machine.interrupt  -> an sc_signal<bool>
///     machine.load();  machine.start();  wait(interrupt.posedge_event());
///
/// It never calls sc_start or sc_stop, and sets neither time resolution nor report actions. A run
/// that fails ends in Status::failed, with the interrupt. Several may lie in one platform; all
/// calls come from SystemC's thread.
///
/// Timing: cycles are exact, whatever the time resolution; events lie at cycle x period, rounded
/// up. A blocking access takes the latency of the config's host link (machine.host) and its bytes
/// over the link's rate, added to the annotated delay. Debug access, DMI and load() take no time.
/// Tiles run ahead of simulated time between their interactions, so while a run is going on memory
/// may show what simulated time has not reached, and must not be written.
///
/// Leaves out: accesses that wait for each other at the host link; DMI to external memory; traces
/// and files of tensors (`report.trace`, `report.tensors`).
class Machine : public sc_core::sc_module {
 public:
  /// Where the config comes from, and what is set over it: {"machine.tiles=64"} as `--set`.
  struct Config {
    static Config from_file(std::string file, std::vector<std::string> sets = {}) {
      return {std::move(file), {}, std::move(sets)};
    }
    /// Files that the text names are relative to the working directory; it extends none itself.
    static Config from_text(std::string json, std::vector<std::string> sets = {}) {
      return {{}, std::move(json), std::move(sets)};
    }
    std::string file;
    std::string text;
    std::vector<std::string> sets;
  };
  enum class Status : std::uint32_t { idle = 0, running = 1, done = 2, failed = 3 };

  /// Plans and builds the workload. Throws MachineError that names the file, the key, what was
  /// found and what is allowed.
  Machine(const sc_core::sc_module_name& name, const Config& config);
  ~Machine() override;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  const char* kind() const override { return "tessera::Machine"; }

  /// Bytes of compute tile t lie from t x bytes_per_tile() on, those of nodes of other classes
  /// (machine.nodes of the config) behind them without gaps, node by node, each as long as its
  /// SRAM; above all, from control_address() on, are three little-endian registers:
  ///   + 0  control  written, 4 bytes: 1 start(), refused by a generic error; 2 lowers the
  ///   interrupt
  ///   + 4  status   read, 4 bytes: Status
  ///   + 8  cycles   read, 8 bytes: cycles()
  /// DMI is granted tile by tile. An access that leaves its tile is an address error. May stay
  /// unbound.
  tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>
      socket;
  /// External memory, where the config has `"machine": {"external": {"model":
  /// "platform"}}`; to be bound then and only then, which load() checks. Loosely timed: a request
  /// of a tile's DMA is a blocking access of at most request_bytes, begun when it reaches the
  /// memory and done at the return time and annotated delay; as many are under way as `outstanding`
  /// of all tiles allow. Byte addresses from 0 on, below mib_per_channel; with reach `tile` tile
  /// t's begin at t x that. load(), report() and checks use debug access. A response that is an
  /// error fails the run. For an approximately timed target see FourPhaseAdapter
  /// (tessera/four_phase_adapter.h).
  tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>
      memory;
  /// High from the end of a run, done or failed, until the next start, or until it is lowered by
  /// the register. May stay unbound.
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  /// Writes the program and the inputs of its first run to the tiles; called again, the inputs of
  /// the next run alone (of runs(), from the first one again). Inputs may be written through the
  /// socket after it. Throws MachineError before the platform is elaborated, during a run, and if
  /// `memory` is not bound as the config says or does not take its bytes.
  void load();
  /// Begins a run now, on what memory holds. Returns false, and does nothing, before load(), during
  /// a run and after a failed one. To be called after elaboration.
  bool start();
  Status status() const;
  /// The error as `tessera run` prints it: a tile fault, or the state of every stuck tile. Empty
  /// unless failed.
  std::string message() const;
  /// How often the workload runs in `tessera run`, each time with its own inputs; mostly once.
  std::uint32_t runs() const;
  /// `time.cycles` of the report: the measured region of all runs that have ended.
  std::uint64_t cycles() const;
  double seconds() const;  ///< the same, by the machine's clock
  /// report.json of `tessera run`, results checked as `run.check` says. To be called when each of
  /// runs() was loaded, started and is done, before memory is written again; throws MachineError
  /// otherwise.
  std::string report();

  /// `count` elements of a part from number `at` on: elements `index`, `index + step` ... of the
  /// tensor in row-major order.
  struct Run {
    std::uint64_t at, index, count, step;
  };
  struct Part {
    std::uint64_t address;  ///< for the socket
    std::uint64_t bytes;
    std::vector<Run> runs;  ///< bytes outside all runs are padding
  };
  /// A tensor that lies on tiles when a run has ended.
  struct Tensor {
    std::string name;
    std::string kind;  ///< "[64, 16] f16"
    std::string role;  ///< "input", "weights", "result" or "gradient"
    std::uint64_t element_bytes;
    std::vector<Part> parts;
  };
  std::vector<std::string> tensor_names() const;
  /// Throws MachineError for a name that is none of tensor_names().
  Tensor tensor(const std::string& name) const;

  std::uint32_t tiles() const;
  std::uint64_t bytes_per_tile() const;
  std::uint64_t control_address() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace tessera
