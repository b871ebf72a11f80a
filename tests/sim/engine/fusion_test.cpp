#include "sim/engine/fusion.h"

#include <optional>
#include <random>
#include <span>

#include <doctest/doctest.h>

#include "sim/engine/hart.h"
#include "sim/isa/table.h"
#include "tests/sim/engine/assembled.h"

namespace tessera::engine::test {
namespace {

/// Random straight-line code over few registers, with loops around it, so that neighbours depend on
/// each other and faults happen.
class RandomCode {
 public:
  explicit RandomCode(std::uint32_t seed) : source_(seed) {}

  std::vector<Instruction> make() {
    std::vector<Instruction> code;
    while (code.size() < 40) {
      if (below(4) == 0) {
        append_sequence(code);
      } else {
        code.push_back(one(code.size()));
      }
    }
    code.push_back(branch_to(bdnz, 9, 0, -4 * static_cast<int>(code.size())));
    code.push_back(end());
    return code;
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(source_() % bound); }
  int reg() { return static_cast<int>(below(6)); }

  /// Any of the long sequences that one handler does, with operands of any kind, or mostly those
  /// that it knows of.
  void append_sequence(std::vector<Instruction>& code) {
    const std::span<const Fusion> all = long_fusions();
    const Fusion& fusion = all[below(static_cast<std::uint32_t>(all.size()))];
    const bool known = below(4) != 0;
    for (const Part& part : fusion.parts) {
      Instruction made = make_one(part.mnemonic, 40);
      if (known) connect(made, part, code);
      code.push_back(made);
    }
  }
  static void connect(Instruction& made, const Part& part, const std::vector<Instruction>& code) {
    const auto source = [&](std::uint8_t distance) { return code[code.size() - distance].rd; };
    if (part.rs1 != 0) made.rs1 = source(part.rs1);
    if (part.rs2 != 0) made.rs2 = source(part.rs2);
    if (part.rs3 != 0) made.rs3 = source(part.rs3);
    if (part.rd_is_rs1) made.rd = made.rs1;
    if (part.rs2_is_x0) made.rs2 = 0;
  }
  Instruction one(std::size_t at) {
    static constexpr Mnemonic kAll[] = {addi,   add,      slli,  srli,   andi,   xor_,    sh2add,
                                        lw,     lbu,      sw,    flw,    fsw,    fld,     fsd,
                                        flw_p,  fsw_p,    fld_p, fsd_p,  fma_2s, axpy_2s, fmul_s,
                                        fadd_s, fmadd_s,  mul,   fsub_s, fle_s,  fma_4h,  ld2,
                                        fmin_s, fcvt_w_s, beq,   bne,    blt,    bltu,    rpt};
    return make_one(kAll[below(std::size(kAll))], at);
  }
  Instruction make_one(Mnemonic m, std::size_t at) {
    const isa::InstructionInfo& info = isa::info(m);
    if (m == rpt) return at + 3 < 40 ? branch_to(m, below(8) == 0 ? 7 : 6, 0, 8) : nop();
    if (info.format == isa::Format::b) return branch_to(m, reg(), reg(), 8);
    if (info.issue == isa::IssueClass::memory && m != ld2) return access(m, info.format);
    Instruction made = r_type(m, reg(), reg(), reg(), info.format == isa::Format::r4 ? reg() : 0);
    if (info.format == isa::Format::i || info.format == isa::Format::shift) {
      made.rs2 = 0;
      made.imm = static_cast<int>(below(32));
    }
    if (m == fcvt_w_s) made.rs2 = 0;
    return made;
  }
  // Bases x10 and x11 point into memory; they advance, and so leave it now and then.
  Instruction access(Mnemonic m, isa::Format format) {
    const int base = 10 + static_cast<int>(below(2));
    const int imm = 8 * static_cast<int>(below(64));
    return format == isa::Format::s ? s_type(m, reg(), base, imm) : i_type(m, reg(), base, imm);
  }

  std::mt19937 source_;
};

void prepare(Assembled& program) {
  for (std::uint32_t i = 0; i < 6; ++i) {
    program.context.x[i] = i == 0 ? 0 : i * 0x0135'7913U;
    program.context.f[i] = 0xffff'ffff'3f80'0000U + std::uint64_t{i} * 0x0012'3457U;
  }
  program.context.f[5] = 0x3c00'4000'3e00'7bffU;
  program.context.x[9] = 5;
  program.context.x[6] = 3;
  program.context.x[10] = 1024;
  program.context.x[11] = 2048;
}

bool same(const Exit& a, const Exit& b) {
  return a.stop == b.stop && a.fault == b.fault && a.pc == b.pc && a.address == b.address;
}

TEST_SUITE("unit") {
  TEST_CASE("fused, single and recording execution agree on random programs") {
    int faults = 0;
    for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
      const std::vector<Instruction> code = RandomCode(seed).make();
      const Role role = seed % 4 == 0 ? Role::supervisor : Role::worker;
      std::vector<Instruction> ended = code;
      if (role == Role::supervisor) ended.back() = r_type(ecall, 0, 0, 0);
      Assembled fused(ended, role, {}, true);
      Assembled single(ended, role, {}, false);
      Assembled recorded(ended, role, {}, true);
      for (Assembled* each : {&fused, &single, &recorded}) prepare(*each);
      AccessLog log;
      const Exit wanted = single.run();
      CAPTURE(seed);
      REQUIRE(same(fused.run(), wanted));
      REQUIRE(same(recorded.run_recording(log), wanted));
      REQUIRE(test::same(fused.context, single.context));
      REQUIRE(test::same(recorded.context, single.context));
      REQUIRE(fused.memory() == single.memory());
      REQUIRE(recorded.memory() == single.memory());
      faults += wanted.stop == Stop::fault ? 1 : 0;
    }
    CHECK(faults > 100);
    CHECK(faults < 1900);
  }
}

/// The instructions of `parts` with registers of their own, but where the parts say otherwise.
std::vector<std::optional<Instruction>> instructions(std::span<const Part> parts, bool connected) {
  std::vector<std::optional<Instruction>> made;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = static_cast<std::uint8_t>(8 + 3 * i);
    Instruction one{.mnemonic = parts[i].mnemonic, .rd = number};
    one.rs1 = static_cast<std::uint8_t>(number + 1);
    one.rs2 = static_cast<std::uint8_t>(number + 2);
    one.rs3 = 2;
    if (connected) {
      if (parts[i].rs1 != 0) one.rs1 = made[i - parts[i].rs1]->rd;
      if (parts[i].rs2 != 0) one.rs2 = made[i - parts[i].rs2]->rd;
      if (parts[i].rs3 != 0) one.rs3 = made[i - parts[i].rs3]->rd;
      if (parts[i].rd_is_rs1) one.rd = one.rs1;
      if (parts[i].rs2_is_x0) one.rs2 = 0;
    }
    made.emplace_back(one);
  }
  return made;
}

TEST_SUITE("unit") {
  TEST_CASE("a sequence keeps values to itself only where registers are as its parts say") {
    int with_values = 0;
    for (const Fusion& fusion : long_fusions()) {
      CHECK((fused<Fast>(instructions(fusion.parts, true)) == fusion.handler));
      CHECK((fused<Fast>(instructions(fusion.parts, false)) == fusion.plain));
      with_values += fusion.handler != fusion.plain ? 1 : 0;
    }
    CHECK(with_values > 20);
  }

  TEST_CASE("a value that is overwritten in between is not passed on") {
    const auto flw_at = [](std::uint8_t rd, std::uint8_t rs1) {
      return std::optional(Instruction{.mnemonic = flw, .rd = rd, .rs1 = rs1});
    };
    const Instruction sum{.mnemonic = fmadd_s, .rd = 1, .rs1 = 2, .rs2 = 3, .rs3 = 1};
    const std::vector<std::optional<Instruction>> passes{flw_at(2, 10), flw_at(3, 11), sum};
    const std::vector<std::optional<Instruction>> lost{flw_at(2, 10), flw_at(2, 11), sum};
    const Handler handler = fused<Fast>(passes);
    CHECK((handler != nullptr));
    CHECK((fused<Fast>(lost) != handler));
  }
}

}  // namespace
}  // namespace tessera::engine::test
