#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/native/addresses.h"
#include "sim/engine/native/region.h"

/// Finds instructions on 32-bit words that form one 64-bit operation: sums with a carry, products,
/// shifts over both words, the same operation on both words. They need not be adjacent.
namespace tessera::engine::native {

constexpr std::int32_t kWordBits = 32;

/// The registers that hold the lower and the upper word; upper 0: a single word.
struct Pair {
  std::uint8_t low = 0, high = 0;
};

enum class Wide : std::uint8_t {
  add,
  subtract,
  bit_and,
  bit_or,
  bit_xor,
  invert,
  left,
  right,
  right_signed,
  rotate,  ///< to the right
  product,
  product_signed,
  multiply,
  move,
  load,
  store
};

/// Two words, or one, kept in memory for code that leaves the region later.
struct Kept {
  Pair words;
  int slot = -1;      ///< slot of the lower word, counted in words
  bool made = false;  ///< results of the operation; else its operands
};

struct WideOperation {
  Wide kind{};
  Pair to, a, b;
  std::int32_t by = 0;
  bool keeps = false;  ///< the upper word of `to` does not change
  std::vector<Kept> kept;
};

/// The plan for a step.
struct WideStep {
  bool done = false;    ///< it is part of an operation
  int operation = -1;   ///< operation done at this step; -1: none
  int at = -1;          ///< the step at which its operation is done
  bool result = false;  ///< its value is a word of the operation's result
  /// Last step at which code that leaves needs this step's result; -1: none.
  int needed = -1;
  std::array<int, 2> from{-1, -1};   ///< steps that make its operands, in operations; -1: others
  std::array<int, 2> slots{-1, -1};  ///< slots that keep its operands; -1: registers hold them
};

struct WidePlan {
  std::vector<WideOperation> operations;
  std::vector<WideStep> steps;  ///< empty: there are no operations
  std::vector<bool> leaves;     ///< by step: control may leave there
};

constexpr std::size_t kMostKept = 40;     ///< words kept in memory
constexpr std::size_t kMostAwaited = 62;  ///< results that leaving code may have to compute

/// Plans wide operations for consecutive steps with these planned addresses.
WidePlan plan_wide(std::span<const Step> steps, const AddressPlan& addresses);

}  // namespace tessera::engine::native
