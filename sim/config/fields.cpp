#include "sim/config/fields.h"

#include "sim/config/key_path.h"

namespace tessera::config {
namespace {

using Use = std::function<void(const Field&, const Held&)>;

class Each : public Fields {
 public:
  explicit Each(const Use& use) : use_(use) {}
  std::vector<std::string> left_out() { return std::move(left_out_); }

 protected:
  void leave_out(std::string_view key) override { left_out_.emplace_back(key); }
  void visit(const Field& info, const Held& held) override { use_(info, held); }

 private:
  const Use& use_;
  std::vector<std::string> left_out_;
};

}  // namespace

std::vector<std::string> each_member(const Members& members, const Use& use) {
  Each each(use);
  members(each);
  return each.left_out();
}

void each_value(const Members& members, const std::string& path,
                const std::function<void(const std::string&, const Field&, const Held&)>& use) {
  each_member(members, [&](const Field& info, const Held& held) {
    if (!info.unused_with.empty()) return;
    const std::string own = join(path, info.key);
    if (const auto* const group = std::get_if<Group>(&held)) {
      if (group->present == nullptr || *group->present) each_value(group->members, own, use);
    } else if (const auto* const list = std::get_if<List>(&held)) {
      for (std::size_t i = 0; i < list->size; ++i)
        each_value([&](Fields& inner) { list->element(i, inner); }, join(own, i), use);
    } else {
      use(own, info, held);
    }
  });
}

std::vector<NumberKey> number_keys(const Members& members, const std::string& path) {
  std::vector<NumberKey> found;
  each_value(members, path, [&](const std::string& own, const Field& info, const Held& held) {
    const auto add = [&](const std::string& at, double value, bool is_integer) {
      found.push_back({at, std::string(info.sentence), std::string(info.unit), value, is_integer});
    };
    if (const auto* const integer = std::get_if<Integer>(&held))
      add(own, static_cast<double>(integer->value), true);
    if (const auto* const number = std::get_if<Number>(&held)) {
      const bool is_word = number->value == 0 && !info.zero.empty();
      if (!std::isnan(number->value) && !is_word) add(own, number->value, false);
    }
    if (const auto* const list = std::get_if<Integers>(&held))
      for (std::size_t i = 0; i < list->value.size(); ++i) add(join(own, i), list->value[i], true);
  });
  return found;
}

}  // namespace tessera::config
