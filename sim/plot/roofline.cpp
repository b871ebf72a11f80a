#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"
#include "sim/report/units.h"
#include "sim/sweep/tables.h"

namespace tessera::plot {
namespace {

/// What a machine can do at most.
struct Roofs {
  std::map<double, std::string> flats;  ///< FLOP/s to the types of operands that reach it
  double slope = 0;                     ///< bytes that its fabric delivers a second
};

struct Dot {
  double intensity, rate;  ///< FLOP a byte, FLOP a second
  std::string series, label;
};

/// Throws UserError if the runs' machines differ: a figure has one set of roofs.
Roofs roofs_of(const Rows& rows) {
  const auto value = [&](const Row& row, const char* path) {
    return number(row, path).value_or(0);
  };
  const auto of = [&](const Row& row) {
    const double all = value(row, "machine.tiles") * value(row, "machine.clock_ghz") * 1e9;
    Roofs roofs;
    for (const auto& [path, name] :
         {std::pair{"f16_macs", "f16"}, std::pair{"f16_f32_macs", "f16, f32 partials"},
          std::pair{"f32_macs", "f32"}}) {
      const double macs = value(row, (std::string("machine.tile.matrix_unit.") + path).c_str());
      if (macs > 0) roofs.flats.emplace(2 * macs * all, name);
    }
    roofs.slope = value(row, "machine.fabric.receive_bytes_per_cycle") * all;
    return roofs;
  };
  Roofs first = of(rows.rows.front());
  for (const Row& row : rows.rows) {
    const Roofs each = of(row);
    if (each.flats != first.flats || each.slope != first.slope) {
      throw UserError(fmt::format(
          "{}: roofline: the machines of the runs differ in size or speed; choose one with --where",
          rows.origin));
    }
  }
  if (first.flats.empty() || first.slope <= 0) {
    throw UserError(rows.origin + ": roofline: the machine has no matrix unit or no fabric's rate");
  }
  return first;
}

std::vector<Dot> dots_of(const Rows& rows, const std::vector<std::string>& by) {
  std::vector<Dot> dots;
  for (const Row& row : rows.rows) {
    const double flops = number(row, "work.useful_flops").value_or(0);
    const double bytes = number(row, "traffic.exchange_bytes").value_or(0);
    const double rate = number(row, "rate.useful_flops_per_second").value_or(0);
    if (flops <= 0 || bytes <= 0 || rate <= 0) continue;
    std::string label;
    for (const std::string& path : by) label += (label.empty() ? "" : ", ") + text(row, path);
    dots.push_back({flops / bytes, rate, text(row, "workload.kernel"), label});
  }
  if (dots.empty()) {
    throw UserError(rows.origin + ": roofline: no run computes and exchanges");
  }
  return dots;
}

std::string roofs_script(const Roofs& roofs, double low, double high) {
  const double top = roofs.flats.rbegin()->first;
  std::string script = fmt::format(
      "set arrow from {0},{1} to {2},{3} nohead lw 2 lc rgb '#56B4E9'\n"
      "set label {4} at {5},{6} right offset -1,0.3 tc rgb '#2a7fb0'\n",
      low, low * roofs.slope, top / roofs.slope, top,
      literal("exchange " + report::scaled(roofs.slope, "B/s")), top / roofs.slope / 8, top / 8);
  for (const auto& [rate, name] : roofs.flats) {
    script += fmt::format(
        "set arrow from {0},{1} to {2},{1} nohead lw 2 lc rgb '#444444'\n"
        "set label {3} at {2},{1} right offset -0.5,0.6 tc rgb '#444444'\n",
        rate / roofs.slope, rate, high, literal(name + " " + report::scaled(rate, "FLOP/s")));
  }
  return script;
}

}  // namespace

/// Useful operations a second over operations a byte of exchange, under the machine's roofs; a
/// point a run, coloured by kernel or `by`.
Figure roofline(const Source& source, const Request& request) {
  for (const std::string& path : request.by) require_path(source.rows, path, "--by", false);
  const Roofs roofs = roofs_of(source.rows);
  std::vector<Dot> dots = dots_of(source.rows, request.by);
  std::vector<std::string> series;
  for (Dot& dot : dots) {
    if (!request.by.empty()) dot.series = dot.label;
    if (std::find(series.begin(), series.end(), dot.series) == series.end()) {
      series.push_back(dot.series);
    }
  }
  const double top = roofs.flats.rbegin()->first, ridge = top / roofs.slope;
  double low = ridge, high = ridge, least = top;
  for (const Dot& dot : dots) {
    low = std::min(low, dot.intensity);
    high = std::max(high, dot.intensity);
    least = std::min(least, dot.rate);
  }
  low /= 5;
  high *= 8;
  Figure figure;
  figure.csv = "flops_per_exchange_byte,useful_flops_per_second,series\n";
  std::string parts;
  for (const Dot& dot : dots) {
    figure.csv += fmt::format("{},{},{}\n", dot.intensity, dot.rate, sweep::csv_cell(dot.series));
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    parts += fmt::format(
        "{}data using (strcol(3) eq {}?$1:NaN):2 with points pt 7 ps 0.9 lc rgb "
        "'{}' title {}",
        i == 0 ? "plot " : ", \\\n  ", literal(series[i]), colour(i), literal(series[i]));
  }
  figure.script =
      heading(title_of(source.rows, request), "useful FLOP a byte of exchange",
              "useful rate (FLOP/s)", "") +
      fmt::format(
          "set logscale xy\nset format y '%.0s%c'\nset xrange [{}:{}]\nset yrange [{}:{}]\n", low,
          high, std::min(least / 3, low * roofs.slope), top * 3) +
      roofs_script(roofs, low, high) + parts + "\n";
  return figure;
}

}  // namespace tessera::plot
