#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/fields.h"
#include "sim/config/layers.h"

/// Reads fields from a config: unknown keys, wrong types and values out of range throw ConfigError.
namespace tessera::config {

class Reader : public Fields {
 public:
  /// Reads from `values`, which stands at key path `path` of the config.
  Reader(const Layers& layers, const Json& values, std::string path)
      : layers_(layers), values_(&values), path_(std::move(path)) {}

  /// Reads all fields of `value`, after refusing unknown keys. `also` lists keys of this object
  /// that are read elsewhere.
  template <class Struct>
  void read(Struct& value, const std::vector<std::string>& also = {}) {
    read_members([&value](Fields& fields) { describe(fields, value); }, also);
  }
  void read_members(const Members& members, const std::vector<std::string>& also = {});

  [[nodiscard]] bool given(std::string_view key) const override { return value_at(key) != nullptr; }
  [[nodiscard]] bool set_with(std::string_view key, std::string_view other) const override;
  void require(bool holds, std::string_view key, const std::string& problem) override;

 protected:
  void visit(const Field& info, const Held& held) override {
    std::visit([&](const auto& kind) { take(info, kind); }, held);
  }

 private:
  using Is = bool (Json::*)() const noexcept;
  void take(const Field& info, const Flag& flag);
  void take(const Field& info, const Integer& integer);
  void take(const Field& info, const Number& number);
  void take(const Field& info, const Text& text);
  void take(const Field& info, const Choice& choice);
  void take(const Field& info, const File& file);
  void take(const Field& info, const Integers& integers);
  void take(const Field& info, const Numbers& numbers);
  void take(const Field& info, const Texts& texts);
  void take(const Field& info, const AnyObject& object);
  void take(const Field& info, const AnyList& list);
  void take(const Field& info, const Group& group);
  void take(const Field& info, const List& list);

  /// The value given for a key; null cancels values of lower layers and counts as not given.
  [[nodiscard]] const Json* value_at(std::string_view key) const;
  /// The field's value, or null if it is not given. Throws if it is required, or given but unused.
  const Json* find(const Field& info, const std::string& allowed);
  /// Also throws if the value has another type.
  const Json* find(const Field& info, const std::string& allowed, Is is);
  /// Calls `use` with the path and value of each element of a list, if one is given.
  template <class Use>
  void each_element(const Field& info, const char* allowed, const Use& use);
  /// Throws if the field is set although the current value of another key leaves it unused.
  void require_read(const Field& info, const Json& found);
  void refuse_unknown(const std::vector<std::string>& known) const;
  [[noreturn]] void wrong(const std::string& path, const Json& found,
                          const std::string& allowed) const;
  std::uint64_t integer(const std::string& path, const Json& value, Range<std::uint64_t> range,
                        std::string_view unit) const;

  const Layers& layers_;
  const Json* values_;
  std::string path_;
};

}  // namespace tessera::config
