#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

/// One declaration per config field. A struct's `describe(Fields&, Struct&)` names each member with
/// its key, sentence, unit and range; its default is the member's initialiser. Readers, schema,
/// documentation and the resolved config are visitors of that declaration.
namespace tessera::config {

/// Name and meaning of a field.
struct Field {
  std::string_view key;
  std::string_view sentence;   ///< for documentation and schema; without a full stop
  std::string_view unit = {};  ///< "KiB", "cycles", "GHz"; empty for counts and names
  bool required = false;       ///< no default: the config must give it
  /// A key of the same group whose current value leaves this field unused (empty: it is used). Such
  /// a field is refused if set with or after that key, and left out of the resolved config.
  std::string_view unused_with = {};
  std::string_view zero = {};  ///< word for 0 in a number field; its range then excludes 0
};

/// The allowed values of a number, both ends included.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
  std::span<const std::uint64_t> among = {};  ///< allowed integers, ascending; empty: all between
};
/// Only these integers, in ascending order; the list must outlive the range.
constexpr Range<std::uint32_t> one_of(std::span<const std::uint64_t> values) {
  return {static_cast<std::uint32_t>(values.front()), static_cast<std::uint32_t>(values.back()),
          values};
}

/// The names of an enumeration's values as spelled in JSON.
template <class Enum, std::size_t kCount>
using Names = std::array<std::pair<std::string_view, Enum>, kCount>;

/// A value's name; empty if it has none.
template <class Enum, std::size_t kCount>
std::string_view name_of(const Names<Enum, kCount>& names, Enum value) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return {};
}

class Fields;

/// A field's target variable and its allowed values.
template <class Value, class Kind = void>
struct Place {
  Value& value;
};
template <class Value, class Number>
struct Ranged {
  Value& value;
  Range<Number> range;
};
using Flag = Place<bool>;
using Integer = Ranged<std::uint64_t, std::uint64_t>;
using Number = Ranged<double, double>;  ///< NaN: absent
using Text = Place<std::string>;
using File = Place<std::string, struct NamesFile>;
using Integers = Ranged<std::vector<std::uint32_t>, std::uint32_t>;
using Numbers = Place<std::vector<double>>;
using Texts = Place<std::vector<std::string>>;
using AnyObject = Place<nlohmann::ordered_json, struct IsObject>;
using AnyList = Place<nlohmann::ordered_json, struct IsList>;
struct Choice {
  std::string& value;
  std::span<const std::string_view> allowed;
};
struct Group {
  bool* present;  ///< null: it always exists
  std::function<void(Fields&)> members;
};
/// `element` describes element i of `size` structs; `resize` changes their number.
struct List {
  std::size_t size;
  std::function<void(std::size_t)> resize;
  std::function<void(std::size_t, Fields&)> element;
};
using Held = std::variant<Flag, Integer, Number, Text, Choice, File, Integers, Numbers, Texts,
                          AnyObject, AnyList, Group, List>;

class Fields {
 public:
  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  virtual ~Fields() = default;

  void field(const Field& info, bool& value) { visit(info, Flag{value}); }
  void field(const Field& info, std::uint32_t& value, Range<std::uint32_t> range = {}) {
    std::uint64_t wide = value;
    visit(info, Integer{wide, {range.low, range.high, range.among}});
    value = static_cast<std::uint32_t>(wide);
  }
  void field(const Field& info, std::uint64_t& value, Range<std::uint64_t> range = {}) {
    visit(info, Integer{value, range});
  }
  void field(const Field& info, double& value, Range<double> range = {}) {
    visit(info, Number{value, range});
  }
  /// An optional number; it may be absent or null. Visitors see NaN if absent.
  void field(const Field& info, std::optional<double>& value, Range<double> range = {}) {
    double number = value.value_or(std::numeric_limits<double>::quiet_NaN());
    visit(info, Number{number, range});
    value = std::isnan(number) ? std::optional<double>() : number;
  }
  void field(const Field& info, std::string& value) { visit(info, Text{value}); }
  /// A text that must be one of `allowed`.
  void field(const Field& info, std::string& value, std::span<const std::string_view> allowed) {
    visit(info, Choice{value, allowed});
  }
  void field(const Field& info, std::string& value,
             std::initializer_list<std::string_view> allowed) {
    visit(info, Choice{value, {allowed.begin(), allowed.size()}});
  }
  /// An enumeration, given by name.
  template <class Enum, std::size_t kCount>
  void field(const Field& info, Enum& value, const Names<Enum, kCount>& names);
  /// A list of integers, each within `range`.
  void field(const Field& info, std::vector<std::uint32_t>& values,
             Range<std::uint32_t> range = {}) {
    visit(info, Integers{values, range});
  }
  void field(const Field& info, std::vector<double>& values) { visit(info, Numbers{values}); }
  void field(const Field& info, std::vector<std::string>& values) { visit(info, Texts{values}); }
  /// The name of an input file; empty if not given. A relative name counts from the folder of the
  /// config that holds it (from the current folder if set on the command line).
  void file(const Field& info, std::string& path) { visit(info, File{path}); }
  /// An object or list of free form, not described by a struct.
  void any_object(const Field& info, nlohmann::ordered_json& value) {
    visit(info, AnyObject{value});
  }
  void any_list(const Field& info, nlohmann::ordered_json& value) { visit(info, AnyList{value}); }
  /// A struct that has its own `describe`.
  template <class Struct>
  void group(const Field& info, Struct& value) {
    visit(info, Group{nullptr, [&value](Fields& inner) { describe(inner, value); }});
  }
  /// A group that may be left out; `present` tells whether it is given.
  template <class Struct>
  void optional_group(const Field& info, bool& present, Struct& value) {
    visit(info, Group{&present, [&value](Fields& inner) { describe(inner, value); }});
  }
  template <class Struct>
  void optional_group(const Field& info, std::optional<Struct>& value) {
    bool present = value.has_value();
    Struct inner = value.value_or(Struct{});
    optional_group(info, present, inner);
    value = present ? std::optional(std::move(inner)) : std::nullopt;
  }
  /// A list of structs that have their own `describe`; `base` gives keys an element leaves out.
  template <class Struct>
  void list(const Field& info, std::vector<Struct>& values, const Struct& base = {}) {
    visit(info, List{values.size(), [&](std::size_t size) { values.resize(size, base); },
                     [&values](std::size_t i, Fields& inner) { describe(inner, values[i]); }});
  }

  /// True if the config sets `key` together with or after `other` (both relative to this group), so
  /// that it is meant to apply; false if `other` overrides a preset or file that sets `key`.
  [[nodiscard]] virtual bool set_with(std::string_view /*key*/, std::string_view /*other*/) const {
    return false;
  }
  /// True if the config gives `key` of this group; always false unless a config is being read. For
  /// rules between fields and for defaults derived from other keys.
  [[nodiscard]] virtual bool given(std::string_view /*key*/) const { return false; }
  /// Checks a rule between fields of this group when reading; `problem` says what was found and
  /// what is allowed.
  virtual void require(bool /*holds*/, std::string_view /*key*/, const std::string& /*problem*/) {}
  template <class First, class... Args>
  void require(bool holds, std::string_view key, fmt::format_string<First, Args...> problem,
               First&& first, Args&&... args) {
    if (holds) return;
    require(false, key,
            fmt::format(problem, std::forward<First>(first), std::forward<Args>(args)...));
  }
  /// Refuses `key` if it is given but, with the current values of other fields, not `read`. The
  /// resolved config then leaves it out, so that it can be read back.
  void require_read(bool read, std::string_view key, const std::string& problem) {
    if (read) return;
    leave_out(key);
    require(!given(key), key, problem);
  }
  template <class First, class... Args>
  void require_read(bool read, std::string_view key, fmt::format_string<First, Args...> problem,
                    First&& first, Args&&... args) {
    if (read) return;
    require_read(false, key,
                 fmt::format(problem, std::forward<First>(first), std::forward<Args>(args)...));
  }

 protected:
  virtual void leave_out(std::string_view /*key*/) {}
  virtual void visit(const Field& info, const Held& held) = 0;
};

template <class Enum, std::size_t kCount>
void Fields::field(const Field& info, Enum& value, const Names<Enum, kCount>& names) {
  std::array<std::string_view, kCount> allowed;
  for (std::size_t i = 0; i < kCount; ++i) allowed[i] = names[i].first;
  std::string text(name_of(names, value));
  visit(info, Choice{text, allowed});
  for (const auto& [name, named] : names) {
    if (name == text) value = named;
  }
}

/// The members of a struct, as its `describe` names them.
using Members = std::function<void(Fields&)>;

/// Calls `use` with each member; groups and lists are single members. Returns the keys of members
/// that nothing reads (Fields::require_read).
std::vector<std::string> each_member(const Members& members,
                                     const std::function<void(const Field&, const Held&)>& use);

/// Calls `use` with each value that is read, in declaration order, and with its key path below
/// `path`; descends into given groups and list elements.
void each_value(const Members& members, const std::string& path,
                const std::function<void(const std::string& path, const Field&, const Held&)>& use);

/// A field that holds a number, as declared.
struct NumberKey {
  std::string path;
  std::string sentence;
  std::string unit;
  double value = 0;
  bool is_integer = false;
};

/// The numbers that each_value() visits.
std::vector<NumberKey> number_keys(const Members& members, const std::string& path);

}  // namespace tessera::config
