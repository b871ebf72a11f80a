#include "sim/engine/bare_program.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/refusal.h"
#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

constexpr std::uint32_t kCodeAt = 0x11000;
constexpr std::uint32_t kDataAt = 0x12000;

elf::Program linked(const std::vector<Instruction>& code, const std::string& data = "") {
  elf::Program program{};
  program.name = "bare.elf";
  program.entry = kCodeAt;
  elf::Segment text{kCodeAt, static_cast<std::uint32_t>(4 * code.size()), {}, false, true};
  text.bytes.resize(text.memory_bytes);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::uint32_t word = isa::encode(code[i]);
    std::memcpy(text.bytes.data() + 4 * i, &word, sizeof(word));
  }
  elf::Segment values{kDataAt, 4096, {}, true, false};
  values.bytes.resize(data.size());
  if (!data.empty()) std::memcpy(values.bytes.data(), data.data(), data.size());
  program.segments = {text, values};
  return program;
}

std::string error_of(const elf::Program& program, const ExecOptions& options = {}) {
  return tessera::test::refusal<Error>(
      [&] { return execute_bare(program, TileConfig{}, options); });
}

const Instruction kCall = r_type(ecall, 0, 0, 0);

/// A loop of three loads at `data`, each with a use; then returns.
std::vector<Instruction> loads() {
  return {i_type(addi, 5, 0, 3), i_type(lui, 11, 0, kDataAt), i_type(lw, 6, 11, 0),
          r_type(add, 10, 6, 6), i_type(addi, 5, 5, -1),      branch_to(bne, 5, 0, -12),
          i_type(jalr, 0, 1, 0)};
}

TEST_SUITE("unit") {
  TEST_CASE("a bare program that returns ends with what it returns") {
    const ExecResult result =
        execute_bare(linked({i_type(addi, 10, 0, 7), i_type(jalr, 0, 1, 0)}), TileConfig{});
    CHECK(result.exit_code == 7);
    CHECK(result.instructions == 3);  // the return address holds an xctl 0
  }

  TEST_CASE("a bare program prints and ends by semihosting; an ebreak alone is a fault") {
    const auto call = [](int operation, std::vector<Instruction>& code) {
      for (const Instruction& each : {i_type(addi, 10, 0, operation), i_type(slli, 0, 0, 31),
                                      r_type(ebreak, 0, 0, 0), i_type(srai, 0, 0, 7)})
        code.push_back(each);
    };
    // SYS_WRITE0 of "text", then SYS_EXIT_EXTENDED {0x20026, 9}
    std::vector<Instruction> code = {i_type(lui, 11, 0, kDataAt)};
    call(0x04, code);
    code.push_back(i_type(addi, 11, 11, 8));
    call(0x20, code);
    const std::string data("text\0...\x26\0\x02\0\x09\0\0\0", 16);
    std::string printed;
    ExecOptions options;
    options.write = [&](int, std::string_view text) { printed += text; };
    CHECK(execute_bare(linked(code, data), TileConfig{}, options).exit_code == 9);
    CHECK(printed == "text");
    CHECK(error_of(linked({r_type(ebreak, 0, 0, 0)})).find("breakpoint") != std::string::npos);
  }

  TEST_CASE("a bare program begins with gp as it was linked for") {
    elf::Program program = linked({i_type(addi, 10, 3, 4), i_type(jalr, 0, 1, 0)});
    program.global_pointer = 0x12800;
    CHECK(execute_bare(program, TileConfig{}).exit_code == 0x12804);
  }

  TEST_CASE("data is where it runs, and where start-up code copies it from") {
    for (const int page : {0x12, 0x13}) {
      elf::Program program = linked(
          {i_type(lui, 11, 0, page << 12), i_type(lw, 10, 11, 0), i_type(jalr, 0, 1, 0)}, "abcd");
      program.segments.back().copied_from = 0x13000;
      CHECK(execute_bare(program, TileConfig{}).exit_code == 0x64636261);
    }
  }

  TEST_CASE("a profile says what each instruction waited for, and adds up to the slots") {
    TileConfig tile{.contexts = 1, .issue = IssueKind::single};
    tile.latency.load = 4;
    tile.latency.branch_taken = 3;
    const elf::Program program = linked(loads(), "abcd");
    ExecOptions options{.profile = true};
    const ExecResult result = execute_bare(program, tile, options);
    const auto load = static_cast<std::size_t>(Cause::load);
    const auto branch = static_cast<std::size_t>(Cause::branch);
    CHECK(result.profile.at(kCodeAt + 8).times == 3);
    CHECK(result.profile.at(kCodeAt + 12).waits[load] == 3 * 3);
    CHECK(result.profile.at(kCodeAt + 20).waits[branch] == 2 * 2);
    CHECK(result.profile.at(kCodeAt + 24).times == 1);
    std::uint64_t slots = 0;
    for (const auto& [pc, row] : result.profile) slots += row.slots();
    CHECK(slots == result.slots);
    CHECK(result.slots == execute_bare(program, tile).slots);
  }

  TEST_CASE("a profile changes no count, on machines that wait and on those that do not") {
    for (const std::uint32_t latency : {1U, 6U, 13U}) {
      TileConfig tile;
      tile.latency.load = latency;
      tile.slots.plain = latency;
      ExecOptions options{.profile = true};
      const elf::Program program = linked(loads(), "abcd");
      const ExecResult profiled = execute_bare(program, tile, options);
      const ExecResult plain = execute_bare(program, tile);
      CHECK(profiled.slots == plain.slots);
      CHECK(profiled.instructions == plain.instructions);
      CHECK(plain.profile.empty());
    }
  }

  TEST_CASE("a bare program writes and ends with its exit code") {
    const elf::Program program = linked(
        {i_type(addi, 10, 0, 1), i_type(lui, 11, 0, kDataAt), i_type(addi, 12, 0, 5),
         i_type(addi, 17, 0, 64), kCall, i_type(addi, 10, 10, 37), i_type(addi, 17, 0, 93), kCall},
        "hello world");
    std::string written;
    ExecOptions options;
    options.write = [&](int descriptor, std::string_view text) {
      written += std::to_string(descriptor) + ":" + std::string(text);
    };
    const ExecResult result = execute_bare(program, TileConfig{}, options);
    CHECK(written == "1:hello");
    CHECK(result.exit_code == 42);
    CHECK(result.instructions == 8);
    CHECK(result.slots == 8);
    CHECK(result.cycles == 8 * TileConfig{}.contexts);
  }

  TEST_CASE("an unknown call answers that there is none") {
    const elf::Program program =
        linked({i_type(addi, 17, 0, 500), kCall, i_type(addi, 17, 0, 93), kCall});
    CHECK(execute_bare(program, TileConfig{}).exit_code == static_cast<std::uint32_t>(-38));
  }

  TEST_CASE("faults, endless programs and bad segments are told with their places") {
    CHECK(error_of(linked({nop(), i_type(lw, 5, 0, 2)})) ==
          "bare.elf: at 0x11004: lw t0, 2(zero): misaligned access, address 0x2");
    CHECK(error_of(linked({i_type(xctl, 0, 0, 1)})).find("not allowed") != std::string::npos);
    ExecOptions options{.slot_limit = 1000};
    CHECK(error_of(linked({i_type(jal, 0, 0, 0)}), options)
              .starts_with("bare.elf: still running after 6000 cycles, the limit (--max-cycles)\n"
                           "  pc 0x11000: jal zero, 0x11000\n   ra 0xfffffffc"));
    options.slot_limit = 2;
    CHECK(error_of(linked({nop(), i_type(addi, 17, 0, 93), kCall}), options)
              .starts_with("bare.elf: still running after 18 cycles, the limit"));
    options.slot_limit = 3;
    CHECK(error_of(linked({nop(), i_type(addi, 17, 0, 93), kCall}), options).empty());
    options.slot_limit = 1000;
    options.memory_bytes = 0x12800;
    CHECK(error_of(linked({nop()}), options) ==
          "bare.elf: the segment at 0x12000 ends at 0x13000, memory at 0x12800; "
          "link it lower, as by -Wl,-Ttext-segment=0");
    elf::Program large = linked({nop()});
    for (elf::Segment& segment : large.segments) segment.memory_bytes = 0xa000;
    CHECK(error_of(large, options) ==
          "bare.elf: the segment at 0x11000 ends at 0x1b000, memory at 0x12800; "
          "the program is larger than the memory");
    elf::Program mixed = linked({nop()});
    mixed.segments[1].address = 0x10000;
    CHECK(error_of(mixed).find("lies below the end of the code") != std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::engine::test
