#include <doctest/doctest.h>
#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>

#include "models/machine.h"
#include "models/simulation.h"
#include "tests/models/in_child.h"
#include "tests/models/sample_machine.h"

using namespace tessera;

namespace {

constexpr std::uint32_t kPlatformTiles = 40;
constexpr std::uint32_t kPlatformRounds = 5;

/// Drives one machine: starts it by its register, waits for the interrupt, reads its memory.
class Initiator : public sc_core::sc_module {
 public:
  Initiator(const sc_core::sc_module_name& name, MachineModule& machine,
            const sc_core::sc_time& begin)
      : sc_module(name),
        socket("socket"),
        interrupt("interrupt"),
        machine_(machine),
        begin_(begin) {
    socket.bind(machine.socket);
    machine.interrupt(interrupt);
    SC_HAS_PROCESS(Initiator);
    SC_THREAD(drive);
  }
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes, sc_core::sc_time& delay) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    socket->b_transport(payload, delay);
    return payload.get_response_status();
  }
  std::uint32_t read_word(std::uint64_t address) {
    std::uint32_t word = 0;
    sc_core::sc_time delay;
    check(access(tlm::TLM_READ_COMMAND, address, &word, 4, delay) == tlm::TLM_OK_RESPONSE,
          "word at {:#x}", address);
    return word;
  }
  tlm::tlm_response_status control(std::uint32_t word) {
    sc_core::sc_time delay;
    return access(tlm::TLM_WRITE_COMMAND, machine_.control_address(), &word, 4, delay);
  }

  tlm_utils::simple_initiator_socket<Initiator> socket;
  sc_core::sc_signal<bool> interrupt;
  std::function<void(Initiator&)> then = {};
  sc_core::sc_time started, ended;

 private:
  void drive() {
    wait(begin_);
    started = sc_core::sc_time_stamp();
    check(control(MachineModule::kStart) == tlm::TLM_OK_RESPONSE, "not started");
    wait(interrupt.posedge_event());
    ended = sc_core::sc_time_stamp();
    if (then) then(*this);
  }
  MachineModule& machine_;
  sc_core::sc_time begin_;
};

struct Loaded {
  MachineConfig config = sample::machine(kPlatformTiles);
  sample::Ring ring = sample::ring(kPlatformTiles, kPlatformRounds);
  program::Images images = sample::compile(ring.program, config);
};

std::string in_our_simulation() {
  return in_child([] {
    const Loaded loaded;
    Simulation machine(loaded.config, loaded.ring.program, loaded.images, {});
    return sample::text(machine.run());
  });
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("two machines in a platform take our simulation's cycles at any resolution") {
    const std::string expected = in_our_simulation();
    CHECK(expected.size() > 1000);
    for (const sc_core::sc_time_unit unit : {sc_core::SC_FS, sc_core::SC_PS, sc_core::SC_NS}) {
      CAPTURE(int(unit));
      const std::string text = in_child([&] {
        sc_core::sc_set_time_resolution(1, unit);
        const Loaded loaded;
        const auto& program = loaded.ring.program;
        MachineModule one("one", loaded.config, program, loaded.images, {});
        MachineModule other("other", loaded.config, program, loaded.images, {.shuffle = 7});
        Initiator first("first", one, sc_core::sc_time(3, sc_core::SC_NS));
        Initiator second("second", other, sc_core::sc_time(50, sc_core::SC_NS));
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (MachineModule* machine : {&one, &other}) {
          check(!machine->start(), "started before it was loaded");
          machine->load(program, loaded.images, 0);
        }
        sc_core::sc_start();
        // The first step is not measured, so the run takes longer than the reported cycles.
        const double least = static_cast<double>(one.cycles().count()) / 1.85e9;
        for (const Initiator* initiator : {&first, &second}) {
          const double taken = (initiator->ended - initiator->started).to_seconds();
          check(taken >= least && taken < least * 1.2 + 1e-8, "{} s, not {}", taken, least);
        }
        check(sample::text(one.result()) == sample::text(other.result()), "the machines differ");
        return sample::text(one.result());
      });
      CHECK(text == expected);
    }
  }

  TEST_CASE("a platform sees memory and registers through the socket, at the host link's time") {
    const std::string text = in_child([] {
      Loaded loaded;
      loaded.config.host.latency_us = 2;
      loaded.config.host.gigabytes_per_second = 4;
      const std::uint64_t sram = loaded.config.tile.sram_kib * 1024ULL;
      MachineModule machine("machine", loaded.config, loaded.ring.program, loaded.images, {});
      Initiator initiator("initiator", machine, sc_core::SC_ZERO_TIME);
      std::string seen;
      initiator.then = [&](Initiator& self) {
        const std::uint64_t control = machine.control_address();
        seen += fmt::format("status {}, ", self.read_word(control + 4));
        check(self.read_word(control + 8) == machine.cycles().count(), "cycles");
        const auto id = static_cast<std::size_t>(loaded.ring.words[1]);
        const std::uint64_t address = sram + loaded.images.buffer_address[id].count();
        std::uint32_t expected = 0;
        machine.memory().read({loaded.ring.words[1]},
                              std::as_writable_bytes(std::span(&expected, 1)));
        check(self.read_word(address) == expected && expected != 0, "word of tile 1");

        std::vector<std::byte> bytes(8000);
        sc_core::sc_time delay(1, sc_core::SC_US);
        const auto status = self.access(tlm::TLM_WRITE_COMMAND, 0, bytes.data(), 8000, delay);
        check(status == tlm::TLM_OK_RESPONSE, "write");
        seen += fmt::format("delay {:.4f} us, ", delay.to_seconds() * 1e6);  // 1 + 2 + 8000 / 4000
        const auto refused = [&](std::uint64_t at, unsigned length) {
          return self.access(tlm::TLM_WRITE_COMMAND, at, bytes.data(), length, delay) ==
                 tlm::TLM_ADDRESS_ERROR_RESPONSE;
        };
        check(refused(sram - 4, 8) && refused(control + 4, 4) && refused(control + 4096, 4),
              "an access outside is not refused");

        check(self.interrupt.read(), "interrupt is low");
        check(self.control(MachineModule::kLowerInterrupt) == tlm::TLM_OK_RESPONSE, "lower");
        sc_core::wait(sc_core::SC_ZERO_TIME);
        sc_core::wait(sc_core::SC_ZERO_TIME);
        check(!self.interrupt.read(), "interrupt is high");
        check(self.control(77) == tlm::TLM_GENERIC_ERROR_RESPONSE, "an unknown command");

        tlm::tlm_generic_payload payload;
        payload.set_address(address);
        tlm::tlm_dmi dmi;
        check(self.socket->get_direct_mem_ptr(payload, dmi), "no DMI");
        seen += fmt::format("DMI {:#x}-{:#x}", dmi.get_start_address(), dmi.get_end_address());
      };
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
      machine.load(loaded.ring.program, loaded.images, 0);
      sc_core::sc_start();
      return seen;
    });
    CHECK(text == "status 2, delay 5.0000 us, DMI 0x4000-0x7fff");
  }

  TEST_CASE("a run that fails is a state with an interrupt, and the platform goes on") {
    const std::string text = in_child([] {
      const Loaded loaded;
      RunOptions options{.max_cycles = 300};
      MachineModule machine("machine", loaded.config, loaded.ring.program, loaded.images, options);
      MachineModule good("good", loaded.config, loaded.ring.program, loaded.images, {});
      Initiator initiator("initiator", machine, sc_core::SC_ZERO_TIME);
      Initiator beside("beside", good, sc_core::SC_ZERO_TIME);
      std::string seen;
      initiator.then = [&](Initiator& self) {
        check(self.control(MachineModule::kStart) == tlm::TLM_GENERIC_ERROR_RESPONSE, "restarted");
        seen += fmt::format("status {}; ", self.read_word(machine.control_address() + 4));
      };
      sc_core::sc_start(sc_core::SC_ZERO_TIME);
      machine.load(loaded.ring.program, loaded.images, 0);
      good.load(loaded.ring.program, loaded.images, 0);
      sc_core::sc_start();
      check(good.state() == MachineModule::State::done, "the other has not ended");
      try {
        std::rethrow_exception(machine.failure());
      } catch (const NoProgress& error) {
        seen += error.what();
      }
      return seen;
    });
    CHECK(text.starts_with("status 3; tiles ran past the limit of 300 cycles (--max-cycles)"));
  }
}
