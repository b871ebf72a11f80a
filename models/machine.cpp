#include "models/machine.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "models/energy/energy.h"
#include "sim/base/errors.h"

namespace tessera {
namespace {

constexpr std::uint64_t kControlAlignment = 4096;
constexpr std::size_t kRegisterBytes = 16;

NodeSettings node_settings(const MachineConfig& config, const program::Images& images,
                           const RunOptions& options) {
  TileSettings settings;
  settings.tile = config.tile;
  settings.max_cycles = Cycle(options.max_cycles);
  settings.seed = options.seed;
  settings.check_races = options.check_races;
  settings.count_activity = true;
  settings.profile = options.profile;
  settings.engine = options.engine;
  settings.clock_ghz = config.clock_ghz;
  settings.streams = config.fabric.kind == "streams";
  if (workers_start_transfers(config)) settings.external = config.external;
  for (const std::uint32_t zone : images.zone_of)
    settings.sync_zones = std::max(settings.sync_zones, zone + 1);
  return {config, settings};
}

}  // namespace

MachineModule::MachineModule(const sc_core::sc_module_name& name, const MachineConfig& config,
                             const program::Program& program, const program::Images& images,
                             const RunOptions& options)
    : sc_module(name),
      socket("socket"),
      outside("outside"),
      interrupt("interrupt"),
      config_(config),
      progress_(options.progress),
      poison_(options.check_races),
      measure_host_(options.measure_host),
      proof_(options.proof),
      threads_(options.threads),
      settings_(node_settings(program::started_by(program, config), images, options)),
      chip_("chip",
            {config, options.measure_host, options.shuffle, options.tile_steps, options.trace,
             options.progress, options.proof},
            images, settings_, threads_),
      host_("host", config),
      control_address_(round_up(sram_end(config), kControlAlignment)),
      interrupt_changed_("interrupt_changed") {
  if (progress_ != nullptr) progress_->phase = RunProgress::Phase::loading;
  host_.socket.bind(chip_.socket);
  host_.link.bind(chip_);
  sc_core::sc_port_b<tlm::tlm_fw_transport_if<>>& memory = outside.get_base_port();
  chip_.memory.bind(memory);
  if (config.has_external) host_.outside.bind(chip_);
  socket.register_b_transport(this, &MachineModule::b_transport);
  socket.register_transport_dbg(this, &MachineModule::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &MachineModule::get_direct_mem_ptr);
  SC_HAS_PROCESS(MachineModule);
  SC_METHOD(finish);
  sensitive << chip_.ended();
  dont_initialize();
  SC_METHOD(drive_interrupt);
  sensitive << interrupt_changed_;
}

void MachineModule::load(const program::Program& program, const program::Images& images,
                         std::uint32_t run) {
  check(elaborated_ && state_ != State::running, "machine {}: loaded too early or during a run",
        name());
  require_memory();
  if (loaded_) return host_.write_inputs(program, images, run, threads_, proof_);
  host_.load(program, images, threads_, poison_, proof_);
  loaded_ = true;
  if (!measure_host_) return;
  const program::HostBytes bytes = program::host_bytes(program);
  const std::uint32_t transfers =
      (bytes.written > Bytes(0) ? 1 : 0) + (bytes.read > Bytes(0) ? 1 : 0);
  host_bytes_ = bytes.total();
  host_cycles_ = host_transfer_cycles(config_, host_bytes_, transfers) + launch_cycles(config_);
}

/// Called by load(), not at elaboration, where an exception would reach SystemC.
void MachineModule::require_memory() {
  const bool platform = config_.has_external && !config_.external.has_channels();
  const bool bound = outside.size() > 0;
  if (platform && !bound)
    throw KeyError("machine.external.model",
                   "found platform, allowed dram: no memory is bound to the initiator "
                   "socket of machine {}",
                   name());
  if (!platform && bound)
    throw KeyError("machine.external.model",
                   "found {}, needed platform: a memory is bound to the initiator "
                   "socket of machine {}",
                   config_.has_external ? "dram" : "no machine.external", name());
}

bool MachineModule::start() {
  if (!loaded_ || state_ == State::running || state_ == State::failed) return false;
  watch_ = Stopwatch();
  if (progress_ != nullptr) progress_->phase = RunProgress::Phase::running;
  set_interrupt(false);
  state_ = State::running;
  chip_.start();
  return true;
}

/// The chip's last tile has ended. SystemC must not see our exceptions.
void MachineModule::finish() {
  try {
    chip_.check_finished();
    result_ = make_result();
    state_ = State::done;
  } catch (...) {
    failure_ = std::current_exception();
    state_ = State::failed;
  }
  set_interrupt(true);
}

RunResult MachineModule::make_result() {
  RunResult result = chip_.result();
  result.measured_host_bytes = result.host_bytes;
  result.host_bytes = chip_.hosted();
  result.time.host += host_cycles_ * (runs_.size() + 1);
  RunRecord run{result.time.total(), result.supersteps};
  for (const RunRecord& before : runs_) {
    run.cycles = run.cycles - before.cycles;
    run.supersteps -= before.supersteps;
  }
  runs_.push_back(run);
  result.runs = runs_;
  result.measured_host_bytes += host_bytes_ * runs_.size();
  if (config_.has_energy)
    result.energy = energy::account(config_, result, result.measured_host_bytes);
  host_seconds_ += watch_.seconds();
  result.host_seconds = host_seconds_;
  return result;
}

const RunResult& MachineModule::result() const {
  check(result_.has_value(), "machine {}: no run has ended", name());
  return *result_;
}

/// The only process that writes the signal: SystemC allows just one writer.
void MachineModule::drive_interrupt() {
  if (interrupt.size() > 0) interrupt->write(interrupt_high_);
}

void MachineModule::set_interrupt(bool high) {
  interrupt_high_ = high;
  interrupt_changed_.notify(sc_core::SC_ZERO_TIME);
}

void MachineModule::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const unsigned bytes = payload.get_data_length();
  if (payload.get_byte_enable_ptr() != nullptr)
    return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  if (payload.get_streaming_width() < bytes)
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  if (payload.get_address() < control_address_) return host_.b_transport(payload, delay);
  delay += host_.access_time(Bytes(bytes));
  if (payload.is_write()) {
    const std::uint64_t offset = payload.get_address() - control_address_;
    const bool at_control = offset == static_cast<std::uint64_t>(Register::control) && bytes == 4;
    if (!at_control) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return payload.set_response_status(write_control(payload) ? tlm::TLM_OK_RESPONSE
                                                              : tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  payload.set_response_status(read_registers(payload) == bytes ? tlm::TLM_OK_RESPONSE
                                                               : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// Debug access has no side effects: it writes no register.
unsigned MachineModule::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (payload.get_address() < control_address_) return host_.transport_dbg(payload);
  return payload.is_write() ? 0 : read_registers(payload);
}

bool MachineModule::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return payload.get_address() < control_address_ && host_.get_direct_mem_ptr(payload, dmi);
}

/// Returns the bytes read: all requested bytes, or 0.
unsigned MachineModule::read_registers(tlm::tlm_generic_payload& payload) const {
  std::array<std::byte, kRegisterBytes> registers{};
  const auto status = static_cast<std::uint32_t>(state_);
  const std::uint64_t cycles = this->cycles().count();
  std::memcpy(&registers[static_cast<std::size_t>(Register::status)], &status, sizeof status);
  std::memcpy(&registers[static_cast<std::size_t>(Register::cycles)], &cycles, sizeof cycles);
  const std::uint64_t offset = payload.get_address() - control_address_;
  const unsigned bytes = payload.get_data_length();
  if (offset > kRegisterBytes || bytes > kRegisterBytes - offset) return 0;
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &registers[offset], bytes);
  return bytes;
}

bool MachineModule::write_control(const tlm::tlm_generic_payload& payload) {
  std::uint32_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), sizeof value);
  if (value == kLowerInterrupt) set_interrupt(false);
  return value == kLowerInterrupt || (value == kStart && start());
}

}  // namespace tessera
