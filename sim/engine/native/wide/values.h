#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/native/wide/wide.h"

/// The values that x registers hold in turn, and the 64-bit operations that make them.
namespace tessera::engine::native {

/// A register's value from the step that makes it until a step overwrites the register.
struct Value {
  int step = -1;  ///< step that makes it; -1: none, it was there before
  std::uint8_t x = 0;
  std::size_t end = 0;            ///< the step that overwrites it, or the number of steps
  std::vector<std::size_t> uses;  ///< steps that read it
};

struct Values {
  explicit Values(std::span<const Step> steps);

  std::span<const Step> steps;
  std::vector<Value> all;                 ///< the first one is x0's
  std::vector<std::array<int, 2>> reads;  ///< by step: values of rs1 and rs2
  std::vector<int> made;                  ///< by step: number of rd's value; -1: none

  /// The integer instruction or word load that makes the value; null: something else does.
  [[nodiscard]] const isa::Instruction* maker(int value) const;
  [[nodiscard]] bool is_made(int value, isa::Mnemonic by) const;
  [[nodiscard]] const std::array<int, 2>& operands(int value) const {
    return reads[static_cast<std::size_t>(all[static_cast<std::size_t>(value)].step)];
  }
  [[nodiscard]] const Value& operator[](int value) const {
    return all[static_cast<std::size_t>(value)];
  }
  [[nodiscard]] bool is_read_once(int value) const { return (*this)[value].uses.size() == 1; }
  /// The value that the step makes by instruction `by`; 0: none.
  [[nodiscard]] int made_by(std::size_t step, isa::Mnemonic by) const {
    return made[step] > 0 && is_made(made[step], by) ? made[step] : 0;
  }
  [[nodiscard]] std::size_t step_of(int value) const {
    return static_cast<std::size_t>((*this)[value].step);
  }
  /// The other of the step's two operands.
  [[nodiscard]] int other(std::size_t step, int value) const {
    return reads[step][0] == value ? reads[step][1] : reads[step][0];
  }
  /// The distance between the addresses of two loads or stores relative to the same value; else 0.
  [[nodiscard]] std::int32_t distance(std::size_t first, std::size_t second) const {
    if (reads[first][0] != reads[second][0]) return 0;
    return steps[second].instruction.imm - steps[first].instruction.imm;
  }
};

/// Numbers of two values: the lower and the upper word.
struct Words {
  int low = 0, high = 0;
  auto operator<=>(const Words&) const = default;
};

/// Pairs of values that are the words of one 64-bit value.
class Pairs {
 public:
  explicit Pairs(const Values& values) : values_(values) {}

  void add(const Words& words);  ///< unless the lower word is paired already
  /// Forgets all pairs, but remembers which registers were paired.
  void forget();
  [[nodiscard]] bool has_low(int low) const { return high_of_.contains(low); }
  [[nodiscard]] bool has(int value) const { return has_low(value) || low_of_.contains(value); }
  [[nodiscard]] bool are(const Words& words) const;
  [[nodiscard]] int high_of(int low) const { return find(high_of_, low); }  ///< 0: none
  [[nodiscard]] int low_of(int high) const { return find(low_of_, high); }
  /// Score for the two words being one value; negative: evidence against it.
  [[nodiscard]] int likeness(const Words& words) const;
  /// True if likeness is higher with the upper words exchanged.
  [[nodiscard]] bool are_swapped(const std::array<int, 2>& lows,
                                 const std::array<int, 2>& highs) const;

 private:
  static int find(const std::map<int, int>& in, int value) {
    const auto found = in.find(value);
    return found == in.end() ? 0 : found->second;
  }

  const Values& values_;
  std::map<int, int> high_of_, low_of_;
  std::set<std::pair<std::uint8_t, std::uint8_t>> registers_;
};

struct FoundOperation {
  Wide kind{};
  Words to, a, b;
  std::int32_t by = 0;
  std::vector<std::size_t> parts;  ///< steps
};

/// True for integer arithmetic, where control never leaves.
bool is_arithmetic(const Step& step);

constexpr std::int32_t kWordBytes = 4;

// sums.cpp: the operation whose carry, borrow or upper product word the step makes
std::optional<FoundOperation> product_at(const Values& values, const Pairs& known,
                                         std::size_t step);
std::optional<FoundOperation> sum_at(const Values& values, const Pairs& known, std::size_t step);
std::optional<FoundOperation> difference_at(const Values& values, const Pairs& known,
                                            std::size_t step);

/// All candidate operations, in any order; one step may be part of several.
std::vector<FoundOperation> find_operations(const Values& values);

}  // namespace tessera::engine::native
