#include "sim/sweep/expression.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/config/nearest.h"

namespace tessera::sweep {
namespace {

using Node = Expression::Node;

struct Infix {
  std::string_view spelled;
  std::string_view name;
  int binding;  ///< higher binds tighter
};
// Longer spellings first, so that <= is not read as <.
constexpr std::array<Infix, 15> kInfixes = {{{"or", "or", 1},
                                             {"||", "or", 1},
                                             {"and", "and", 2},
                                             {"&&", "and", 2},
                                             {"==", "==", 3},
                                             {"!=", "!=", 3},
                                             {"<=", "<=", 3},
                                             {">=", ">=", 3},
                                             {"<", "<", 3},
                                             {">", ">", 3},
                                             {"+", "+", 4},
                                             {"-", "-", 4},
                                             {"*", "*", 5},
                                             {"/", "/", 5},
                                             {"%", "%", 5}}};
constexpr int kComparison = 3;
constexpr int kTightest = 6;
constexpr int kDeepest = 100;
constexpr int kMostOperators = 1000;  // each adds a level to the tree's depth

struct Function {
  std::string_view name;
  std::size_t arguments;
};
constexpr std::array<Function, 5> kFunctions = {
    {{"min", 2}, {"max", 2}, {"log2", 1}, {"floor", 1}, {"ceil", 1}}};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Recursive descent by binding strength.
class Parser {
 public:
  Parser(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  Node whole() {
    Node node = infix(1, 0);
    skip_spaces();
    if (at_ != text_.size()) wrong("an operator or the end");
    return node;
  }

 private:
  [[noreturn]] void wrong(const std::string& allowed) const {
    const std::string_view rest = text_.substr(at_);
    const std::string found =
        rest.empty() ? "the end" : std::string(rest.substr(0, rest.find_first_of(" \t")));
    constexpr std::size_t kLongest = 1000;
    throw UserError("{}: {}{}: position {}: found {}, allowed {}", origin_,
                    text_.substr(0, kLongest), text_.size() > kLongest ? "..." : "", at_ + 1, found,
                    allowed);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Consumes `spelled` if it comes next, as a whole word if it is a word.
  bool take(std::string_view spelled) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(spelled)) return false;
    const std::size_t end = at_ + spelled.size();
    if (in_word(spelled.front()) && end < text_.size() && in_word(text_[end])) return false;
    at_ = end;
    return true;
  }

  Node infix(int least, int depth) {
    if (depth > kDeepest) wrong(fmt::format("at most {} levels", kDeepest));
    Node left = prefix(depth);
    for (const Infix* found = nullptr; (found = next_infix(least)) != nullptr;) {
      Node right = infix(found->binding + 1, depth + 1);
      const bool chain = found->binding == kComparison && next_is_comparison();
      if (chain) wrong("and between comparisons");
      if (++operators_ > kMostOperators) wrong(fmt::format("at most {} operators", kMostOperators));
      std::vector<Node> sides;  // an initializer list would copy the whole left side
      sides.push_back(std::move(left));
      sides.push_back(std::move(right));
      left = call(std::string(found->name), std::move(sides));
    }
    return left;
  }

  const Infix* next_infix(int least) {
    for (const Infix& each : kInfixes) {
      const std::size_t before = at_;
      if (!take(each.spelled)) continue;
      if (each.binding >= least) return &each;
      at_ = before;
      return nullptr;
    }
    return nullptr;
  }

  bool next_is_comparison() {
    const std::size_t before = at_;
    const Infix* const next = next_infix(kComparison);
    const bool comparison = next != nullptr && next->binding == kComparison;
    at_ = comparison ? at_ - next->spelled.size() : before;
    return comparison;
  }

  Node prefix(int depth) {
    if (take("not")) return call("not", {infix(kComparison, depth + 1)});
    if (take("!")) return call("not", {infix(kTightest, depth + 1)});
    if (take("-")) return call("negative", {infix(kTightest, depth + 1)});
    if (take("(")) {
      Node inner = infix(1, depth + 1);
      if (!take(")")) wrong(")");
      return inner;
    }
    skip_spaces();
    if (at_ == text_.size()) wrong("a number, a text, a key path or (");
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return number();
    if (!in_word(c)) wrong("a number, a text, a key path or (");
    return word(depth);
  }

  Node quoted(char mark) {
    const std::size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) wrong(fmt::format("a text that ends with {}", mark));
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return literal(std::string(inner));
  }

  Node number() {
    double value = 0;
    const char* const end_of_text = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(text_.data() + at_, end_of_text, value);
    if (error != std::errc() || (end != end_of_text && in_word(*end))) wrong("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    const bool integer = value == std::floor(value) && value < 1e15;
    return literal(integer ? config::Json(static_cast<std::int64_t>(value)) : config::Json(value));
  }

  Node word(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (in_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '[' || text_[at_] == ']')) {
      ++at_;
    }
    const std::string name(text_.substr(begin, at_ - begin));
    if (name == "true" || name == "false") return literal(name == "true");
    if (!take("(")) {
      Node node;
      node.kind = Node::Kind::path;
      node.name = name;
      return node;
    }
    return function(name, begin, depth);
  }

  Node function(const std::string& name, std::size_t begin, int depth) {
    std::vector<std::string_view> names;
    std::optional<std::size_t> count;
    for (const Function& each : kFunctions) {
      names.push_back(each.name);
      if (each.name == name) count = each.arguments;
    }
    if (!count) {
      at_ = begin;
      wrong(fmt::format("the functions {}", config::names_near(name, names)));
    }
    std::vector<Node> arguments;
    do {
      arguments.push_back(infix(1, depth + 1));
    } while (arguments.size() < *count && take(","));
    if (arguments.size() != *count || !take(")")) {
      wrong(fmt::format("{} arguments of {}", *count, name));
    }
    return call(name, std::move(arguments));
  }

  static Node literal(config::Json value) {
    Node node;
    node.value = std::move(value);
    return node;
  }
  static Node call(std::string name, std::vector<Node> arguments) {
    Node node;
    node.kind = Node::Kind::call;
    node.name = std::move(name);
    node.arguments = std::move(arguments);
    return node;
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0;
  int operators_ = 0;
};

}  // namespace

Expression::Expression(std::string_view text, std::string origin)
    : text_(text), origin_(std::move(origin)), root_(Parser(text_, origin_).whole()) {}

}  // namespace tessera::sweep
