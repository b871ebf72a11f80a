#include "sim/config/json_text.h"

#include <iostream>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/data/read_file.h"

namespace tessera::config {
namespace {

/// Builds the value from the parser's events and refuses errors that the parser allows.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const std::string& file) : file_(file) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") == std::string::npos) {
      throw ConfigError(file_, path(), "integer {} does not fit in 64 bits", text);
    }
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    key_ = name;
    // Notes may repeat.
    if (stack_.back()->contains(name) && !name.starts_with("//")) {
      throw ConfigError(file_, path(), "the key stands twice in the same object");
    }
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last*/,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: what"
    const std::string_view what = error.what();
    const std::size_t bracket = what.find("] ");
    std::string_view rest = bracket == std::string_view::npos ? what : what.substr(bracket + 2);
    constexpr std::string_view kPrefix = "parse error at ";
    if (rest.starts_with(kPrefix)) rest.remove_prefix(kPrefix.size());
    throw UserError("{}: {}", file_, rest);
  }

 private:
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  Json& place(Json value) {
    if (stack_.empty()) return root_ = std::move(value);
    if (stack_.back()->is_array()) return stack_.back()->emplace_back(std::move(value));
    return (*stack_.back())[key_] = std::move(value);
  }
  bool open(Json value) {
    constexpr std::size_t kDeepest = 64;
    if (stack_.size() == kDeepest) {
      throw ConfigError(file_, path(), "nested more than 64 levels deep");
    }
    names_.push_back(key_);
    stack_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    key_ = names_.back();
    names_.pop_back();
    return true;
  }
  [[nodiscard]] std::string path() const {
    std::string text;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      const std::string& name = i + 1 < names_.size() ? names_[i + 1] : key_;
      if (stack_[i]->is_array()) {
        const bool inner = i + 1 < stack_.size();
        text += fmt::format("[{}]", stack_[i]->size() - (inner ? 1 : 0));
      } else {
        text += (text.empty() ? "" : ".") + name;
      }
    }
    return text;
  }

  const std::string& file_;
  Json root_;
  std::vector<Json*> stack_;
  std::vector<std::string> names_;  ///< the key of each open value
  std::string key_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  Builder builder(file);
  Json::sax_parse(text, &builder, nlohmann::detail::input_format_t::json, /*strict=*/true,
                  /*ignore_comments=*/true);
  return builder.take();
}

Json parse_value(std::string_view text, const std::string& origin) {
  try {
    return parse_json(text, origin);
  } catch (const ConfigError&) {
    throw;  // valid JSON that Builder refuses
  } catch (const UserError&) {
    return std::string(text);
  }
}

std::string one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  std::string text = one_line(value);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string_view type_name(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a text";
  if (value.is_boolean()) return "true or false";
  if (value.is_null()) return "null";
  return value.is_number_float() ? "a number" : "an integer";
}

std::string read_text(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  return data::read_file_or_pipe(file);
}

}  // namespace tessera::config
