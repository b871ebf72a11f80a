#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/quantity.h"
#include "sim/sweep/expression.h"

namespace tessera::plot {
namespace {

using sweep::Expression;
using Node = Expression::Node;

bool is_infix(const Node& node) {
  return node.arguments.size() == 2 && std::ispunct(static_cast<unsigned char>(node.name[0])) != 0;
}

bool is_product(const Node& node) {
  return is_infix(node) && (node.name == "*" || node.name == "/" || node.name == "%");
}

std::string label(const Node& node) {
  if (node.kind == Node::Kind::literal) return config::shown(node.value);
  if (node.kind == Node::Kind::path) return quantity_of(node.name, 0).label;
  if (!is_infix(node)) {
    std::string inner;
    for (const Node& each : node.arguments) inner += (inner.empty() ? "" : ", ") + label(each);
    return fmt::format("{}({})", node.name == "negative" ? "-" : node.name, inner);
  }
  const auto part = [&](const Node& inner, bool right) {
    const bool apart = is_infix(inner) && is_product(node) && (right || !is_product(inner));
    return apart ? fmt::format("({})", label(inner)) : label(inner);
  };
  return fmt::format("{} {} {}", part(node.arguments[0], false), node.name,
                     part(node.arguments[1], true));
}

Unit unit(const Node& node) {
  if (node.kind == Node::Kind::literal) return {};
  if (node.kind == Node::Kind::path) return unit_of(node.name);
  if (node.name == "log2" || node.name == "%") return {};
  Unit left = unit(node.arguments.front());
  if (!is_product(node)) return left;
  Unit right = unit(node.arguments[1]);
  if (right.text.empty()) return left;
  if (node.name == "/" && left.text == right.text) return {};
  const char* const between = node.name == "*" && !left.text.empty() ? "·" : "/";
  if (node.name == "*" && left.text.empty()) return right;
  return {left.text + between + right.text, left.prefixed};
}

/// 1: more is better; -1: less is better; 0: neither.
int sense(const Node& node) {
  if (node.kind == Node::Kind::literal) return 0;
  if (node.kind == Node::Kind::path) {
    if (more_is_better(node.name)) return 1;
    const auto in = [&](const char* section) { return node.name.starts_with(section); };
    const bool cost =
        in("time.") || in("energy.") || in("memory.") || in("traffic.") || in("prediction.");
    return cost ? -1 : 0;
  }
  const int left = sense(node.arguments.front());
  if (node.name == "negative") return -left;
  if (left != 0 || node.arguments.size() == 1) return left;
  const int right = sense(node.arguments[1]);
  return node.name == "/" || node.name == "-" ? -right : right;
}

Expression parsed(const std::string& text) { return {text, "tessera plot"}; }

}  // namespace

bool is_derived(const std::string& text) {
  return !std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']';
  });
}

void derive(Rows& rows, const std::string& text, const std::string& option) {
  const Expression expression(text, rows.origin + ": " + option);
  const std::vector<std::string> paths = expression.paths();
  for (const std::string& path : paths) require_path(rows, path, option, false);
  for (Row& row : rows.rows) {
    const bool whole = std::ranges::all_of(
        paths, [&](const std::string& path) { return find(row, path) != nullptr; });
    if (!whole) continue;
    row.axes[text] = expression.number([&](const std::string& path) { return *find(row, path); });
  }
}

std::string label_of_derived(const std::string& text) { return label(parsed(text).root()); }

Unit unit_of_derived(const std::string& text) { return unit(parsed(text).root()); }

bool derived_more_is_better(const std::string& text) { return sense(parsed(text).root()) > 0; }

}  // namespace tessera::plot
