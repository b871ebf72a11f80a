#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <tessera/machine.h>
#include <vector>

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

// A platform of somebody else's, in C++17: two machines, each with what drives it. `platform fs|ps
// CONFIG C.npy OTHER_CONFIG`: prints the cycles of both; fails unless tensor C, read through the
// socket of the first, is that of the file.
namespace {

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::cout << "platform: " << what << std::endl;
  std::exit(1);
}

/// Loads a machine, starts it after `begin` by its method or its register, and waits for the end.
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

  /// Of a tensor all elements, in row-major order.
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

/// The numbers of a .npy file.
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
  require(argc == 5, "usage: platform fs|ps CONFIG C.npy OTHER_CONFIG");
  // After modules are there, which SystemC allows as long as nobody asked for times.
  refuse_a_wrong_config();
  tessera::Machine first("first", tessera::Machine::Config::from_file(argv[2]));
  tessera::Machine second("second", tessera::Machine::Config::from_file(argv[4]));
  sc_core::sc_set_time_resolution(1,
                                  std::string(argv[1]) == "fs" ? sc_core::SC_FS : sc_core::SC_PS);
  Driver of_first("of_first", first, sc_core::sc_time(3, sc_core::SC_NS), false);
  Driver of_second("of_second", second, sc_core::sc_time(11, sc_core::SC_NS), true);
  sc_core::sc_start();

  require(of_first.result == numbers_of(argv[3]), "C is not that of tessera run");
  require(first.report().find("\"passed\": true") != std::string::npos, "the check did not pass");
  std::cout << "cycles " << first.cycles() << " " << second.cycles() << std::endl;
  return 0;
}
