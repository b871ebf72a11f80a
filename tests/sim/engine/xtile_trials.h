#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "sim/isa/disassemble.h"
#include "sim/isa/registers.h"
#include "sim/isa/table.h"
#include "tests/sim/engine/reference_table.h"
#include "tests/sim/isa/float/values.h"

/// Runs random Xtile programs by the engine in each of its forms and by the reference.
namespace tessera::engine::test {

inline constexpr int kPointers = 10;  ///< x10 to x13
inline constexpr int kIndices = 14;
inline constexpr int kCount = 9;      ///< iterations of loops
inline constexpr int kAdvances = 16;  ///< x16 and x17
inline constexpr std::uint32_t kNumbersAt = 1024;

inline const Reference* reference_of(Mnemonic m) {
  const auto& all = references();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Reference& each) { return each.mnemonic == m; });
  return found == all.end() ? nullptr : &*found;
}
inline std::string name_of(Mnemonic m) { return std::string(isa::info(m).mnemonic); }
inline bool is_xtile(Mnemonic m) { return isa::index(m) >= isa::index(flh_p); }

/// Instructions with random operands, and words with random lanes.
class Maker {
 public:
  /// `floats`: the number of f registers that operands are drawn from.
  explicit Maker(std::uint32_t seed, std::uint32_t floats = 6)
      : source_(seed), half_(seed), single_(seed), floats_(floats) {}

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(source_() % bound); }

  /// Independently drawn lanes of either format; sometimes random bits.
  std::uint64_t word() {
    const auto lanes = [&](auto& values, unsigned bits) {
      std::uint64_t made = 0;
      for (unsigned at = 0; at < 64; at += bits) made |= std::uint64_t{values.next()} << at;
      return made;
    };
    const std::uint32_t kind = below(8);
    if (kind == 0) return source_();
    if (kind < 3) return reference::boxed<fp::F32>(single_.next());
    return kind < 5 ? lanes(single_, 32) : lanes(half_, 16);
  }

  Instruction make(Mnemonic m) {
    Instruction made{.mnemonic = m};
    for (const isa::Operand& operand : isa::info(m).operands) operate(made, operand);
    if (m == xctl) made.imm = 8;
    return made;
  }

 private:
  void operate(Instruction& made, const isa::Operand& operand) {
    using isa::Shape;
    if (const auto field = field_of(made, operand.field); field != nullptr) {
      if (operand.shape == Shape::f_register)
        *field = static_cast<std::uint8_t>(operand.registers > 1 ? 4 * below(2) : below(floats_));
      else if (operand.shape == Shape::x_register &&
               (operand.token != "rs1" || made.mnemonic == mode_b))
        *field = static_cast<std::uint8_t>(below(8) == 0 ? kPointers + below(2) : 4 + below(5));
      else
        *field = static_cast<std::uint8_t>(kPointers + below(4));
      if (isa::is_of_integer_unit(operand))
        *field = static_cast<std::uint8_t>(below(isa::register_count(operand)));
      // A step or a distance instead of an address.
      const bool distance = made.mnemonic == ld8z || made.mnemonic == ld4z;
      if (operand.token == "rs3" || (distance && operand.token == "rs2"))
        *field = static_cast<std::uint8_t>(kAdvances + below(2));
      // Offsets of gathers and scatters are separate from the data they load and store.
      if (operand.field == isa::Field::rs2 && is_indexed(made)) *field = kIndices;
    }
    if (operand.token == "imm" || operand.shape == Shape::displaced)
      made.imm = 8 * static_cast<int>(below(9)) - 32;
    if (operand.token == "shamt") made.imm = static_cast<int>(below(32));
    if (operand.token == "number7")
      made.imm = static_cast<int>(below(made.mnemonic == amp_s ? 8 : 4) + 8 * below(4));
  }
  static bool is_indexed(const Instruction& made) {
    constexpr Mnemonic kIndexed[] = {lgx_s, lgx_h, lgx_d, lgn_d, sgx_d, sgx_s};
    return std::find(std::begin(kIndexed), std::end(kIndexed), made.mnemonic) != std::end(kIndexed);
  }
  static std::uint8_t* field_of(Instruction& made, isa::Field field) {
    if (field == isa::Field::rd) return &made.rd;
    if (field == isa::Field::rs1) return &made.rs1;
    if (field == isa::Field::rs2) return &made.rs2;
    return field == isa::Field::rs3 ? &made.rs3 : nullptr;
  }

  std::mt19937_64 source_;
  Values<fp::F16> half_;
  Values<fp::F32> single_;
  std::uint32_t floats_;
};

/// A way in which the engine can run a program.
struct Form {
  const char* name;
  bool streams = true, counts = false, waits = false, records = false;
  std::uint32_t mode = 0;  ///< frm, which Xtile ignores
};
inline constexpr Form kForms[] = {{"as it runs"},
                                  {"single", false},
                                  {"counting", true, true},
                                  {"timed", true, true, true},
                                  {"recorded", true, false, false, true},
                                  {"rounding down", true, false, false, false, 2}};

inline TileConfig tile_of(const Form& form) {
  TileConfig tile = Assembled::with_unit();
  tile.matrix_unit.i8.outputs = 8;
  tile.matrix_unit.i16.outputs = 4;
  tile.matrix_unit.bf16.outputs = 4;
  tile.dual_issue = true;
  if (!form.waits) return tile;
  tile.issue = IssueKind::single;
  tile.contexts = 1;
  tile.latency.load = 5;
  tile.latency.f32_fma = 4;
  return tile;
}

/// Sets the same initial state for the engine and for the reference.
inline void prepare(Assembled& program, Plain& plain, std::uint32_t seed) {
  Maker maker(seed);
  Context& context = program.context;
  for (int i = 1; i < 9; ++i) context.x[i] = static_cast<std::uint32_t>(maker.word());
  for (int i = 0; i < 4; ++i)
    context.x[kPointers + i] = kNumbersAt + 256 + 512 * static_cast<std::uint32_t>(i);
  context.x[kIndices] = Assembled::kSize - 256;
  for (int i = 0; i < 2; ++i) context.x[kAdvances + i] = 8 * maker.below(17) - 64;
  for (auto& half : context.integers->halves)
    for (std::uint64_t& word : half) word = maker.word();
  for (auto& accumulator : context.integers->accumulators)
    for (std::int32_t& sum : accumulator) sum = static_cast<std::int32_t>(maker.word());
  context.integers->mode = maker.below(64);
  for (std::uint32_t t = 28; t < 31; ++t) context.x[t] = kNumbersAt + 128 + 8 * maker.below(200);
  for (std::uint64_t& f : context.f) f = maker.word();
  for (std::uint64_t& random : context.random) random = maker.word() | 1;
  for (std::uint64_t& word : program.weights()) word = maker.word();
  for (std::size_t at = kNumbersAt; at < Assembled::kSize; at += 8) {
    const std::uint64_t word = maker.word();
    std::memcpy(program.memory().data() + at, &word, sizeof word);
  }
  for (std::size_t at = Assembled::kSize - 512; at < Assembled::kSize; at += 4)
    program.word(at, maker.below(16) | maker.below(16) << 16);
  for (float* bank : {context.banks.acc, context.banks.exc}) {
    for (int i = 0; i < 16; ++i) {
      auto sum = static_cast<std::uint32_t>(maker.word());
      if (exact::nan<fp::F32>(sum)) sum = fp::F32::kNan;  // as the unit leaves NaNs
      std::memcpy(bank + i, &sum, sizeof sum);
    }
  }
  plain.x.assign(context.x, context.x + 32);
  plain.f.assign(context.f, context.f + 32);
  plain.memory = program.memory();
  plain.weights = program.weights();
  const std::vector<std::uint32_t> banks = program.banks();
  plain.acc.assign(banks.begin(), banks.begin() + 16);
  plain.exc.assign(banks.begin() + 16, banks.end());
  std::copy_n(context.random, 2, plain.random);
  const packed::IntegerUnit& unit = *context.integers;
  plain.vectors.resize(sizeof unit.halves);
  std::memcpy(plain.vectors.data(), unit.halves.data(), sizeof unit.halves);
  plain.sums.resize(sizeof unit.accumulators / sizeof(std::int32_t));
  std::memcpy(plain.sums.data(), unit.accumulators.data(), sizeof unit.accumulators);
  plain.mode = unit.mode;
}

inline bool alike(const packed::IntegerUnit& unit, const Plain& plain) {
  return std::memcmp(plain.vectors.data(), unit.halves.data(), sizeof unit.halves) == 0 &&
         std::memcmp(plain.sums.data(), unit.accumulators.data(), sizeof unit.accumulators) == 0 &&
         plain.mode == unit.mode;
}

inline bool alike(const Assembled& program, const Plain& plain, std::uint32_t mode) {
  const Context& context = program.context;
  std::vector<std::uint32_t> banks = plain.acc;
  banks.insert(banks.end(), plain.exc.begin(), plain.exc.end());
  return std::equal(plain.x.begin(), plain.x.end(), context.x) &&
         std::equal(plain.f.begin(), plain.f.end(), context.f) &&
         std::equal(plain.random, plain.random + 2, context.random) &&
         plain.memory == program.memory() && program.banks() == banks &&
         alike(*context.integers, plain) && context.fcsr == (mode << 5 | plain.flags);
}

/// A program that executes `body` once or three times.
struct Trial {
  enum Shape { once, rpt_loop, counted_loop } shape = once;
  std::vector<Instruction> body;

  [[nodiscard]] std::uint32_t times() const { return shape == once ? 1 : 3; }
  [[nodiscard]] std::vector<Instruction> code() const {
    const auto bytes = static_cast<int>(4 * body.size());
    std::vector<Instruction> code = body;
    if (shape == rpt_loop) code.insert(code.begin(), branch_to(rpt, kCount, 0, bytes + 4));
    if (shape == counted_loop) code.push_back(branch_to(bdnz, kCount, 0, -bytes));
    code.push_back(end());
    return code;
  }
};

using Spoil = std::function<void(const Plain& before, const Instruction&, Plain& after)>;

/// True if the engine in this form ends in the reference's state; nullopt where the reference is
/// undecided. `spoil` corrupts the reference after each instruction.
inline std::optional<bool> agrees(const Trial& trial, const Form& form, std::uint32_t seed,
                                  const Spoil& spoil = {}) {
  Assembled program(trial.code(), Role::worker, tile_of(form), form.streams,
                    {.activity = form.counts});
  Plain plain{.code_end = static_cast<std::uint32_t>(4 * trial.code().size())};
  program.context.x[kCount] = trial.times();
  prepare(program, plain, seed);
  plain.x[kCount] = program.context.x[kCount] = trial.times();
  program.context.fcsr = form.mode << 5;
  for (std::uint32_t time = 0; time < trial.times(); ++time) {
    for (const Instruction& each : trial.body) {
      const Plain before = spoil ? plain : Plain{};
      reference_of(each.mnemonic)->execute(plain, each);
      if (plain.faults || plain.undecided) return std::nullopt;
      if (spoil) spoil(before, each, plain);
    }
  }
  if (trial.shape == Trial::counted_loop) plain.x[kCount] = 0;
  AccessLog log;
  const Exit exit = form.records ? program.run_recording(log) : program.run();
  return exit.stop == Stop::end_worker && alike(program, plain, form.mode);
}

inline std::string text_of(const Trial& trial) {
  std::string text;
  std::uint32_t at = 0;
  for (const Instruction& each : trial.code()) {
    text += isa::disassemble(isa::encode(each), at) + "; ";
    at += 4;
  }
  return text;
}

/// Checks all forms; returns how many were decided.
inline int check_all(const Trial& trial, std::uint32_t seed) {
  int said = 0;
  for (const Form& form : kForms) {
    const std::optional<bool> right = agrees(trial, form, seed);
    if (!right) return said;
    ++said;
    if (*right) continue;
    CAPTURE(seed);
    CAPTURE(std::string(form.name));
    FAIL_CHECK(text_of(trial));
  }
  return said;
}

}  // namespace tessera::engine::test
