#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/errors.h"
#include "sim/plot/script.h"

namespace tessera::plot {
namespace {

/// A layer's band of the figure: neurons from `low` to `high`.
struct Band {
  double low, high, neurons;
  std::string name;

  [[nodiscard]] double place(double neuron) const {
    return low + (high - low) * (neuron + 0.5) / neurons;
  }
};

/// Heights in proportion to neurons, with a visible minimum.
std::map<double, Band> bands_of(const Json& layers) {
  constexpr double kLeast = 0.12;
  constexpr double kGap = 0.02;
  double most = 0;
  for (const Json& layer : layers) most += layer.at("neurons").get<double>();
  std::map<double, Band> bands;
  double low = 0;
  for (const Json& layer : layers) {
    const double number = layer.at("layer").get<double>();
    const double neurons = layer.at("neurons").get<double>();
    const double high = low + std::max(neurons / most, kLeast);
    bands.emplace(number, Band{low, high, neurons,
                               number == 0 ? "inputs" : fmt::format("layer {}", number - 1)});
    low = high + kGap;
  }
  return bands;
}

/// The requested sample. Throws UserError if raster.csv does not hold it.
double chosen_sample(const report::RunFolder& run, const Json& facts, const std::string& wanted) {
  const auto samples = facts.at("samples").get<unsigned>();
  for (unsigned sample = 0; sample < samples; ++sample)
    if (wanted.empty() || wanted == std::to_string(sample)) return sample;
  throw UserError(
      "{}/raster.csv: found no sample {}, allowed 0 to {}{}", run.folder, wanted, samples - 1,
      facts.at("left_out").get<double>() > 0 ? ": the others are left out, as results.raster says"
                                             : "");
}

}  // namespace

/// Draws the spikes of one sample: neurons over time steps, one band per layer.
Figure raster(const Source& source, const Request& request) {
  const report::RunFolder& run = *source.run;
  if (run.raster.rows == 0) {
    const bool spiking = run.report.value("results", Json::object()).contains("raster");
    throw UserError("{}/raster.csv: found no spikes there{}", run.folder,
                    spiking ? ": in the last batch no input and no neuron spiked"
                            : ", expected a run of a spiking network");
  }
  const Json& facts = run.report.at("results").at("raster");
  const double sample = chosen_sample(run, facts, request.sample);
  const std::map<double, Band> bands = bands_of(facts.at("layers"));
  Figure figure;
  figure.sheet = sheet_of(request, 0.62);
  figure.csv = "sample,layer,step,neuron,place\n";
  const auto column = [&](const char* name) -> const auto& { return run.raster.at(name).values; };
  std::size_t spikes = 0;
  for (std::size_t i = 0; i < run.raster.rows; ++i) {
    if (column("sample")[i] != sample) continue;
    const double layer = column("layer")[i];
    figure.csv += fmt::format("{},{},{},{},{:.6f}\n", sample, layer, column("step")[i],
                              column("neuron")[i], bands.at(layer).place(column("neuron")[i]));
    ++spikes;
  }
  const double steps = facts.at("time_steps").get<double>();
  const double mark = std::clamp(2.1 * figure.sheet.width / steps, 0.1, 0.4);
  std::vector<std::string> marks, parts;
  std::string lines;
  std::size_t number = 0;
  for (const auto& [layer, band] : bands) {
    marks.push_back(
        fmt::format("\"{}\\n({})\" {}", band.name, band.neurons, (band.low + band.high) / 2));
    parts.push_back(fmt::format("  data using ($2=={}?$3:NaN):5 with points pt 5 ps {} lc rgb '{}'",
                                layer, mark, colour(number++)));
    if (band.low > 0)
      lines += fmt::format(
          "set arrow from graph 0,first {0} to graph 1,first {0} nohead lc rgb "
          "'#999999' lw 0.6\n",
          band.low - 0.01);
  }
  const std::string left_out =
      facts.at("samples") < facts.at("of_samples")
          ? fmt::format(", {} of {} samples written", facts.at("samples").get<unsigned>(),
                        facts.at("of_samples").get<unsigned>())
          : "";
  const Headings texts{fmt::format("{}: sample {}, {} spikes{}", title_of(source.rows, request),
                                   sample, spikes, left_out),
                       "time step", "neuron, by layer"};
  figure.script =
      heading(texts, request, figure.sheet) + lines +
      fmt::format(
          "unset key\nset grid x noy\nset xrange [-0.5:{}]\nset yrange [0:{}]\n"
          "set ytics scale 0 ({})\nset xtics ({})\nplot \\\n{}\n",
          steps - 0.5, bands.rbegin()->second.high, fmt::join(marks, ", "),
          number_marks(0, steps - 1, figure.sheet.marks_across()), fmt::join(parts, ", \\\n"));
  return figure;
}

}  // namespace tessera::plot
