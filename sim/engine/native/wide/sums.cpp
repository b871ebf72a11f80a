#include <utility>

#include "sim/engine/native/wide/values.h"

namespace tessera::engine::native {

using enum isa::Mnemonic;
using isa::Instruction;

namespace {

bool is_carry(const Values& values, int value) {
  return values.is_made(value, sltu) || values.is_made(value, sltiu);
}

/// The 64-bit product with lower word `lower`, if products with upper words of the factors are
/// added to `upper`, the upper word of the lower words' product.
std::optional<FoundOperation> multiply(const Values& values, int lower, int upper,
                                       const std::array<int, 2>& factors) {
  std::array<int, 2> highs{};
  std::vector<std::size_t> parts{values.step_of(lower), values.step_of(upper)};
  int sum = upper;
  for (bool more = true; more && values.is_read_once(sum);) {
    more = false;
    const std::size_t use = values[sum].uses[0];
    const int next = values.made_by(use, add);
    if (next == 0) break;
    const int added = values.other(use, sum);
    if (!values.is_made(added, mul) || !values.is_read_once(added) || added == lower) break;
    for (std::size_t i = 0; i < 2 && !more; ++i) {
      const auto& [first, second] = values.operands(added);
      if (highs[1 - i] != 0 || (first != factors[i] && second != factors[i])) continue;
      highs[1 - i] = first == factors[i] ? second : first;
      parts.insert(parts.end(), {values.step_of(added), use});
      sum = next;
      more = true;
    }
  }
  if (sum == upper) return std::nullopt;
  return FoundOperation{
      Wide::multiply,  {lower, sum}, {factors[0], highs[0]}, {factors[1], highs[1]}, 0,
      std::move(parts)};
}

/// The upper words of a sum or difference: operands of `high`, which adds or subtracts a carry, and
/// of one more instruction before or after it.
struct Upper {
  int high = 0;
  std::array<int, 2> operands{};
  std::size_t more = 0;  ///< step of that instruction, if `is_more`
  bool is_more = false;
};

Upper upper_words(const Values& values, const Pairs& known, isa::Mnemonic by, int beside,
                  int high) {
  if (values.is_made(beside, by) && values.is_read_once(beside) && !known.has(beside))
    return {high, values.operands(beside), values.step_of(beside), true};
  if (values.is_read_once(high)) {
    const std::size_t next = values[high].uses[0];
    const int last = values.made_by(next, by);
    const int added = values.other(next, high);
    const bool in_order = by == add || values.reads[next][0] == high;
    if (last != 0 && in_order && added != high && !is_carry(values, added))
      return {last, {beside, added}, next, true};
  }
  return {high, {beside, 0}};
}

int difference_of(const Values& values, int x, int y) {
  for (const std::size_t use : values[x].uses)
    if (values.made_by(use, sub) != 0 && values.reads[use] == std::array<int, 2>{x, y})
      return values.made[use];
  return 0;
}

}  // namespace

std::optional<FoundOperation> product_at(const Values& values, const Pairs&, std::size_t step) {
  const bool is_signed = values.made_by(step, mulh) != 0;
  if (!is_signed && values.made_by(step, mulhu) == 0) return std::nullopt;
  const auto [a, b] = values.reads[step];
  for (const std::size_t use : values[a].uses) {
    const int lower = values.made_by(use, mul);
    const auto [c, d] = values.reads[use];
    if (lower == 0 || !((a == c && b == d) || (a == d && b == c))) continue;
    const int upper = values.made[step];
    if (!is_signed)
      if (auto found = multiply(values, lower, upper, {a, b})) return found;
    const Wide kind = is_signed ? Wide::product_signed : Wide::product;
    return FoundOperation{kind, {lower, upper}, {a, 0}, {b, 0}, 0, {step, use}};
  }
  return std::nullopt;
}

std::optional<FoundOperation> sum_at(const Values& values, const Pairs& known, std::size_t step) {
  const int carry = values.made[step];
  if (carry <= 0 || !is_carry(values, carry) || !values.is_read_once(carry)) return std::nullopt;
  const int low = values.reads[step][0];
  const Instruction* const sum = values.maker(low);
  if (sum == nullptr || known.has_low(low)) return std::nullopt;
  const auto& [first, second] = values.operands(low);
  const bool constant = sum->mnemonic == addi && sum->imm > 0 && first != 0;
  if (!constant && sum->mnemonic != add) return std::nullopt;
  int x = values.reads[step][1];
  if (values.is_made(carry, sltiu)) {
    if (!constant || sum->imm != 1 || values.maker(carry)->imm != 1) return std::nullopt;
    x = first;
  }
  if (x == 0 || (x != first && (constant || x != second))) return std::nullopt;
  const std::size_t use = values[carry].uses[0];
  const int high = values.made_by(use, add);
  if (high == 0) return std::nullopt;
  const int beside = values.other(use, carry);
  std::vector<std::size_t> parts{values.step_of(low), step, use};
  if (constant) return FoundOperation{Wide::add, {low, high}, {x, beside}, {}, sum->imm, parts};
  Upper upper = upper_words(values, known, add, beside, high);
  if (upper.is_more) parts.push_back(upper.more);
  const std::array<int, 2> lows{x, values.other(values.step_of(low), x)};
  auto& highs = upper.operands;
  if (known.are_swapped(lows, highs)) std::swap(highs[0], highs[1]);
  return FoundOperation{Wide::add, {low, upper.high}, {lows[0], highs[0]}, {lows[1], highs[1]}, 0,
                        parts};
}

std::optional<FoundOperation> difference_at(const Values& values, const Pairs& known,
                                            std::size_t step) {
  const int borrow = values.made_by(step, sltu);
  if (borrow == 0 || !values.is_read_once(borrow)) return std::nullopt;
  const auto [x, y] = values.reads[step];
  const std::size_t use = values[borrow].uses[0];
  const int high = values.made_by(use, sub);
  const int low = difference_of(values, x, y);
  if (high == 0 || values.reads[use][1] != borrow || low == 0 || known.has_low(low))
    return std::nullopt;
  std::vector<std::size_t> parts{values.step_of(low), step, use};
  const Upper upper = upper_words(values, known, sub, values.reads[use][0], high);
  if (upper.is_more) parts.push_back(upper.more);
  return FoundOperation{
      Wide::subtract, {low, upper.high}, {x, upper.operands[0]}, {y, upper.operands[1]}, 0, parts};
}

}  // namespace tessera::engine::native
