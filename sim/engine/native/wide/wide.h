#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/native/addresses.h"
#include "sim/engine/native/region.h"

/// Which instructions on two 32-bit words are together one operation on 64 bits: sums with a carry,
/// products, shifts over both words, what is done to both alike. They need not stand side by side.
namespace tessera::engine::native {

constexpr std::int32_t kWordBits = 32;

/// The registers that hold the lower and the upper word; upper 0: a word alone.
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

/// Words kept in memory for code that leaves the region later: words of registers, or one word.
struct Kept {
  Pair words;
  int slot = -1;      ///< slot of the lower word, counted in words
  bool made = false;  ///< by the operation; else they are its operands
};

struct WideOperation {
  Wide kind{};
  Pair to, a, b;
  std::int32_t by = 0;
  bool keeps = false;  ///< the upper word of `to` stays what it is
  std::vector<Kept> kept;
};

/// The outcome for a step, which may be part of an operation.
struct WideStep {
  bool done = false;    ///< it is
  int operation = -1;   ///< done at this step
  int at = -1;          ///< the step at which its operation is done
  bool result = false;  ///< its value is a word of the operation's result
  /// Whoever leaves up to this step takes along what it makes; -1: nobody does.
  int needed = -1;
  std::array<int, 2> from{-1, -1};   ///< steps of operations that make its operands; -1: others
  std::array<int, 2> slots{-1, -1};  ///< where these are kept; -1: registers hold them
};

struct WidePlan {
  std::vector<WideOperation> operations;
  std::vector<WideStep> steps;  ///< empty: there are no operations
  std::vector<bool> leaves;     ///< by step: control may leave there
};

constexpr std::size_t kMostKept = 40;     ///< words kept in memory
constexpr std::size_t kMostAwaited = 62;  ///< results that whoever leaves may have to make

/// Plans wide operations for steps that run one after the other, with their planned addresses.
WidePlan plan_wide(std::span<const Step> steps, const AddressPlan& addresses);

}  // namespace tessera::engine::native
