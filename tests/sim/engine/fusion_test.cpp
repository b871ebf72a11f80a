#include "sim/engine/fusion.h"

#include <random>
#include <span>

#include <doctest/doctest.h>

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

  /// Any of the long sequences that one handler does, with operands of any kind.
  void append_sequence(std::vector<Instruction>& code) {
    const std::span<const Fusion> all = long_fusions();
    const Fusion& fusion = all[below(static_cast<std::uint32_t>(all.size()))];
    for (std::size_t i = 0; i < fusion.length; ++i) code.push_back(make_one(fusion.shape[i], 40));
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
    program.context.f[i] = 0xffff'ffff'3f80'0000U + i * 0x0012'3457U;
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
bool same(const Context& a, const Context& b) {
  return std::equal(a.x, a.x + 32, b.x) && std::equal(a.f, a.f + 32, b.f) && a.pc == b.pc &&
         a.fcsr == b.fcsr && a.slots == b.slots && a.instructions == b.instructions &&
         a.flops == b.flops;
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
      REQUIRE(same(fused.context, single.context));
      REQUIRE(same(recorded.context, single.context));
      REQUIRE(fused.memory() == single.memory());
      REQUIRE(recorded.memory() == single.memory());
      faults += wanted.stop == Stop::fault ? 1 : 0;
    }
    CHECK(faults > 100);
    CHECK(faults < 1900);
  }
}

}  // namespace
}  // namespace tessera::engine::test
