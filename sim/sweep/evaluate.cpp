#include <cmath>

#include "sim/base/errors.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/sweep/expression.h"

namespace tessera::sweep {
namespace {

using config::Json;
using config::shown;
using Node = Expression::Node;

const Json& member(const Json& at, const std::string& key, const std::string& path) {
  if (!at.is_object()) throw UserError("{}: {} has no keys", path, shown(at));
  const auto found = at.find(key);
  if (found != at.end()) return *found;
  std::vector<std::string> known;
  for (const auto& [name, value] : at.items()) known.push_back(name);
  throw UserError("{}: found an unknown key, allowed {}", path, config::names_near(key, known));
}

template <class Element>
const Json& member(const Json& at, const Element& element, const std::string& path) {
  return at[config::element_of(at, element, path.substr(0, path.rfind('[')))];
}

const Json& value_at(const Json& config, const std::string& path) {
  const Json* at = &config;
  std::string done;
  for (const config::Step& step : config::parse_key_path(path)) {
    std::visit(
        [&](const auto& part) {
          done = config::join(done, part);
          at = &member(*at, part, done);
        },
        step);
  }
  return *at;
}

double as_number(const Json& value, const std::string& user) {
  if (value.is_number()) return value.get<double>();
  throw UserError("{}: found {}, allowed a number", user, shown(value));
}

bool as_truth(const Json& value, const std::string& user) {
  if (value.is_boolean()) return value.get<bool>();
  throw UserError("{}: found {}, allowed true or false", user, shown(value));
}

bool equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() == b.get<double>();
  const bool comparable = a.type() == b.type() && (a.is_string() || a.is_boolean());
  if (comparable) return a == b;
  throw UserError("{} and {} cannot be compared", shown(a), shown(b));
}

Json arithmetic(const std::string& name, double a, double b) {
  if (name == "+") return a + b;
  if (name == "-") return a - b;
  if (name == "*") return a * b;
  if (name == "/" || name == "%") {
    if (b == 0) throw UserError("{}: division by zero", name);
    return name == "/" ? a / b : std::fmod(a, b);
  }
  if (name == "<") return a < b;
  if (name == "<=") return a <= b;
  if (name == ">") return a > b;
  if (name == ">=") return a >= b;
  if (name == "min") return std::min(a, b);
  check(name == "max", "sweep: {} has no meaning", name);
  return std::max(a, b);
}

Json evaluate(const Node& node, const Expression::Lookup& at);

Json evaluate_one(const std::string& name, const Json& value) {
  if (name == "not") return !as_truth(value, name);
  const double number = as_number(value, name == "negative" ? "-" : name);
  if (name == "negative") return -number;
  if (name == "floor") return std::floor(number);
  if (name == "ceil") return std::ceil(number);
  if (number <= 0) throw UserError("log2: found {}, allowed above 0", number);
  return std::log2(number);
}

Json evaluate_call(const Node& node, const Expression::Lookup& at) {
  const Json left = evaluate(node.arguments.front(), at);
  if (node.arguments.size() == 1) return evaluate_one(node.name, left);
  if (node.name == "and" || node.name == "or") {
    const bool decided = as_truth(left, node.name) == (node.name == "or");
    return decided ? left : Json(as_truth(evaluate(node.arguments[1], at), node.name));
  }
  const Json right = evaluate(node.arguments[1], at);
  if (node.name == "==") return equal(left, right);
  if (node.name == "!=") return !equal(left, right);
  return arithmetic(node.name, as_number(left, node.name), as_number(right, node.name));
}

Json evaluate(const Node& node, const Expression::Lookup& at) {
  switch (node.kind) {
    case Node::Kind::literal:
      return node.value;
    case Node::Kind::path:
      return at(node.name);
    case Node::Kind::call:
      break;
  }
  return evaluate_call(node, at);
}

void collect_paths(const Node& node, std::vector<std::string>& paths) {
  if (node.kind == Node::Kind::path) paths.push_back(node.name);
  for (const Node& argument : node.arguments) collect_paths(argument, paths);
}

}  // namespace

bool Expression::holds(const config::Json& config) const {
  try {
    const auto at = [&](const std::string& path) { return value_at(config, path); };
    return as_truth(evaluate(root_, at), "the condition");
  } catch (const UserError& error) {
    throw UserError("{}: {}: {}", origin_, text_, error.what());
  }
}

double Expression::number(const Lookup& at) const {
  try {
    return as_number(evaluate(root_, at), "the whole");
  } catch (const UserError& error) {
    throw UserError("{}: {}: {}", origin_, text_, error.what());
  }
}

std::vector<std::string> Expression::paths() const {
  std::vector<std::string> paths;
  collect_paths(root_, paths);
  return paths;
}

}  // namespace tessera::sweep
