#include "models/chip/chip.h"

#include <doctest/doctest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "tests/models/in_child.h"
#include "tests/models/sample_machine.h"

using namespace tessera;

namespace {

constexpr std::uint64_t kTileBytes = std::uint64_t{16} * 1024;  // as sample::machine's

/// An external TLM initiator, as a debugger would be.
class Debugger : public sc_core::sc_module {
 public:
  explicit Debugger(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {}
  tlm_utils::simple_initiator_socket<Debugger> socket;

  std::string access(tlm::tlm_command command, std::uint64_t address, std::span<std::byte> bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(bytes.data()));
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    return payload.get_response_string();
  }
};

/// Elaborates a chip of two idle tiles and `nodes` nodes of 64 KiB; `body` uses the debugger.
std::string with_chip(const std::function<std::string(Debugger&)>& body, std::uint32_t nodes = 0) {
  return in_child([&] {
    MachineConfig config = sample::machine(2);
    if (nodes > 0) {
      config.nodes.push_back({"memory", nodes, config.tile, {}});
      config.nodes.back().tile.sram_kib = 64;
    }
    auto code = std::make_shared<program::CodeImage>();
    program::Assembler end;
    end.control(0);
    code->bytes = end.take();
    program::Images images;
    images.tiles.resize(2 + nodes);
    for (program::TileImage& tile : images.tiles) tile.code = code;
    HostThreads threads(1);
    TileSettings common{.tile = config.tile};
    const NodeSettings settings(config, common);
    Chip chip("chip", {config, 0}, images, settings, threads);
    Debugger debugger("debugger");
    debugger.socket.bind(chip.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return body(debugger);
  });
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("one socket decodes the tile and moves bytes both ways") {
    CHECK(with_chip([](Debugger& debugger) {
            std::array<std::byte, 4> out{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
            std::array<std::byte, 4> in{};
            std::string text = debugger.access(tlm::TLM_WRITE_COMMAND, kTileBytes + 100, out);
            text += " " + debugger.access(tlm::TLM_READ_COMMAND, 100, in);
            text += fmt::format(" {}", static_cast<int>(in[3]));
            text += " " + debugger.access(tlm::TLM_READ_COMMAND, kTileBytes + 100, in);
            return text + fmt::format(" {}", static_cast<int>(in[3]));
          }) == "TLM_OK_RESPONSE TLM_OK_RESPONSE 0 TLM_OK_RESPONSE 4");
  }

  TEST_CASE("an access beyond the tiles or across two of them is an address error") {
    CHECK(with_chip([](Debugger& debugger) {
            std::array<std::byte, 8> bytes{};
            return debugger.access(tlm::TLM_READ_COMMAND, 2 * kTileBytes, bytes) + " " +
                   debugger.access(tlm::TLM_READ_COMMAND, kTileBytes - 4, bytes);
          }) == "TLM_ADDRESS_ERROR_RESPONSE TLM_ADDRESS_ERROR_RESPONSE");
  }

  TEST_CASE("nodes of other classes lie behind the tiles, each as long as its SRAM") {
    CHECK(with_chip(
              [](Debugger& debugger) {
                std::array<std::byte, 8> bytes{std::byte{7}};
                constexpr std::uint64_t kFirst = 2 * kTileBytes;
                constexpr std::uint64_t kNodeBytes = 4 * kTileBytes;
                std::string text = debugger.access(tlm::TLM_WRITE_COMMAND, kFirst, bytes);
                for (const std::uint64_t at :
                     {kFirst - 8, kFirst - 4, kFirst + kTileBytes - 4, kFirst + kNodeBytes - 4,
                      kFirst + 2 * kNodeBytes - 8, kFirst + 2 * kNodeBytes - 4})
                  text += debugger.access(tlm::TLM_READ_COMMAND, at, bytes) == "TLM_OK_RESPONSE"
                              ? " ok"
                              : " no";
                return text;
              },
              2) == "TLM_OK_RESPONSE ok no ok no ok no");
  }
}
