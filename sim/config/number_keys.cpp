#include "sim/config/number_keys.h"

#include "sim/config/key_path.h"

namespace tessera::config {
namespace {

/// Collects numbers and passes over everything else.
class NumberCollector : public Fields {
 public:
  NumberCollector(std::string path, std::vector<NumberKey>& found)
      : path_(std::move(path)), found_(found) {}

 protected:
  void visit_flag(const Field& /*info*/, bool& /*value*/) override {}
  void visit_integer(const Field& info, std::uint64_t& value,
                     Range<std::uint64_t> /*range*/) override {
    add(info, static_cast<double>(value), true);
  }
  void visit_number(const Field& info, double& value, Range<double> /*range*/) override {
    const bool is_number = !std::isnan(value) && (value != 0 || info.zero.empty());
    if (is_number) add(info, value, false);
  }
  void visit_text(const Field& /*info*/, std::string& /*value*/) override {}
  void visit_choice(const Field& /*info*/, std::string& /*value*/,
                    std::span<const std::string_view> /*allowed*/) override {}
  void visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                      Range<std::uint32_t> /*range*/) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      add(info, values[i], true);
      found_.back().path = join(found_.back().path, i);
    }
  }
  void visit_file(const Field& /*info*/, std::string& /*path*/) override {}
  void visit_group(const Field& info, bool* present, const Members& members) override {
    if ((present != nullptr && !*present) || !info.unused_with.empty()) return;
    NumberCollector inner(join(path_, info.key), found_);
    members(inner);
  }
  void visit_list(const Field& info, std::size_t size, const Resize& /*resize*/,
                  const Element& element) override {
    for (std::size_t i = 0; i < size; ++i) {
      NumberCollector inner(join(join(path_, info.key), i), found_);
      element(i, inner);
    }
  }

 private:
  void add(const Field& info, double value, bool is_integer) {
    if (!info.unused_with.empty()) return;
    found_.push_back({join(path_, info.key), std::string(info.sentence), std::string(info.unit),
                      value, is_integer});
  }

  std::string path_;
  std::vector<NumberKey>& found_;
};

}  // namespace

std::vector<NumberKey> number_keys(const std::function<void(Fields&)>& members,
                                   const std::string& path) {
  std::vector<NumberKey> found;
  NumberCollector collector(path, found);
  members(collector);
  return found;
}

}  // namespace tessera::config
