#include "sim/command/fit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/base/stopwatch.h"
#include "sim/command/progress.h"
#include "sim/config/fields.h"
#include "sim/config/key_path.h"
#include "sim/config/nearest.h"
#include "sim/sensitivity/moves.h"

namespace tessera::command {
namespace {

using config::Config;
using config::NumberKey;

NumberKey key_named(const Config& config, const std::string& given) {
  const std::string name = config::numbered(config.resolved, given);
  MachineConfig machine = config.machine;
  std::vector<NumberKey> keys =
      config::number_keys([&](config::Fields& fields) { describe(fields, machine); }, "machine");
  const std::vector<NumberKey> others = config::number_keys(
      [&](config::Fields& fields) { config.workload->visit(fields); }, "workload");
  keys.insert(keys.end(), others.begin(), others.end());
  std::erase_if(keys, [](const NumberKey& key) { return !key.is_integer; });
  const auto found = std::ranges::find(keys, name, &NumberKey::path);
  if (found != keys.end()) return *found;
  throw UserError(
      "tessera check: --fit: found {}, allowed an integer of this machine or workload{}", given,
      config::did_you_mean(name, mapped(keys, &NumberKey::path)));
}

/// Tries values of one key, skipping those that the config refuses, such as odd numbers.
class Search {
 public:
  Search(const Config& config, const NumberKey& key, const Simulator& simulator)
      : config_(config), key_(key), simulator_(simulator), require_fit_(simulator.fit_check()) {}

  Fit run() {
    const bool smallest = key_.path.starts_with("machine.");
    const auto own = static_cast<std::uint64_t>(key_.value);
    const bool fits_now = ask(own) == Answer::fits;
    // Searches towards the limit: a smaller machine if it fits, a larger one if not.
    const bool up = smallest != fits_now;
    std::uint64_t from = own;
    std::optional<std::uint64_t> to = next(from, up);
    while (to && (ask(*to) == Answer::fits) == fits_now) {
      from = *to;
      to = next(from, up);
    }
    if (!to && !fits_now)
      throw UserError(
          "tessera check: --fit {}: no value from {} to {} fits; of the "
          "last: {}",
          key_.path, std::min(own, from), std::max(own, from), problems_.at(from));
    if (!to) return {key_.path, from, smallest};
    std::uint64_t good = fits_now ? from : *to;
    std::uint64_t bad = fits_now ? *to : from;
    narrow(good, bad);
    return {key_.path, good, smallest, bad, problems_.at(bad)};
  }

 private:
  enum class Answer : std::uint8_t { fits, does_not, not_allowed };

  /// Tries each value once.
  Answer ask(std::uint64_t value) {
    const auto [known, is_new] = answers_.try_emplace({test_, value}, Answer::not_allowed);
    if (is_new) known->second = tried(value);
    return known->second;
  }

  void show(std::uint64_t value) {
    if (!progress_.is_due()) return;
    progress_.show(fmt::format("planning with {} = {}, {} tried, {:.0f} s so far", key_.path, value,
                               answers_.size() - 1, watch_.seconds()));
  }

  Answer tried(std::uint64_t value) {
    show(value);
    Answer answer = Answer::not_allowed;
    try {
      const Config moved = sensitivity::config_at(config_, key_, static_cast<double>(value),
                                                  simulator_.catalogue, simulator_.machines);
      answer = Answer::does_not;
      require_fit_(moved, test_);
      return Answer::fits;
    } catch (const UserError& error) {
      problems_[value] = error.what();
      return answer;
    }
  }

  /// The allowed value nearest to `value`, strictly between two others.
  std::optional<std::uint64_t> allowed_near(std::uint64_t value, std::uint64_t low,
                                            std::uint64_t high) {
    constexpr std::uint64_t kFarthest = 64;
    for (std::uint64_t off = 0; off <= kFarthest; ++off) {
      for (const std::uint64_t each : {value + off, value - off}) {
        const bool between = each > low && each < high && (off <= value || each == value + off);
        if (between && ask(each) != Answer::not_allowed) return each;
      }
    }
    return std::nullopt;
  }

  /// About twice or half of `value`, or the farthest allowed value; nullopt if there is none.
  std::optional<std::uint64_t> next(std::uint64_t value, bool up) {
    if (up) {
      for (std::uint64_t step = std::max<std::uint64_t>(value, 1); step > 0; step /= 2)
        if (const auto found = allowed_near(value + step, value, Fit::kMost + 1)) return found;
      return std::nullopt;
    }
    if (value == 0) return std::nullopt;
    if (const auto half = allowed_near(value / 2, 0, value)) return half;
    return ask(0) == Answer::not_allowed ? std::nullopt : std::optional<std::uint64_t>(0);
  }

  /// Bisects with plans only, which is cheap, then checks both end values fully.
  void narrow(std::uint64_t& good, std::uint64_t& bad) {
    const std::uint64_t fits = good;
    const std::uint64_t does_not = bad;
    test_ = FitTest::plan;
    bisect(good, bad);
    test_ = FitTest::memory;
    if (ask(good) != Answer::fits)
      bad = std::exchange(good, fits);
    else if (ask(bad) == Answer::fits)
      good = std::exchange(bad, does_not);
    bisect(good, bad);
  }

  /// Bisects until no allowed value lies between.
  void bisect(std::uint64_t& good, std::uint64_t& bad) {
    while (true) {
      const std::uint64_t low = std::min(good, bad);
      const std::uint64_t high = std::max(good, bad);
      const auto middle = allowed_near(low + (high - low) / 2, low, high);
      if (!middle) return;
      (ask(*middle) == Answer::fits ? good : bad) = *middle;
    }
  }

  const Config& config_;
  const NumberKey& key_;
  const Simulator& simulator_;
  FitCheck require_fit_;
  FitTest test_ = FitTest::memory;
  std::map<std::pair<FitTest, std::uint64_t>, Answer> answers_;
  std::map<std::uint64_t, std::string> problems_;
  Progress progress_{false};
  Stopwatch watch_;
};

}  // namespace

Fit find_fit(const Config& config, const std::string& key, const Simulator& simulator) {
  const NumberKey number = key_named(config, key);
  return Search(config, number, simulator).run();
}

std::string text_of(const Fit& fit) {
  std::string text = fmt::format("{}: {} is the {} that fits", fit.key, fit.value,
                                 fit.smallest ? "smallest" : "largest");
  if (fit.problem.empty())
    return text +
           (fit.value < Fit::kMost ? ", and the last that is allowed" : "; no larger is tried");
  return fmt::format("{}; {} does not: {}", text, fit.refused,
                     fit.problem.substr(0, fit.problem.find('\n')));
}

}  // namespace tessera::command
