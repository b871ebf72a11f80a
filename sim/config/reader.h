#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.h"
#include "sim/config/fields.h"
#include "sim/config/layers.h"

/// Reads fields from a config: unknown keys, wrong types and values out of range are ConfigErrors.
namespace tessera::config {

class Reader : public Fields {
 public:
  /// Reads from `values`, which stand at key path `path` of the config. `known` names further keys
  /// of the outermost object that others read.
  Reader(const Layers& layers, const Json& values, std::string path)
      : layers_(layers), values_(&values), path_(std::move(path)) {}

  /// Reads all fields of `value`; first refuses keys that it does not have. `also` are keys of this
  /// object that somebody else reads.
  template <class Struct>
  void read(Struct& value, const std::vector<std::string>& also = {}) {
    read_members([&value](Fields& fields) { describe(fields, value); }, also);
  }
  void read_members(const Members& members, const std::vector<std::string>& also = {});
  using Fields::Members;

  [[nodiscard]] bool given(std::string_view key) const override { return value_at(key) != nullptr; }
  [[nodiscard]] bool set_with(std::string_view key, std::string_view other) const override;
  void require(bool holds, std::string_view key, const std::string& problem) override;

 protected:
  void visit_flag(const Field& info, bool& value) override;
  void visit_integer(const Field& info, std::uint64_t& value, Range<std::uint64_t> range) override;
  void visit_number(const Field& info, double& value, Range<double> range) override;
  void visit_text(const Field& info, std::string& value) override;
  void visit_choice(const Field& info, std::string& value,
                    std::span<const std::string_view> allowed) override;
  void visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                      Range<std::uint32_t> range) override;
  void visit_file(const Field& info, std::string& path) override;
  void visit_group(const Field& info, bool* present, const Members& members) override;
  void visit_list(const Field& info, std::size_t size, const Resize& resize,
                  const Element& element) override;

 private:
  /// Value given for a key. A null takes back the value of the layers below.
  [[nodiscard]] const Json* value_at(std::string_view key) const;
  /// The value of the field, or null if it is not given. Throws if it is required, or if nothing
  /// reads it and it was meant.
  const Json* find(const Field& info, const std::string& allowed);
  /// Throws if nothing reads the field and it was meant.
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
