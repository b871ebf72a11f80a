#include "models/tile/worker_dma.h"

#include <doctest/doctest.h>

#include "tests/models/tile/lone_tile.h"
#include "tests/refusal.h"
#include "tests/sim/engine/assembled.h"

namespace tessera {
namespace {

using engine::test::end;
using engine::test::i_type;
using engine::test::Instruction;
using engine::test::r_type;
using engine::test::s_type;
using isa::Mnemonic;

constexpr std::uint32_t kHeld = 0x2000;

ExternalConfig memory_of_a_tile() {
  ExternalConfig external;
  external.reach = ExternalReach::tile;
  external.mib_per_channel = 1;
  external.request_bytes = 64;
  external.dma_bytes_per_cycle = 2;
  external.setup_cycles = 20;
  external.interleave_bytes = 0;
  external.dram.clock_ghz = 1.6;
  external.dram.burst_bytes = 8;
  external.dram.bytes_per_clock = 4;
  external.dram.rcd_clocks = external.dram.cl_clocks = external.dram.cwl_clocks = 9;
  external.worker_dma = WorkerDmaConfig{8, 256};
  return external;
}

/// Results of transfers; shared_pipeline_test compares their timing with a stepped tile. A tile
/// with external memory, on which all workers run `code` with a0 = kHeld.
class Tasklets {
 public:
  Tasklets(std::uint32_t contexts, const std::vector<Instruction>& code, bool check_races = false)
      : lone(check_races), outside(1U << 20) {
    lone.config().contexts = contexts;
    lone.config().issue = IssueKind::revolver;
    lone.config().reissue_cycles = 11;
    lone.config().matrix_unit = {};
    lone.reach(external, 0.8, outside);
    const std::uint32_t entry = lone.worker(code);
    lone.run_all(entry, kHeld);
  }

  ExternalConfig external = memory_of_a_tile();
  LoneTile lone;
  std::vector<std::byte> outside;
};

/// x12 = 8 x worker x `apart`, x11 = a0 + x12, x13 = bytes.
std::vector<Instruction> operands(std::uint32_t bytes, int apart) {
  return {i_type(Mnemonic::csrrs, 12, 0, 0xcc0), i_type(Mnemonic::addi, 13, 0, 8 * apart),
          r_type(Mnemonic::mul, 12, 12, 13), r_type(Mnemonic::add, 11, 10, 12),
          i_type(Mnemonic::addi, 13, 0, static_cast<int>(bytes))};
}
std::vector<Instruction> with(std::vector<Instruction> code,
                              std::initializer_list<Instruction> more) {
  code.insert(code.end(), more);
  return code;
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("bytes come from outside and go there, each worker's own") {
    Tasklets tasklets(
        4,
        with(operands(64, 8),
             {r_type(Mnemonic::ldma, 13, 11, 12), i_type(Mnemonic::lw, 5, 11, 0),
              i_type(Mnemonic::addi, 5, 5, 1000), s_type(Mnemonic::sw, 5, 11, 0),
              i_type(Mnemonic::addi, 12, 12, 1024), r_type(Mnemonic::sdma, 13, 11, 12), end()}),
        true);
    for (std::uint32_t i = 0; i < 64; ++i)
      std::memcpy(&tasklets.outside[std::size_t{4} * i], &i, sizeof i);
    tasklets.lone.cycles();
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint32_t found = 0;
      std::memcpy(&found, &tasklets.outside[1024 + 4 * i], sizeof found);
      CHECK(found == i + (i % 16 == 0 ? 1000 : 0));
    }
    const TileSpan& span = tasklets.lone.loaded().arrival().span;
    CHECK(span.read == Bytes(256));
    CHECK(span.written == Bytes(256));
    tasklets.lone.loaded().finish(true);
    CHECK(tasklets.lone.loaded().statistics().external == Bytes(512));
    REQUIRE(tasklets.lone.loaded().channels().size() == 1);
    CHECK(tasklets.lone.loaded().channels()[0].statistics().bytes_read == 4 * 64);
  }

  TEST_CASE("transfers that the DMA does not support fault and state what it supports") {
    const auto fault = [](std::uint32_t local, std::uint32_t address, std::uint32_t bytes,
                          Mnemonic move = Mnemonic::ldma) {
      const auto upper = [](std::uint32_t value) {
        return static_cast<int>((value + 0x800U) & ~0xfffU);
      };
      const auto lower = [&](std::uint32_t value) {
        return static_cast<int>(value) - upper(value);
      };
      Tasklets one(1, {i_type(Mnemonic::lui, 11, 0, upper(local)),
                       i_type(Mnemonic::addi, 11, 11, lower(local)),
                       i_type(Mnemonic::lui, 12, 0, upper(address)),
                       i_type(Mnemonic::addi, 12, 12, lower(address)),
                       i_type(Mnemonic::addi, 13, 0, static_cast<int>(bytes)),
                       r_type(move, 13, 11, 12), end()});
      return one.lone.fault();
    };
    const std::string sizes = "allowed 8 to 256 in multiples of 8 (machine.external.worker_dma)";
    test::check_holds(fault(0x2000, 0, 0), {"tile 5, worker 0: transfer of 0 bytes, " + sizes});
    test::check_holds(fault(0x2000, 0, 12), {"transfer of 12 bytes, " + sizes});
    test::check_holds(fault(0x2000, 0, 264), {"transfer of 264 bytes, " + sizes});
    test::check_holds(fault(0x2004, 0, 8), {"address 0x2004 of SRAM, allowed multiples of 8"});
    test::check_holds(fault(0x2000, 4, 8),
                      {"address 0x4 of external memory, allowed multiples of 8"});
    test::check_holds(fault(0x3ff8, 0, 16),
                      {"16 bytes at address 0x3ff8 of SRAM, which ends at 0x4000"});
    test::check_holds(fault(0x2000, 0xffff8, 16),
                      {"16 bytes at address 0xffff8 of external memory, which ends at 0x100000"});
    test::check_holds(fault(0, 0, 8), {"transfer to code at address 0x0"});
    test::check_holds(fault(0x2000, 0, 264, Mnemonic::sdma), {"sdma"});
  }

  TEST_CASE("without such a DMA the instructions are faults, for supervisors always") {
    LoneTile plain;
    const std::uint32_t entry = plain.worker({r_type(Mnemonic::ldma, 13, 11, 12), end()});
    plain.supervisor();
    plain.run_to_end(entry, 0);
    test::check_holds(plain.fault(),
                      {"workers do not reach external memory (machine.external.worker_dma)"});
    LoneTile other;
    other.supervisor();
    other.code().emit(r_type(Mnemonic::sdma, 13, 11, 12));
    test::check_holds(other.fault(), {"not allowed"});
  }

  TEST_CASE("workers that write what others read outside race") {
    const auto race = [](int apart, Mnemonic second) {
      const auto both = with(operands(64, apart), {r_type(Mnemonic::sdma, 13, 11, 12),
                                                   r_type(second, 13, 11, 12), end()});
      return Tasklets(2, both, true).lone.fault();
    };
    CHECK(race(8, Mnemonic::ldma) == "");
    test::check_holds(race(7, Mnemonic::sdma), {"addresses of external memory"});
    test::check_holds(race(0, Mnemonic::sdma), {"data race at address 0x0: it wrote what worker"});
  }
}

}  // namespace tessera
