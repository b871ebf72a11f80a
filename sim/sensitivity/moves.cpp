#include "sim/sensitivity/moves.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/key_path.h"

namespace tessera::sensitivity {
namespace {

using config::Config;
using config::NumberKey;

/// Searches for allowed values of one key on one side of the config's.
class Side {
 public:
  Side(const Config& base, const Key& key, const Catalogue& catalogue, config::Presets machines)
      : base_(base),
        key_(key.number),
        with_(key.with),
        catalogue_(catalogue),
        machines_(machines) {}

  [[nodiscard]] std::optional<double> nearest_to(double target) {
    return key_.is_integer ? nearest_integer(target) : nearest_number(target);
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool allows(double value) {
    try {
      static_cast<void>(config_at(base_, key_, value, catalogue_, machines_, with_));
      return true;
    } catch (const UserError& error) {
      if (problem_.empty()) problem_ = error.what();
      return false;
    }
  }

  std::optional<double> nearest_integer(double target) {
    constexpr int kMostTries = 64;
    const auto between = [&](double value) {
      return value > 0 && (target < key_.value ? value < key_.value : value > key_.value);
    };
    double below = std::floor(target);
    double above = below + 1;
    for (int i = 0; i < kMostTries && (between(below) || between(above)); ++i) {
      const bool down = between(below) && (!between(above) || target / below <= above / target);
      double& next = down ? below : above;
      if (allows(next)) return next;
      next += down ? -1 : 1;
    }
    return std::nullopt;
  }

  /// Bisects between the config's own value, which is allowed, and `target`.
  std::optional<double> nearest_number(double target) {
    if (allows(target)) return target;
    constexpr int kHalvings = 40;
    double good = key_.value;
    double bad = target;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::sqrt(good * bad);
      (allows(middle) ? good : bad) = middle;
    }
    constexpr double kTooNear = 1.001;  // to give a meaningful logarithm of the ratio
    const double ratio = std::max(good / key_.value, key_.value / good);
    return ratio > kTooNear ? std::optional(good) : std::nullopt;
  }

  const Config& base_;
  const NumberKey& key_;
  std::span<const NumberKey> with_;
  const Catalogue& catalogue_;
  config::Presets machines_;
  std::string problem_;  ///< why the first refused value is not allowed
};

}  // namespace

std::string Key::path() const {
  std::string text = number.path;
  for (const NumberKey& other : with)
    text += "+" + other.path.substr(std::string_view("machine.").size());
  return text;
}

Config config_at(const Config& base, const NumberKey& key, double value, const Catalogue& catalogue,
                 config::Presets machines, std::span<const NumberKey> with) {
  config::Layers layers = base.layers;
  const auto lay = [&](const NumberKey& one, double at) {
    config::Json json = at;
    if (one.is_integer) json = static_cast<std::uint64_t>(std::round(at));
    layers.set(one.path, json, fmt::format("{}={}", one.path, json.dump()));
  };
  lay(key, value);
  for (const NumberKey& other : with) lay(other, other.value * value / key.value);
  return config::read_config(layers, base.name, catalogue, machines);
}

Key moved_key(const Config& base, std::vector<NumberKey> numbers, double by,
              const Catalogue& catalogue, config::Presets machines) {
  Key key{numbers.front(), {}, {}, {}};
  key.with.assign(numbers.begin() + 1, numbers.end());
  for (const NumberKey& number : numbers) {
    key.area_model = key.area_model && has_area_model(number.path);
    if (number.value == 0)
      key.held = fmt::format("{}is 0, of which there is no ratio",
                             key.with.empty() ? "" : number.path + " ");
  }
  if (!key.held.empty()) return key;
  Side side(base, key, catalogue, machines);
  key.low.value = side.nearest_to(key.number.value / by);
  key.high.value = side.nearest_to(key.number.value * by);
  if (!key.low.value && !key.high.value) key.held = side.problem();
  return key;
}

std::vector<Key> moved_keys(const Config& base, double by, const Catalogue& catalogue,
                            config::Presets machines) {
  MachineConfig machine = base.machine;
  const auto describe_machine = [&](config::Fields& fields) { describe(fields, machine); };
  return mapped(config::number_keys(describe_machine, "machine"), [&](NumberKey number) {
    number.path = config::named(base.resolved, number.path);
    return moved_key(base, {number}, by, catalogue, machines);
  });
}

}  // namespace tessera::sensitivity
