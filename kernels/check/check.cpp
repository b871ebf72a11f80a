#include "kernels/check/check.h"

#include <algorithm>
#include <set>

#include "sim/data/random.h"

namespace tessera::kernels {

namespace {

class Check {
 public:
  Check(const Checked& checked, HostThreads& threads)
      : checked_(checked), threads_(threads), comparison_(checked.result) {}

  void compare(const std::vector<Strip>& strips, const Checked::Compare& how,
               bool suspect = false) {
    comparison_.add_all(
        strips.size(), checked_.grain, threads_,
        [&](std::size_t begin, std::size_t end, Comparison& into) {
          how(std::span(strips).subspan(begin, end - begin), into);
        },
        suspect);
  }

  void compare_lines(bool all) {
    std::vector<Strip> strips;
    const std::size_t count = all ? checked_.lines : checked_.sample.size();
    for (std::size_t i = 0; i < count; ++i)
      strips.push_back({all ? i : checked_.sample[i], {0, checked_.length}});
    compare(strips, checked_.compare);
    compare(checked_.exact_strips, checked_.compare_exact);
    if (checked_.independent > 0) comparison_.judge_mean(checked_.independent);
  }

  /// Compares up to `most_suspects` suspects, the worst first. If more stand out (correct results
  /// can, if roundings are correlated), the threshold rises to the first suspect left out.
  void compare_suspects(const SignedRows& rows) {
    Screen screen = screened(rows, threads_);
    worst_ = std::max(worst_, screen.worst);
    std::set<std::uint64_t> taken;
    for (auto [suspects, threshold] : {std::pair{&screen.segments, &screen.threshold},
                                       {&screen.elements, &screen.lone_threshold}}) {
      sort_suspects(*suspects);
      std::vector<Strip> strips;
      for (const Suspect& one : *suspects) {
        if (strips.size() >= checked_.most_suspects) {
          *threshold *= one.ratio;
          break;
        }
        add_strips(one, rows.across, taken, strips);
      }
      compare(strips, checked_.compare, true);
    }
    threshold_ = std::max(threshold_, screen.threshold);
    lone_threshold_ = std::max(lone_threshold_, screen.lone_threshold);
  }

  [[nodiscard]] CheckResult result(const char* method) const {
    CheckResult result = comparison_.result(method);
    result.max_error = std::max(result.max_error, worst_);
    result.threshold = threshold_;
    result.lone_threshold = lone_threshold_;
    if (threshold_ > 0) result.missed_probability = SignVectors::kMissed;
    return result;
  }

 private:
  void add_strips(const Suspect& one, bool across, std::set<std::uint64_t>& taken,
                  std::vector<Strip>& strips) const {
    const Interval row{one.row, one.row + 1};
    const Interval lines = across ? one.columns : row;
    for (std::uint64_t line = lines.begin; line < lines.end; ++line) {
      if (!checked_.whole_lines)
        strips.push_back({line, across ? row : one.columns});
      else if (taken.insert(line).second)
        strips.push_back({line, {0, checked_.length}});
    }
  }

  const Checked& checked_;
  HostThreads& threads_;
  Comparison comparison_;
  double worst_ = 0;  ///< largest Screen::worst of all sides
  double threshold_ = 0;
  double lone_threshold_ = 0;
};

}  // namespace

Checked one_by_one(Comparison::Result result, std::uint64_t elements, std::uint64_t length,
                   std::function<void(std::uint64_t number, Comparison& into)> compare) {
  Checked checked;
  checked.result = std::move(result);
  checked.lines = elements / length;
  checked.length = length;
  checked.compare = [length, compare = std::move(compare)](std::span<const Strip> strips,
                                                           Comparison& into) {
    for (const Strip& strip : strips)
      for (std::uint64_t i = strip.along.begin; i < strip.along.end; ++i)
        compare(strip.line * length + i, into);
  };
  return checked;
}

std::vector<std::uint64_t> sample_lines(std::uint64_t lines, std::uint64_t step, std::uint64_t seed,
                                        std::uint64_t stream) {
  std::vector<std::uint64_t> sample(ceil_div(lines, step));
  for (std::uint64_t i = 0; i < sample.size(); ++i) {
    const std::uint64_t first = lines * i / sample.size();
    const std::uint64_t end = lines * (i + 1) / sample.size();
    sample[i] = first + data::random_below(seed, stream, i, end - first);
  }
  return sample;
}

CheckResult check(const Checked& checked, const CheckRequest& request, HostThreads& threads) {
  Check check(checked, threads);
  const bool can_sample = !checked.sample.empty() || checked.sides > 0;
  const bool all = !can_sample || compares_all(request.mode, checked.flops, checked.most_flops);
  check.compare_lines(all);
  if (all) return check.result("full");
  for (unsigned side = 0; side < checked.sides; ++side)
    check.compare_suspects(checked.side(side, threads));
  return check.result("sample");
}

}  // namespace tessera::kernels
