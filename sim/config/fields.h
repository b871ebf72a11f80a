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
#include <vector>

/// One declaration per config field. A struct's `describe(Fields&, Struct&)` names each member with
/// its key, sentence, unit and range; its default is the member's own initialiser. Readers, schema,
/// documentation and the resolved config are all visitors of that one declaration.
namespace tessera::config {

/// Name and meaning of a field.
struct Field {
  std::string_view key;
  std::string_view sentence;   ///< for documentation and schema; without a full stop
  std::string_view unit = {};  ///< "KiB", "cycles", "GHz"; empty for counts and names
  bool required = false;       ///< no default: the config must give it
  /// The key beside it because of which nothing reads this one, as things stand: it is refused
  /// where it is set with or after that key, and left out of the resolved config.
  std::string_view unused_with = {};
  std::string_view zero = {};  ///< of a number: a word that stands for 0, which is no value else
};

/// The allowed values of a number, both ends included.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
  std::span<const std::uint64_t> among = {};  ///< of an integer: only these; empty: all between
};
/// Only these integers, in rising order; the list outlives the range.
constexpr Range<std::uint32_t> one_of(std::span<const std::uint64_t> values) {
  return {static_cast<std::uint32_t>(values.front()), static_cast<std::uint32_t>(values.back()),
          values};
}

/// The names of an enumeration's values, as they are spelled in JSON.
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

class Fields {
 public:
  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  virtual ~Fields() = default;

  void field(const Field& info, bool& value) { visit_flag(info, value); }
  void field(const Field& info, std::uint32_t& value, Range<std::uint32_t> range = {}) {
    std::uint64_t wide = value;
    visit_integer(info, wide, {range.low, range.high, range.among});
    value = static_cast<std::uint32_t>(wide);
  }
  void field(const Field& info, std::uint64_t& value, Range<std::uint64_t> range = {}) {
    visit_integer(info, value, range);
  }
  void field(const Field& info, double& value, Range<double> range = {}) {
    visit_number(info, value, range);
  }
  /// A number that may be absent or null. Visitors see an absent one as NaN.
  void field(const Field& info, std::optional<double>& value, Range<double> range = {}) {
    double number = value.value_or(std::numeric_limits<double>::quiet_NaN());
    visit_number(info, number, range);
    value = std::isnan(number) ? std::optional<double>() : number;
  }
  void field(const Field& info, std::string& value) { visit_text(info, value); }
  /// A text out of `allowed`.
  void field(const Field& info, std::string& value, std::span<const std::string_view> allowed) {
    visit_choice(info, value, allowed);
  }
  void field(const Field& info, std::string& value,
             std::initializer_list<std::string_view> allowed) {
    visit_choice(info, value, {allowed.begin(), allowed.size()});
  }
  /// An enumeration by its names.
  template <class Enum, std::size_t kCount>
  void field(const Field& info, Enum& value, const Names<Enum, kCount>& names);
  /// A list of integers, each within `range`.
  void field(const Field& info, std::vector<std::uint32_t>& values,
             Range<std::uint32_t> range = {}) {
    visit_integers(info, values, range);
  }
  /// The name of an input file; empty when not given. A relative name counts from the folder of the
  /// config that holds it (from the current folder when set on the command line).
  void file(const Field& info, std::string& path) { visit_file(info, path); }
  /// A struct that has its own `describe`.
  template <class Struct>
  void group(const Field& info, Struct& value) {
    visit_group(info, nullptr, [&value](Fields& inner) { describe(inner, value); });
  }
  /// Declares a group that may be left out; `present` says whether it is given.
  template <class Struct>
  void optional_group(const Field& info, bool& present, Struct& value) {
    visit_group(info, &present, [&value](Fields& inner) { describe(inner, value); });
  }
  template <class Struct>
  void optional_group(const Field& info, std::optional<Struct>& value) {
    bool present = value.has_value();
    Struct inner = value.value_or(Struct{});
    optional_group(info, present, inner);
    value = present ? std::optional(std::move(inner)) : std::nullopt;
  }
  /// A list of structs that have their own `describe`; what an element leaves out is as in `base`.
  template <class Struct>
  void list(const Field& info, std::vector<Struct>& values, const Struct& base = {}) {
    visit_list(
        info, values.size(), [&](std::size_t size) { values.resize(size, base); },
        [&values](std::size_t i, Fields& inner) { describe(inner, values[i]); });
  }
  /// True if the config sets `key` together with or after `other` (both below this group), so that
  /// it was meant: not if `other` was laid over a preset or a file that has `key`.
  [[nodiscard]] virtual bool set_with(std::string_view /*key*/, std::string_view /*other*/) const {
    return false;
  }
  /// True if the config gives `key` of this group; never, unless it is being read. For rules
  /// between fields and for values that follow from other keys.
  [[nodiscard]] virtual bool given(std::string_view /*key*/) const { return false; }
  /// A rule between fields of this group, checked when reading; `problem` says what was found and
  /// what is allowed.
  virtual void require(bool /*holds*/, std::string_view /*key*/, const std::string& /*problem*/) {}

 protected:
  using Members = std::function<void(Fields&)>;
  using Resize = std::function<void(std::size_t)>;
  using Element = std::function<void(std::size_t, Fields&)>;
  virtual void visit_flag(const Field& info, bool& value) = 0;
  virtual void visit_integer(const Field& info, std::uint64_t& value,
                             Range<std::uint64_t> range) = 0;
  virtual void visit_number(const Field& info, double& value, Range<double> range) = 0;
  virtual void visit_text(const Field& info, std::string& value) = 0;
  virtual void visit_choice(const Field& info, std::string& value,
                            std::span<const std::string_view> allowed) = 0;
  virtual void visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                              Range<std::uint32_t> range) = 0;
  virtual void visit_file(const Field& info, std::string& path) = 0;
  /// `present` is null for a group that always exists.
  virtual void visit_group(const Field& info, bool* present, const Members& members) = 0;
  /// `element` describes the i-th of `size` structs, of which `resize` makes others.
  virtual void visit_list(const Field& info, std::size_t size, const Resize& resize,
                          const Element& element) = 0;
};

template <class Enum, std::size_t kCount>
void Fields::field(const Field& info, Enum& value, const Names<Enum, kCount>& names) {
  std::array<std::string_view, kCount> allowed;
  for (std::size_t i = 0; i < kCount; ++i) allowed[i] = names[i].first;
  std::string text(name_of(names, value));
  visit_choice(info, text, allowed);
  for (const auto& [name, named] : names) {
    if (name == text) value = named;
  }
}

}  // namespace tessera::config
