#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "sim/base/counted.h"
#include "sim/command/accuracy.h"
#include "sim/command/statistics.h"
#include "sim/sweep/tables.h"

namespace tessera::command {
namespace {

/// ": a, b"; empty if none.
std::string names_where(const std::vector<ValidatedSet>& sets,
                        const std::function<bool(const ValidatedSet&)>& holds) {
  std::string names;
  for (const ValidatedSet& each : sets)
    if (holds(each)) names += (names.empty() ? ": " : ", ") + each.set->name;
  return names;
}

std::string percent_near(const std::vector<double>& ratios) {
  return fmt::format("{:.1f} %", 100 * share_within(ratios, 1 / kNear, kNear));
}

void print_total(const Total& total) {
  const std::vector<double>& ratios = total.ratios;
  const auto number = [&](double (*of)(const std::vector<double>&)) {
    return ratios.empty() ? std::string("-") : fmt::format("{:.3f}", of(ratios));
  };
  const EvidenceKind& kind = *total.kind;
  fmt::print(
      "  {:<13} {:>4} {:>7} {:>7} {:>7} {:>13}  {}\n", kind.name, total.sets, ratios.size(),
      number([](const std::vector<double>& all) { return median(all); }), number(mean),
      ratios.empty() ? "-" : percent_near(ratios),
      kind.gate.asks() ? fmt::format("{} of {}", total.reproduced, total.judged) : "no gate");
  fmt::print("    {}\n    gate of each set: {}; {}\n", kind.meaning, text_of(kind.gate),
             kind.reason);
}

}  // namespace

std::vector<Total> totals(const std::vector<ValidatedSet>& sets) {
  std::vector<Total> all;
  for (const EvidenceKind& kind : evidence_kinds()) {
    Total total{&kind, 0, 0, 0, {}};
    for (const ValidatedSet& each : sets) {
      if (each.set->evidence != kind.evidence) continue;
      ++total.sets;
      if (each.reproduces) ++total.judged;
      if (each.reproduces == true) ++total.reproduced;
      const std::vector<double> ratios = agreements(each.rows);
      total.ratios.insert(total.ratios.end(), ratios.begin(), ratios.end());
    }
    if (total.sets > 0) all.push_back(std::move(total));
  }
  return all;
}

void print_totals(const std::vector<ValidatedSet>& sets) {
  if (sets.empty()) return;
  fmt::print("totals: simulated / published by kind of evidence\n");
  fmt::print("  {:<13} {:>4} {:>7} {:>7} {:>7} {:>13}  sets that reproduce\n", "", "sets", "points",
             "median", "mean", fmt::format("within {:g}x", kNear));
  for (const Total& total : totals(sets)) print_total(total);
  const auto count = [&](const auto& holds) {
    return static_cast<std::size_t>(std::ranges::count_if(sets, holds));
  };
  const auto short_of = [](const ValidatedSet& each) {
    return each.reproduces == false && !each.set->shortfall.empty();
  };
  const auto unexcused = [](const ValidatedSet& each) { return each.unexcused(); };
  const auto moved = [](const ValidatedSet& each) { return !each.as_recorded; };
  const auto reproduces = [](const ValidatedSet& each) { return each.reproduces == true; };
  const auto is_judged = [](const ValidatedSet& each) { return each.reproduces.has_value(); };
  const auto is_goal = [](const ValidatedSet& each) {
    return each.reproduces.has_value() && each.set->evidence == Evidence::goal;
  };
  const std::string goals = names_where(sets, is_goal);
  fmt::print(
      "accuracy: {} of {} reproduce what is published{}; {} do not, with a stated shortfall{}; {} "
      "FAIL{}\n",
      count(reproduces), counted(count(is_judged), "set"),
      goals.empty() ? "" : fmt::format(" (or reach a goal of ours{})", goals), count(short_of),
      names_where(sets, short_of), count(unexcused), names_where(sets, unexcused));
  fmt::print("regression: {} of {} as recorded; {} FAIL{}\n", sets.size() - count(moved),
             counted(sets.size(), "set"), count(moved), names_where(sets, moved));
}

std::string totals_csv(const std::vector<ValidatedSet>& sets) {
  std::string text = "evidence,sets,points,median,mean,share_near,judged,reproduced,gate\n";
  for (const Total& total : totals(sets)) {
    const std::vector<double>& ratios = total.ratios;
    const std::string numbers =
        ratios.empty() ? ",,"
                       : fmt::format("{:.6g},{:.6g},{:.6g}", median(ratios), mean(ratios),
                                     share_within(ratios, 1 / kNear, kNear));
    text +=
        fmt::format("{},{},{},{},{},{},{}\n", total.kind->name, total.sets, ratios.size(), numbers,
                    total.judged, total.reproduced, sweep::csv_cell(text_of(total.kind->gate)));
  }
  return text;
}

}  // namespace tessera::command
