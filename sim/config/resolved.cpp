#include "sim/config/writers.h"

namespace tessera::config {
namespace {

class ResolvedWriter : public Fields {
 public:
  Json values = Json::object();

 protected:
  void visit_flag(const Field& info, bool& value) override { put(info, value); }
  void visit_integer(const Field& info, std::uint64_t& value, Range<std::uint64_t>) override {
    put(info, value);
  }
  void visit_number(const Field& info, double& value, Range<double>) override {
    put(info, shown_number(info, value));
  }
  void visit_text(const Field& info, std::string& value) override { put(info, value); }
  void visit_choice(const Field& info, std::string& value,
                    std::span<const std::string_view>) override {
    put(info, value);
  }
  void visit_integers(const Field& info, std::vector<std::uint32_t>& values_of,
                      Range<std::uint32_t>) override {
    put(info, values_of);
  }
  void visit_file(const Field& info, std::string& path) override {
    if (!path.empty()) put(info, path);
  }
  void visit_group(const Field& info, bool* present, const Members& members) override {
    if (present != nullptr && !*present) return;
    ResolvedWriter inner;
    members(inner);
    put(info, std::move(inner.values));
  }
  void visit_list(const Field& info, std::size_t size, const Resize&,
                  const Element& element) override {
    Json list = Json::array();
    for (std::size_t i = 0; i < size; ++i) {
      ResolvedWriter inner;
      element(i, inner);
      list.push_back(std::move(inner.values));
    }
    put(info, std::move(list));
  }

 private:
  template <class Value>
  void put(const Field& info, Value&& value) {
    if (!info.unused_with.empty()) return;
    values[std::string(info.key)] = std::forward<Value>(value);
  }
};

}  // namespace

Json resolved(const std::function<void(Fields&)>& members) {
  ResolvedWriter writer;
  members(writer);
  return std::move(writer.values);
}

}  // namespace tessera::config
