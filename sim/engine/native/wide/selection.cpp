#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "sim/engine/native/wide/values.h"
#include "sim/engine/native/wide/wide.h"

namespace tessera::engine::native {
namespace {

using enum isa::Mnemonic;

/// Effects of a step on operations around it.
struct StepEffects {
  bool leaves = false;    ///< control may leave here
  bool cuts = false;      ///< no operation may have parts on both sides
  bool accesses = false;  ///< it accesses memory
};

class Selection {
 public:
  Selection(std::span<const Step> steps, const AddressPlan& addresses)
      : values_(steps), size_(steps.size()) {
    note_effects(addresses);
    for (FoundOperation& each : find_operations(values_)) {
      const bool early = each.kind == Wide::load || each.kind == Wide::store;
      const std::size_t at = early ? each.parts.front() : each.parts.back();
      all_.push_back({std::move(each), at, true});
    }
  }

  WidePlan select() {
    own();
    do {
      while (drop_impossible()) {
      }
    } while (drop_useless());
    WidePlan made;
    if (std::ranges::none_of(all_, &Candidate::alive)) return made;
    made.steps.resize(size_);
    std::vector<const Candidate*> alive;
    for (const Candidate& each : all_)
      if (each.alive) alive.push_back(&each);
    // In order: an operation can use words that an earlier one keeps.
    std::ranges::stable_sort(alive, {}, &Candidate::at);
    for (const Candidate* each : alive) add(*each, made);
    if (!fits(made)) return {};
    for (const StepEffects& each : effects_) made.leaves.push_back(each.leaves);
    return made;
  }

 private:
  struct Candidate {
    FoundOperation is;
    std::size_t at = 0;  ///< the step at which it is done
    bool alive = false;
  };
  static constexpr int kNobody = -1;

  void note_effects(const AddressPlan& addresses) {
    std::set<int> checked;
    std::size_t access = 0;
    for (const Step& step : values_.steps) {
      const bool straight = step.kind == Kind::straight;
      const std::size_t count = straight ? accesses_of(step.instruction).count : 0;
      StepEffects effects{.accesses = count != 0};
      groups_.push_back(count == 1 ? addresses.accesses[access].group : -1);
      const isa::Mnemonic m = step.instruction.mnemonic;
      const bool of_x = straight && count == 1 && ((m >= lb && m <= lhu) || (m >= sb && m <= sw));
      if (of_x)
        effects.leaves = groups_.back() < 0 || checked.insert(groups_.back()).second;
      else if (!is_arithmetic(step) && step.kind != Kind::pass)
        effects = {true, step.kind != Kind::branch, effects.accesses};
      access += count;
      effects_.push_back(effects);
    }
  }

  /// Each step goes to one operation: the one with the most parts.
  void own() {
    std::ranges::stable_sort(all_, [](const Candidate& a, const Candidate& b) {
      return a.is.parts.size() > b.is.parts.size();
    });
    owners_.assign(size_, kNobody);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      Candidate& each = all_[i];
      each.alive = std::ranges::all_of(each.is.parts,
                                       [&](std::size_t part) { return owners_[part] == kNobody; });
      if (each.alive)
        for (const std::size_t part : each.is.parts) owners_[part] = static_cast<int>(i);
    }
  }

  void drop(Candidate& each) {
    each.alive = false;
    for (const std::size_t part : each.is.parts) owners_[part] = kNobody;
  }

  /// Drops impossible operations, the smallest first, so that they do not block others.
  bool drop_impossible() {
    note_writes();
    bool dropped = false;
    for (auto each = all_.rbegin(); each != all_.rend(); ++each) {
      if (!each->alive || is_possible(*each)) continue;
      drop(*each);
      note_writes();
      dropped = true;
    }
    return dropped;
  }

  [[nodiscard]] const Candidate* owner(std::size_t step) const {
    return owners_[step] == kNobody ? nullptr : &all_[static_cast<std::size_t>(owners_[step])];
  }
  [[nodiscard]] const Candidate* maker(int value) const {
    return values_[value].step < 0 ? nullptr : owner(static_cast<std::size_t>(values_[value].step));
  }
  static bool is_result(const Candidate& of, int value) {
    return value > 0 && (value == of.is.to.low || value == of.is.to.high);
  }
  static bool has(const Candidate& of, std::size_t step) {
    return std::ranges::binary_search(of.is.parts, step);
  }

  /// The step after which the register holds the value.
  [[nodiscard]] int since(int value) const {
    const Candidate* const by = maker(value);
    return by != nullptr ? static_cast<int>(by->at) : values_[value].step;
  }

  /// Notes the steps at which registers change.
  void note_writes() {
    for (auto& each : writes_) each.clear();
    for (std::size_t i = 0; i < size_; ++i)
      for (unsigned x = 1; x < writes_.size(); ++x)
        if (owners_[i] == kNobody && (values_.steps[i].sets.writes_x >> x & 1) != 0)
          writes_[x].push_back(static_cast<int>(i));
    for (const Candidate& each : all_) {
      if (!each.alive) continue;
      for (const int value : {each.is.to.low, each.is.to.high})
        if (value > 0 && values_[value].step >= 0 && maker(value) == &each)
          writes_[values_[value].x].push_back(static_cast<int>(each.at));
    }
  }

  /// True if the register holds the value from since() until `end`.
  [[nodiscard]] bool stays(int value, int end) const {
    if (value == 0) return true;
    return std::ranges::none_of(writes_[values_[value].x],
                                [&](int write) { return write > since(value) && write < end; });
  }

  [[nodiscard]] bool keeps_high(const Candidate& each) const {
    return each.is.to.high != 0 && maker(each.is.to.high) != &each;
  }

  [[nodiscard]] bool is_possible(const Candidate& each) const {
    if (each.is.kind == Wide::store) return is_possible_store(each);
    if (each.is.kind == Wide::load && !is_possible_load(each)) return false;
    for (std::size_t i = each.is.parts.front() + 1; i <= each.at; ++i)
      if (effects_[i].cuts) return false;
    for (const std::size_t part : each.is.parts)
      if (!is_hidden(each, values_.made[part])) return false;
    const auto there = [&](int value) {
      return value == 0 ||
             (since(value) < static_cast<int>(each.at) && stays(value, static_cast<int>(each.at)));
    };
    const bool keeps = keeps_high(each);
    return there(each.is.a.low) && there(each.is.a.high) && there(each.is.b.low) &&
           there(each.is.b.high) && (!keeps || there(each.is.to.high));
  }

  /// True if a part's value is not read before the operation makes it; inner values: by no others.
  [[nodiscard]] bool is_hidden(const Candidate& each, int value) const {
    const bool result = is_result(each, value);
    const std::size_t until = std::max(each.at, each.is.parts.back());
    if (result && values_[value].end <= until) return false;
    return std::ranges::all_of(values_[value].uses, [&](std::size_t use) {
      if (has(each, use)) return true;
      if (!result) return false;
      const Candidate* const by = owner(use);
      return use > each.at || (by != nullptr && by->at > each.at);
    });
  }

  /// True if both accesses are in one checked group and the second can be done at the first, past
  /// the steps in between.
  [[nodiscard]] bool are_together(const Candidate& each) const {
    const std::size_t first = each.is.parts.front();
    const std::size_t second = each.is.parts.back();
    if (groups_[first] < 0 || groups_[first] != groups_[second]) return false;
    const bool stores = each.is.kind == Wide::store;
    for (std::size_t i = first + 1; i <= second; ++i) {
      const isa::Mnemonic m = values_.steps[i].instruction.mnemonic;
      const bool other_access = effects_[i].accesses && i != second;
      if (effects_[i].leaves || effects_[i].cuts) return false;
      if (other_access && (stores || (m >= sb && m <= sw))) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_possible_load(const Candidate& each) const {
    const std::size_t first = each.is.parts.front();
    const std::size_t second = each.is.parts.back();
    if (!are_together(each)) return false;
    const std::uint32_t bit = std::uint32_t{1} << values_.steps[second].instruction.rd;
    for (std::size_t i = first; i < second; ++i) {
      const isa::RegisterSets& sets = values_.steps[i].sets;
      if ((sets.writes_x & bit) != 0 || (i != first && (sets.reads_x & bit) != 0)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_possible_store(const Candidate& each) const {
    if (!are_together(each)) return false;
    const int first = static_cast<int>(each.at);
    const auto there = [&](int value) { return since(value) < first && stays(value, first); };
    return there(each.is.a.low) && there(each.is.a.high);
  }

  static int cost(Wide kind) {
    return kind == Wide::left || kind == Wide::right || kind == Wide::right_signed ||
                   kind == Wide::product_signed
               ? 2
               : 1;
  }

  /// Drops groups of operations that share values and save no instructions together.
  bool drop_useless() {
    constexpr int kPack = 3;
    constexpr int kUnpack = 2;
    std::map<Words, std::size_t> first;  // operation that has the value
    std::vector<std::size_t> roots(all_.size());
    std::iota(roots.begin(), roots.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (roots[i] != i) i = roots[i];
      return i;
    };
    std::map<Words, bool> made;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].alive) continue;
      for (const Words& words : {all_[i].is.to, all_[i].is.a, all_[i].is.b}) {
        if (words.low == 0 || words.high == 0) continue;
        const auto [found, added] = first.try_emplace(words, i);
        if (!added) roots[root(i)] = root(found->second);
        made[words] |= words == all_[i].is.to;
      }
    }
    std::map<std::size_t, int> gains;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].alive)
        gains[root(i)] += static_cast<int>(all_[i].is.parts.size()) - cost(all_[i].is.kind);
    for (const auto& [words, i] : first) {
      if (!made[words])
        gains[root(i)] -= kPack;
      else if (is_read_alone(words.high))
        gains[root(i)] -= kUnpack;
    }
    bool dropped = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].alive || gains[root(i)] > 0) continue;
      drop(all_[i]);
      dropped = true;
    }
    return dropped;
  }

  [[nodiscard]] bool is_read_alone(int value) const {
    return values_[value].end == size_ ||
           std::ranges::any_of(values_[value].uses,
                               [&](std::size_t use) { return owner(use) == nullptr; });
  }

  void add(const Candidate& each, WidePlan& made) {
    const auto registers = [&](const Words& words) {
      return Pair{values_[words.low].x, values_[words.high].x};
    };
    const int number = static_cast<int>(made.operations.size());
    WideOperation operation{each.is.kind,
                            registers(each.is.to),
                            registers(each.is.a),
                            registers(each.is.b),
                            each.is.by,
                            keeps_high(each),
                            {}};
    for (const std::size_t part : each.is.parts) {
      WideStep& step = made.steps[part];
      step.done = true;
      if (part == each.at) step.operation = number;
      step.at = static_cast<int>(each.at);
      step.result = is_result(each, values_.made[part]);
      if (part >= each.at) continue;
      for (std::size_t i = 0; i < 2; ++i) {
        const int from = values_.reads[part][i];
        step.from[i] = maker(from) != nullptr ? values_[from].step : -1;
      }
      step.needed =
          is_result(each, values_.made[part]) ? static_cast<int>(each.at) : last_asked(part);
      if (step.needed > static_cast<int>(each.at))
        keep_operands(each, part, step.needed, made, operation);
    }
    made.operations.push_back(std::move(operation));
  }

  /// The last step at which leaving code needs the part's result.
  [[nodiscard]] int last_asked(std::size_t part) const {
    const std::size_t end = values_[values_.made[part]].end;
    int last = -1;
    for (std::size_t i = part + 1; i < std::min(end + 1, size_); ++i) {
      if (effects_[i].leaves) last = static_cast<int>(i);
      if (values_.steps[i].kind == Kind::choose || values_.steps[i].kind == Kind::loop) break;
    }
    return last;
  }

  /// Keeps those operands of the part in memory that registers do not hold until `end`.
  void keep_operands(const Candidate& each, std::size_t part, int end, WidePlan& made,
                     WideOperation& operation) {
    const bool writes = values_.steps[static_cast<std::size_t>(end)].kind != Kind::straight;
    for (std::size_t i = 0; i < 2; ++i) {
      const int value = values_.reads[part][i];
      const bool inner = maker(value) == &each && !is_result(each, value);
      if (inner)
        keep_operands(each, values_.step_of(value), end, made, operation);
      else if (!stays(value, writes ? end + 1 : end))
        made.steps[part].slots[i] = slot_of(each, value, operation);
    }
  }

  /// The slot that keeps a value; the words of a 64-bit value are kept side by side.
  int slot_of(const Candidate& each, int value, WideOperation& operation) {
    const auto known = slots_.find(value);
    if (known != slots_.end()) return known->second;
    const int slot = next_slot_;
    const bool made = maker(value) == &each;
    for (const Words& words : {each.is.a, each.is.b, each.is.to}) {
      const bool both = words.low > 0 && words.high > 0 && words.low != words.high &&
                        !slots_.contains(words.low) && !slots_.contains(words.high) &&
                        (maker(words.low) == &each) == made && (maker(words.high) == &each) == made;
      if (!both || (value != words.low && value != words.high)) continue;
      operation.kept.push_back({{values_[words.low].x, values_[words.high].x}, slot, made});
      slots_[words.low] = slot;
      slots_[words.high] = slot + 1;
      next_slot_ += 2;
      return slots_[value];
    }
    operation.kept.push_back({{values_[value].x, 0}, slot, made});
    ++next_slot_;
    return slots_[value] = slot;
  }

  [[nodiscard]] bool fits(const WidePlan& made) const {
    if (next_slot_ > static_cast<int>(kMostKept)) return false;
    std::vector<std::size_t> awaited(size_ + 1);
    for (const Candidate& each : all_) {
      if (!each.alive) continue;
      auto last = each.at;
      for (const std::size_t part : each.is.parts)
        last = std::max(last, static_cast<std::size_t>(std::max(made.steps[part].needed, 0)));
      for (std::size_t i = each.is.parts.front(); i <= last; ++i)
        awaited[i] += each.is.parts.size();
    }
    return *std::ranges::max_element(awaited) <= kMostAwaited;
  }

  Values values_;
  std::size_t size_;
  std::map<int, int> slots_;  // by value
  int next_slot_ = 0;
  std::vector<StepEffects> effects_;
  std::vector<int> groups_;  // of each step's access
  std::vector<Candidate> all_;
  std::vector<int> owners_;  // of each step: index into all_
  std::array<std::vector<int>, 32> writes_;
};

}  // namespace

WidePlan plan_wide(std::span<const Step> steps, const AddressPlan& addresses) {
  const bool worth = std::ranges::count_if(steps, [](const Step& step) {
                       const isa::Mnemonic m = step.instruction.mnemonic;
                       return step.kind == Kind::straight &&
                              (m == sltu || m == mulhu || m == mulh || m == srli || m == lw);
                     }) > 1;
  return worth ? Selection(steps, addresses).select() : WidePlan{};
}

}  // namespace tessera::engine::native
