#include <algorithm>
#include <map>
#include <set>

#include "sim/engine/native/wide/values.h"

namespace tessera::engine::native {

using enum isa::Mnemonic;
using isa::Instruction;
using isa::Mnemonic;

namespace {

/// The lower word of high:low shifted to the right: (low >> by) | (high << (32 - by)).
struct Funnel {
  int high = 0, low = 0;
  std::int32_t by = 0;
  std::array<std::size_t, 3> parts{};
};

class WideFinder {
 public:
  explicit WideFinder(const Values& values) : values_(values), known_(values) {}

  std::vector<FoundOperation> find() {
    find_all();
    known_.forget();
    find_all();  // now with known register pairs
    find_stores();
    return std::move(found_);
  }

 private:
  using Look = std::optional<FoundOperation>(const Values&, const Pairs&, std::size_t);

  void find_all() {
    found_.clear();
    funnels_.clear();
    wanted_.clear();
    explained_.clear();
    find_funnels();
    find_shifts();
    for (Look* const look : {product_at, sum_at, difference_at})
      for (std::size_t i = 0; i < values_.steps.size(); ++i)
        if (const auto made = look(values_, known_, i))
          found(made->kind, made->to, made->a, made->b, made->by, made->parts);
    explain_wanted();
    find_loads();
    explain_wanted();
    find_rotations();
    explain_wanted();
  }

  const Instruction* maker(int value) const { return values_.maker(value); }
  std::size_t step_of(int value) const { return values_.step_of(value); }

  void found(Wide kind, const Words& to, const Words& a, const Words& b, std::int32_t by,
             std::vector<std::size_t> parts) {
    if (kind != Wide::load && a.low == 0) return;
    if (b.low == 0 && b.high != 0) return;
    const auto is_one = [](const Words& words) {
      return words.low != 0 && words.low == words.high;
    };
    if (is_one(to) || is_one(a) || is_one(b)) return;
    std::ranges::sort(parts);
    found_.push_back({kind, to, a, b, by, std::move(parts)});
    known_.add(to);
    explained_.insert(to);
    want(a);
    want(b);
  }

  void want(const Words& words) {
    if (words.low != 0 && words.low != words.high) wanted_.push_back(words);
  }

  void find_funnels() {
    for (std::size_t i = 0; i < values_.steps.size(); ++i) {
      const int made = values_.made[i];
      const Instruction* const is = made > 0 ? maker(made) : nullptr;
      if (is == nullptr || (is->mnemonic != or_ && is->mnemonic != xor_ && is->mnemonic != add))
        continue;
      auto [left, right] = values_.reads[i];
      if (values_.is_made(left, srli)) std::swap(left, right);
      if (!values_.is_made(left, slli) || !values_.is_made(right, srli)) continue;
      const std::int32_t by = maker(right)->imm;
      const bool whole = by > 0 && by + maker(left)->imm == kWordBits;
      const Funnel funnel{values_.operands(left)[0],
                          values_.operands(right)[0],
                          by,
                          {step_of(left), step_of(right), i}};
      if (!whole || funnel.high == funnel.low || funnel.high == 0 || funnel.low == 0) continue;
      if (values_.is_read_once(left) && values_.is_read_once(right)) funnels_[made] = funnel;
    }
  }

  bool is_funnel_part(std::size_t step) const {
    return std::ranges::any_of(funnels_, [&](const auto& each) {
      return std::ranges::find(each.second.parts, step) != each.second.parts.end();
    });
  }

  /// The value that shifts `value` by `amount` and is not part of a funnel; 0: none.
  int shift_of(int value, Mnemonic by, std::int32_t amount) const {
    for (const std::size_t use : values_[value].uses) {
      const int made = values_.made[use];
      if (made > 0 && values_.is_made(made, by) && maker(made)->imm == amount &&
          values_.operands(made)[0] == value && !is_funnel_part(use))
        return made;
    }
    return 0;
  }

  void find_shifts() {
    for (const auto& [made, funnel] : funnels_) {
      const auto& [high, low, by, parts] = funnel;
      std::vector<std::size_t> all(parts.begin(), parts.end());
      all.push_back(0);
      for (const Mnemonic m : {srli, srai})
        if (const int upper = shift_of(high, m, by); upper != 0) {
          all.back() = step_of(upper);
          found(m == srli ? Wide::right : Wide::right_signed, {made, upper}, {low, high}, {}, by,
                all);
        }
      if (const int lower = shift_of(low, slli, kWordBits - by); lower != 0) {
        all.back() = step_of(lower);
        found(Wide::left, {lower, made}, {low, high}, {}, kWordBits - by, all);
      }
    }
  }

  /// Pairs loads of neighbouring words that nothing else pairs.
  void find_loads() {
    std::map<std::pair<int, std::int32_t>, int> loaded;  // by base and displacement
    for (std::size_t i = 0; i < values_.steps.size(); ++i) {
      const int made = values_.made[i];
      if (made <= 0 || !values_.is_made(made, lw) || known_.has(made)) continue;
      loaded[{values_.reads[i][0], maker(made)->imm}] = made;
    }
    for (const auto& [at, low] : loaded) {
      const auto high = loaded.find({at.first, at.second + kWordBytes});
      if (high == loaded.end() || known_.has(low)) continue;
      known_.add({low, high->second});
      want({low, high->second});
    }
  }

  /// Finds rotations by two funnel shifts of swapped words; likeness decides the words' order.
  void find_rotations() {
    for (const auto& [made, funnel] : funnels_) {
      if (known_.has(made)) continue;
      for (const auto& [partner, other] : funnels_) {
        const bool rotates =
            other.high == funnel.low && other.low == funnel.high && other.by == funnel.by;
        if (!rotates || known_.has(partner)) continue;
        const bool swapped =
            known_.likeness({funnel.high, funnel.low}) > known_.likeness({funnel.low, funnel.high});
        want(swapped ? Words{partner, made} : Words{made, partner});
        break;
      }
    }
  }

  /// Finds the operations that make the wanted pairs, and those that use them.
  void explain_wanted() {
    while (!wanted_.empty()) {
      const Words words = wanted_.back();
      wanted_.pop_back();
      const bool fits = words.low != 0 && (!known_.has_low(words.low) || known_.are(words));
      if (!fits) continue;
      known_.add(words);
      if (explained_.insert(words).second) explain(words);
      follow(words);
    }
  }

  void explain(const Words& words) {
    const auto& [low, high] = words;
    const Instruction* const a = maker(low);
    const Instruction* const b = maker(high);
    if (a == nullptr) return;
    if (high == 0) return explain_alone(low, *a);
    if (b != nullptr && a->mnemonic == b->mnemonic && explain_alike(words, *a, *b)) return;
    if (explain_rotation(words)) return;
    explain_half(words, *a);
  }

  /// Explains a lower word whose upper word is 0.
  void explain_alone(int low, const Instruction& is) {
    const int from = values_.operands(low)[0];
    if (is.mnemonic == srli && known_.low_of(from) != 0)
      found(Wide::right, {low, 0}, {known_.low_of(from), from}, {}, kWordBits + is.imm,
            {step_of(low)});
  }

  static std::optional<Wide> bitwise(Mnemonic m) {
    switch (m) {
      case and_:
        return Wide::bit_and;
      case or_:
        return Wide::bit_or;
      case xor_:
        return Wide::bit_xor;
      default:
        return std::nullopt;
    }
  }

  bool explain_alike(const Words& words, const Instruction& a, const Instruction& b) {
    const auto& [low, high] = words;
    const std::vector<std::size_t> parts{step_of(low), step_of(high)};
    const auto& lows = values_.operands(low);
    auto highs = values_.operands(high);
    if (const std::optional<Wide> kind = bitwise(a.mnemonic)) {
      const bool swapped = known_.are_swapped(lows, highs);
      if (funnels_.contains(low) && funnels_.contains(high)) return false;
      if (swapped) std::swap(highs[0], highs[1]);
      if (lows[0] == 0 || lows[1] == 0) return false;
      found(*kind, words, {lows[0], highs[0]}, {lows[1], highs[1]}, 0, parts);
      return true;
    }
    const bool moves = a.mnemonic == addi && a.imm == 0 && b.imm == 0 && lows[0] != 0;
    const bool inverts = a.mnemonic == xori && a.imm == -1 && b.imm == -1 && lows[0] != 0;
    if (moves || inverts) {
      found(moves ? Wide::move : Wide::invert, words, {lows[0], highs[0]}, {}, 0, parts);
      return true;
    }
    if (a.mnemonic == lw && values_.distance(step_of(low), step_of(high)) == kWordBytes) {
      found(Wide::load, words, {}, {}, 0, parts);
      return true;
    }
    return false;
  }

  bool explain_rotation(const Words& words) {
    const auto first = funnels_.find(words.low);
    const auto second = funnels_.find(words.high);
    if (first == funnels_.end() || second == funnels_.end()) return false;
    const Funnel& a = first->second;
    const Funnel& b = second->second;
    if (a.high != b.low || a.low != b.high || a.by != b.by) return false;
    std::vector<std::size_t> parts(a.parts.begin(), a.parts.end());
    parts.insert(parts.end(), b.parts.begin(), b.parts.end());
    const bool swapped = known_.likeness({a.high, a.low}) > known_.likeness({a.low, a.high});
    if (swapped)
      found(Wide::rotate, words, {a.high, a.low}, {}, a.by + kWordBits, parts);
    else
      found(Wide::rotate, words, {a.low, a.high}, {}, a.by, parts);
    return true;
  }

  /// Explains a pair in which only the lower word changes.
  void explain_half(const Words& words, const Instruction& is) {
    const auto& [low, high] = words;
    const auto& operands = values_.operands(low);
    if (is.mnemonic == addi && is.imm == 0 && known_.likeness({operands[0], high}) > 0) {
      found(Wide::move, words, {operands[0], high}, {}, 0, {step_of(low)});
      return;
    }
    if (is.mnemonic != xor_ && is.mnemonic != or_) return;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!known_.are({operands[i], high})) continue;
      found(*bitwise(is.mnemonic), words, {operands[i], high}, {operands[1 - i], 0}, 0,
            {step_of(low)});
      return;
    }
  }

  /// Finds pairs among the values computed from both words.
  void follow(const Words& words) {
    const auto& [low, high] = words;
    if (high == 0) return;
    for (const std::size_t first : values_[low].uses) {
      const int a = values_.made[first];
      if (a <= 0 || maker(a) == nullptr || !bitwise(maker(a)->mnemonic) || funnels_.contains(a))
        continue;
      follow_half(words, first);
      for (const std::size_t second : values_[high].uses) {
        const int b = values_.made[second];
        if (b <= 0 || maker(b) == nullptr || maker(b)->mnemonic != maker(a)->mnemonic) continue;
        const Words with{values_.other(first, low), values_.other(second, high)};
        if (known_.likeness(with) > 1 && !known_.has_low(a)) want({a, b});
      }
    }
  }

  /// Finds a lower word combined with its shifted upper word, which does not change.
  void follow_half(const Words& words, std::size_t step) {
    const int with = values_.other(step, words.low);
    const bool shifted = values_.is_made(with, srli) && values_.operands(with)[0] == words.high &&
                         maker(values_.made[step])->mnemonic != and_;
    if (shifted && !is_funnel_part(step_of(with)) && !known_.has_low(values_.made[step]))
      want({values_.made[step], words.high});
  }

  /// Finds stores of the words of a known pair to neighbouring addresses.
  void find_stores() {
    std::map<int, std::size_t> last;  // by value stored
    for (std::size_t i = 0; i < values_.steps.size(); ++i) {
      const Step& step = values_.steps[i];
      if (step.kind != Kind::straight || step.instruction.mnemonic != sw) continue;
      const int value = values_.reads[i][1];
      const auto try_pair = [&](int low, int high) {
        if (low == high) return;
        const auto before = last.find(value == low ? high : low);
        if (before == last.end()) return;
        const std::size_t at = value == low ? i : before->second;
        if (values_.distance(at, value == low ? before->second : i) != kWordBytes) return;
        found_.push_back({Wide::store, {}, {low, high}, {}, 0, {before->second, i}});
      };
      if (const int high = known_.high_of(value); high != 0)
        try_pair(value, high);
      else if (const int low = known_.low_of(value); low != 0)
        try_pair(low, value);
      last[value] = i;
    }
  }

  const Values& values_;
  std::vector<FoundOperation> found_;
  Pairs known_;
  std::map<int, Funnel> funnels_;  // by result
  std::vector<Words> wanted_;
  std::set<Words> explained_;
};

}  // namespace

std::vector<FoundOperation> find_operations(const Values& values) {
  return WideFinder(values).find();
}

}  // namespace tessera::engine::native
