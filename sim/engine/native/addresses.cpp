#include "sim/engine/native/addresses.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <optional>
#include <tuple>

#include "sim/isa/table.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;
using isa::Instruction;

constexpr std::uint8_t kT3 = 28;
constexpr std::uint8_t kWordLog = 3;
constexpr std::int32_t kWord = 8;
constexpr std::int32_t kWidest = 1 << 14;  ///< span of a group

std::uint8_t log_of(std::uint32_t bytes) {
  return static_cast<std::uint8_t>(std::countr_zero(bytes));
}

/// An instruction's x[to] = x[from] + by.
struct Move {
  std::uint8_t from = 0, to = 0;
  std::int32_t by = 0;
};

std::vector<Move> moves_of(const Instruction& is) {
  switch (is.mnemonic) {
    case addi:
      return {{is.rs1, is.rd, is.imm}};
    case flh_p:
    case flw_p:
    case fld_p:
    case lw_p:
    case lhu_p:
    case fsh_p:
    case fsw_p:
    case fsd_p:
    case sw_p:
    case sh_p:
      return {{is.rs1, is.rs1, is.imm}};
    case lgx_s:
    case lgx_h:
    case lgx_d:
    case sgx_d:
    case sgx_s:
      return {{is.rs2, is.rs2, 2}};
    case ld2:
    case ldst:
      if (is.rs1 == is.rs2) return {{is.rs1, is.rs1, 2 * kWord}};
      return {{is.rs1, is.rs1, kWord}, {is.rs2, is.rs2, kWord}};
    case ld2st:
      return {{kT3, kT3, kWord}, {kT3 + 1, kT3 + 1, kWord}, {kT3 + 2, kT3 + 2, kWord}};
    case ld4:
      return {{is.rs1, is.rs1, 4 * kWord}};
    default:
      return {};
  }
}

/// A register's value: that of `group` plus a constant.
struct Value {
  int group;
  std::int32_t at;
};

/// Bits by which sums shift x[rs1] before they add or subtract x[rs2]; nothing for other
/// instructions. If their operands change by constants, so do their results.
std::optional<unsigned> shift_of_sum(const Instruction& is) {
  switch (is.mnemonic) {
    case add:
    case sub:
      return 0;
    case slli:
      return static_cast<unsigned>(is.imm);
    case sh1add:
      return 1;
    case sh2add:
      return 2;
    case sh3add:
      return 3;
    default:
      return std::nullopt;
  }
}

class Planner {
 public:
  explicit Planner(std::span<const Step> steps) : steps_(steps) {
    for (int r = 0; r < 32; ++r) values_[static_cast<std::size_t>(r)] = fresh();
  }

  AddressPlan plan() {
    for (const Step& step : steps_) {
      if (step.kind == Kind::straight) note(step.instruction);
      advance(step);
    }
    finish();
    return std::move(made_);
  }

 private:
  struct Noted {
    std::size_t index;
    Access access;
  };

  Value fresh() {
    made_.groups.emplace_back();
    noted_.emplace_back();
    return {static_cast<int>(made_.groups.size()) - 1, 0};
  }

  void note(const Instruction& instruction) {
    const Accesses all = accesses_of(instruction);
    for (std::size_t i = 0; i < all.count; ++i) {
      const Access& access = all.all[i];
      const Value value = values_[access.base];
      if (access.base != 0)
        noted_[static_cast<std::size_t>(value.group)].push_back({made_.accesses.size(), access});
      made_.accesses.push_back({access.base != 0 ? value.group : -1, value.at});
    }
  }

  void advance(const Step& step) {
    const std::vector<Move> moves =
        step.kind == Kind::straight ? moves_of(step.instruction) : std::vector<Move>{};
    std::uint32_t lost = step.sets.writes_x;
    auto values = values_;
    for (const Move& move : moves) {
      const std::int32_t at = values_[move.from].at + move.by;
      if (move.from == 0 || move.to == 0 || std::abs(at) > kWidest) continue;
      const bool loaded = step.instruction.mnemonic != addi && is_loaded(step.instruction, move.to);
      if (loaded) continue;
      values[move.to] = {values_[move.from].group, at};
      lost &= ~(1U << move.to);
    }
    if (const std::optional<Value> sum = sum_of(step)) {
      values[step.instruction.rd] = *sum;
      lost = 0;
    }
    values_ = values;
    for (; lost != 0; lost &= lost - 1)
      values_[static_cast<std::size_t>(std::countr_zero(lost))] = fresh();
  }

  /// The result of a sum; sums of the same operands' groups form one group.
  std::optional<Value> sum_of(const Step& step) {
    const Instruction& is = step.instruction;
    const std::optional<unsigned> shift = shift_of_sum(is);
    if (step.kind != Kind::straight || is.rd == 0 || !shift) return std::nullopt;
    const Value first = values_[is.rs1];
    const Value second = is.mnemonic == slli ? Value{-1, 0} : values_[is.rs2];
    const std::int64_t shifted = static_cast<std::int64_t>(first.at) << *shift;
    const std::int64_t at = is.mnemonic == sub ? shifted - second.at : shifted + second.at;
    if (std::abs(at) > kWidest) return std::nullopt;
    Sum sum{is.mnemonic, *shift, first.group, second.group};
    if (is.mnemonic == add && first.group > second.group) sum = {add, 0, second.group, first.group};
    const auto [found, is_new] = sums_.try_emplace(sum, -1);
    if (is_new) found->second = fresh().group;
    return Value{found->second, static_cast<std::int32_t>(at)};
  }

  /// True if the instruction loads into x[number].
  static bool is_loaded(const Instruction& is, std::uint8_t number) {
    return (is.mnemonic == lw_p || is.mnemonic == lhu_p) && is.rd == number;
  }

  void finish() {
    for (std::size_t i = 0; i < noted_.size(); ++i) {
      if (!noted_[i].empty()) finish(made_.groups[i], noted_[i]);
    }
  }

  void finish(Group& group, const std::vector<Noted>& all) {
    std::int32_t anchor = 0;
    bool first = true;
    for (const Noted& each : all) {
      const std::int32_t base = made_.accesses[each.index].base_at;
      const std::int32_t at = base + each.access.offset;
      const std::int32_t end = at + (1 << each.access.log);
      if (first || each.access.log > group.log) {
        group.log = each.access.log;
        anchor = at;
      }
      group.low = first ? std::min(at, base) : std::min({group.low, at, base});
      group.high = first ? end : std::max(group.high, end);
      group.store |= each.access.store;
      first = false;
    }
    const std::int32_t size = 1 << group.log;
    group.low -= ((group.low - anchor) % size + size) % size;
    const bool wide = group.high - group.low > kWidest;
    for (const Noted& each : all) {
      const std::int32_t at = made_.accesses[each.index].base_at + each.access.offset;
      if (wide || (at - anchor) % (1 << each.access.log) != 0)
        made_.accesses[each.index].group = -1;
    }
  }

  std::span<const Step> steps_;
  AddressPlan made_;
  std::vector<std::vector<Noted>> noted_;
  std::array<Value, 32> values_{};
  using Sum = std::tuple<isa::Mnemonic, unsigned, int, int>;  ///< with its operands' groups
  std::map<Sum, int> sums_;                                   ///< the sums' groups
};

}  // namespace

Accesses accesses_of(const Instruction& is) {
  const isa::InstructionInfo& info = isa::info(is.mnemonic);
  Accesses made;
  const auto add = [&](std::uint8_t base, std::uint8_t log, bool store, std::int32_t offset) {
    made.all[made.count++] = {base, store, log, offset};
  };
  switch (is.mnemonic) {
    case lb:
    case lh:
    case lw:
    case lbu:
    case lhu:
    case flh:
    case flw:
    case fld:
      add(is.rs1, log_of(info.bytes_loaded), false, is.imm);
      break;
    case sb:
    case sh:
    case sw:
    case fsh:
    case fsw:
    case fsd:
      add(is.rs1, log_of(info.bytes_stored), true, is.imm);
      break;
    case flh_p:
    case flw_p:
    case fld_p:
    case lw_p:
    case lhu_p:
      add(is.rs1, log_of(info.bytes_loaded), false, 0);
      break;
    case fsh_p:
    case fsw_p:
    case fsd_p:
    case sw_p:
    case sh_p:
      add(is.rs1, log_of(info.bytes_stored), true, 0);
      break;
    case lgx_s:
    case lgx_h:
    case lgx_d:
    case lgn_d:
    case sgx_d:
    case sgx_s:
      add(is.rs2, 1, false, 0);
      break;
    case ld2:
      add(is.rs1, kWordLog, false, 0);
      add(is.rs2, kWordLog, false, 0);
      break;
    case ldst:
      add(is.rs1, kWordLog, false, 0);
      add(is.rs2, kWordLog, true, 0);
      break;
    case ld2st:
      add(kT3, kWordLog, false, 0);
      add(kT3 + 1, kWordLog, false, 0);
      add(kT3 + 2, kWordLog, true, 0);
      break;
    case ld4:
      for (std::int32_t i = 0; i < 4; ++i) add(is.rs1, kWordLog, false, kWord * i);
      break;
    default:
      break;
  }
  return made;
}

AddressPlan plan_addresses(std::span<const Step> steps) { return Planner(steps).plan(); }

}  // namespace tessera::engine::native
