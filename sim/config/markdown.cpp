#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/config/key_path.h"
#include "sim/config/writers.h"

namespace tessera::config {
namespace {

/// Rows of "| key | default | allowed | sentence |".
class MarkdownWriter : public Fields {
 public:
  explicit MarkdownWriter(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string rows;

 protected:
  void visit_flag(const Field& info, bool& value) override { row(info, value, "true, false"); }
  void visit_integer(const Field& info, std::uint64_t& value, Range<std::uint64_t> range) override {
    row(info, value, bounds(range));
  }
  void visit_number(const Field& info, double& value, Range<double> range) override {
    std::string allowed = bounds(range);
    if (!info.zero.empty()) allowed += fmt::format(", or {}", info.zero);
    if (std::isnan(value)) allowed += ", or null";
    row(info, shown_number(info, value), allowed);
  }
  void visit_text(const Field& info, std::string& value) override { row(info, value, "a text"); }
  void visit_choice(const Field& info, std::string& value,
                    std::span<const std::string_view> allowed) override {
    row(info, value, fmt::format("{}", fmt::join(allowed, ", ")));
  }
  void visit_integers(const Field& info, std::vector<std::uint32_t>& values,
                      Range<std::uint32_t> range) override {
    row(info, values, "a list of " + bounds(range));
  }
  void visit_file(const Field& info, std::string& path) override { row(info, path, "a file"); }
  void visit_group(const Field& info, bool*, const Members& members) override {
    MarkdownWriter inner(join(prefix_, info.key));
    members(inner);
    rows += fmt::format("| `{}` | | | {} |\n", join(prefix_, info.key), info.sentence);
    rows += inner.rows;
  }
  void visit_list(const Field& info, std::size_t size, const Resize& resize,
                  const Element& element) override {
    resize(std::max<std::size_t>(size, 1));
    visit_group({fmt::format("{}[]", info.key), info.sentence}, nullptr,
                [&](Fields& inner) { element(0, inner); });
    resize(size);
  }

 private:
  template <class Number>
  static std::string bounds(Range<Number> range) {
    if (!range.among.empty()) return fmt::format("{}", fmt::join(range.among, ", "));
    const bool low = range.low > std::numeric_limits<Number>::lowest();
    const bool high = range.high < std::numeric_limits<Number>::max();
    if (low && high) return fmt::format("{} to {}", range.low, range.high);
    if (low) return fmt::format("{} and up", range.low);
    return high ? fmt::format("up to {}", range.high) : "any";
  }
  void row(const Field& info, const Json& value, const std::string& allowed) {
    const std::string given = info.required ? "required" : fmt::format("`{}`", value.dump());
    const std::string unit = info.unit.empty() ? "" : fmt::format(" {}", info.unit);
    rows += fmt::format("| `{}` | {}{} | {} | {} |\n", join(prefix_, info.key), given, unit,
                        allowed, info.sentence);
  }

  std::string prefix_;
};

}  // namespace

std::string markdown(const std::function<void(Fields&)>& members, const std::string& prefix) {
  MarkdownWriter writer(prefix);
  members(writer);
  return writer.rows;
}

}  // namespace tessera::config
