#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <tessera/four_phase_adapter.h>
#include <tessera/machine.h>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

// A third-party platform in C++17: machines, each with a driver. `platform fs|ps CONFIG C.npy
// OTHER_CONFIG OUTSIDE_CONFIG` prints the cycles of the first two, and fails unless tensor C, read
// through the first one's socket, equals the file's. Two more machines, of the last config, have
// their operands in the platform's own memory, which is once loosely timed and once of four phases.
namespace {

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::cout << "platform: " << what << std::endl;
  std::exit(1);
}

/// Loads a machine, starts it after `begin` by its method or register, and waits for the end.
class Driver : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Driver> socket;
  sc_core::sc_signal<bool> interrupt;

  Driver(const sc_core::sc_module_name& name, tessera::Machine& machine, sc_core::sc_time begin,
         bool by_register)
      : sc_module(name),
        socket("socket"),
        machine_(machine),
        begin_(begin),
        by_register_(by_register) {
    socket.bind(machine.socket);
    machine.interrupt(interrupt);
    SC_HAS_PROCESS(Driver);
    SC_THREAD(drive);
  }

  /// All elements of a tensor, in row-major order.
  std::vector<unsigned char> read(const tessera::Machine::Tensor& tensor) {
    std::vector<unsigned char> elements;
    const std::uint64_t size = tensor.element_bytes;
    for (const auto& part : tensor.parts) {
      std::vector<unsigned char> bytes(part.bytes);
      access(tlm::TLM_READ_COMMAND, part.address, bytes.data(), bytes.size());
      for (const auto& run : part.runs)
        for (std::uint64_t i = 0; i < run.count; ++i) {
          const std::uint64_t to = (run.index + i * run.step) * size;
          if (elements.size() < to + size) elements.resize(to + size);
          std::memcpy(&elements[to], &bytes[(run.at + i) * size], size);
        }
    }
    return elements;
  }
  std::vector<unsigned char> result;  ///< tensor C, if the machine has one

 private:
  void access(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
              std::size_t bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    require(payload.is_response_ok(), payload.get_response_string());
    require(delay > sc_core::SC_ZERO_TIME, "an access takes no time");
    wait(delay);
  }

  void drive() {
    machine_.load();
    wait(begin_);
    if (by_register_) {
      unsigned char start[4] = {1, 0, 0, 0};
      access(tlm::TLM_WRITE_COMMAND, machine_.control_address(), start, sizeof start);
    } else {
      require(machine_.start(), "the machine does not start");
    }
    require(machine_.status() == tessera::Machine::Status::running, "it is not running");
    wait(interrupt.posedge_event());
    require(machine_.status() == tessera::Machine::Status::done, machine_.message());
    std::uint64_t cycles = 0;
    access(tlm::TLM_READ_COMMAND, machine_.control_address() + 8,
           reinterpret_cast<unsigned char*>(&cycles), sizeof cycles);
    require(cycles == machine_.cycles(), "the register of cycles");
    for (const std::string& name : machine_.tensor_names())
      if (name == "C") result = read(machine_.tensor(name));
  }

  tessera::Machine& machine_;
  sc_core::sc_time begin_;
  bool by_register_;
};

/// A memory with 50 ns between a request and its answer: a blocking access waits for them, and they
/// separate BEGIN_REQ and BEGIN_RESP.
class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory> socket;
  unsigned accesses = 0;

  explicit Memory(const sc_core::sc_module_name& name)
      : sc_module(name), socket("socket"), bytes_(1 << 20), answers_(this, &Memory::answer) {
    socket.register_b_transport(this, &Memory::b_transport);
    socket.register_nb_transport_fw(this, &Memory::nb_transport_fw);
    socket.register_transport_dbg(this, &Memory::transport_dbg);
  }

 private:
  static sc_core::sc_time latency() { return {50, sc_core::SC_NS}; }

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    wait(latency());
    transfer(payload);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    answers_.notify(payload, tlm::BEGIN_RESP, delay + latency());
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void answer(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase) {
    tlm::tlm_phase sent = phase;
    sc_core::sc_time delay;
    transfer(payload);
    socket->nb_transport_bw(payload, sent, delay);
  }
  void transfer(tlm::tlm_generic_payload& payload) {
    ++accesses;
    const bool moved = transport_dbg(payload) == payload.get_data_length();
    payload.set_response_status(moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t at = payload.get_address();
    const unsigned count = payload.get_data_length();
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes_[at], count);
    if (payload.is_write()) std::memcpy(&bytes_[at], payload.get_data_ptr(), count);
    return count;
  }

  std::vector<unsigned char> bytes_;
  tlm_utils::peq_with_cb_and_phase<Memory> answers_;
};

/// The data bytes of a .npy file.
std::vector<unsigned char> numbers_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(in), {}};
  require(bytes.size() > 10, file + " is empty");
  bytes.erase(bytes.begin(), bytes.begin() + 10 + bytes[8] + 256 * bytes[9]);
  return bytes;
}

void refuse_a_wrong_config() {
  try {
    const tessera::Machine wrong("wrong",
                                 tessera::Machine::Config::from_text(
                                     R"({"machine": "bow", "workload": {"kernel": "gem"}})"));
    require(false, "a wrong config is taken");
  } catch (const tessera::MachineError& error) {
    require(error.exit_code() == 2, "the exit code of a wrong config");
    require(std::strstr(error.what(), "workload.kernel") != nullptr, error.what());
  }
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  require(argc == 6, "usage: platform fs|ps CONFIG C.npy OTHER_CONFIG OUTSIDE_CONFIG");
  // After the modules are built, which SystemC allows until times are used.
  refuse_a_wrong_config();
  tessera::Machine first("first", tessera::Machine::Config::from_file(argv[2]));
  tessera::Machine second("second", tessera::Machine::Config::from_file(argv[4]));
  tessera::Machine outside("outside", tessera::Machine::Config::from_file(argv[5]));
  tessera::Machine phases("phases", tessera::Machine::Config::from_file(argv[5]));
  sc_core::sc_set_time_resolution(1,
                                  std::string(argv[1]) == "fs" ? sc_core::SC_FS : sc_core::SC_PS);
  Driver of_first("of_first", first, sc_core::sc_time(3, sc_core::SC_NS), false);
  Driver of_second("of_second", second, sc_core::sc_time(11, sc_core::SC_NS), true);
  Memory memory("memory");
  outside.memory.bind(memory.socket);
  Memory other_memory("other_memory");
  tessera::FourPhaseAdapter<> adapter("adapter");
  phases.memory.bind(adapter.target);
  adapter.initiator.bind(other_memory.socket);
  Driver of_outside("of_outside", outside, sc_core::sc_time(5, sc_core::SC_NS), false);
  Driver of_phases("of_phases", phases, sc_core::sc_time(7, sc_core::SC_NS), false);
  sc_core::sc_start();

  require(of_first.result == numbers_of(argv[3]), "C is not that of tessera run");
  require(first.report().find("\"passed\": true") != std::string::npos, "the check did not pass");
  for (tessera::Machine* each : {&outside, &phases})
    require(each->report().find("\"passed\": true") != std::string::npos,
            "the check of a product in the platform's memory did not pass");
  require(memory.accesses > 0 && memory.accesses == other_memory.accesses, "accesses of memories");
  require(outside.cycles() == phases.cycles(), "cycles with a memory of four phases");
  std::cout << "cycles " << first.cycles() << " " << second.cycles() << std::endl;
  return 0;
}
