#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_text.h"

namespace tessera::sweep {

/// A condition over a config, such as `workload.m <= 4 * machine.tiles`, or a number, such as
/// `time.cycles / workload.n`: numbers, "texts", true, false, key paths; + - * / %, comparisons,
/// and, or, not (also && || !), parentheses, and the functions min, max, log2, floor, ceil. Numbers
/// are doubles.
class Expression {
 public:
  /// Throws UserError that starts with `origin` and shows where the text is wrong.
  Expression(std::string_view text, std::string origin);

  /// Evaluates the condition for a resolved config. Throws UserError for a path that the config
  /// does not have (with the nearest name) and for operands of the wrong type.
  [[nodiscard]] bool holds(const config::Json& config) const;

  /// Returns the value at a key path. Throws UserError if there is none.
  using Lookup = std::function<config::Json(const std::string& path)>;
  /// Evaluates the number; `at` gives the values of paths. Throws UserError.
  [[nodiscard]] double number(const Lookup& at) const;

  /// All key paths in it, from left to right.
  [[nodiscard]] std::vector<std::string> paths() const;

  /// An operand, or an operator or function with its arguments.
  struct Node {  // NOLINT(bugprone-exception-escape): moving JSON does not throw
    enum class Kind { literal, path, call } kind = Kind::literal;
    std::string name;             ///< path, operator or function
    config::Json value;           ///< value of a literal
    std::vector<Node> arguments;  ///< arguments of a call
  };
  [[nodiscard]] const Node& root() const { return root_; }

 private:
  std::string text_, origin_;
  Node root_;
};

}  // namespace tessera::sweep
