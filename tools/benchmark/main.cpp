#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

#include "tools/benchmark/configs.h"
#include "tools/benchmark/loops.h"

/// Measures this host: guest instructions per second of loops by engine, including exact cycles and
/// translation, beside qemu-riscv32 and the same source compiled for the host; whole runs of the
/// shipped configs; rates of a spiking network. `--json FILE` writes the results; `--against FILE`
/// lists what is over a tenth slower than there, and exits with 1 if anything is.
namespace tessera::benchmark {
namespace {

using Json = nlohmann::ordered_json;
/// Seconds by name.
using Seconds = std::map<std::string, double>;

constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;

double rate(const Measured& loop, const Timed& timed) {
  return static_cast<double>(loop.instructions) / timed.seconds / kGiga;
}

void print(const Measured& loop) {
  fmt::print("{:<10} {:>14} {:>14} {:>12.2f} {:>8.2f} {:>8} {:>8.2f}\n", loop.name,
             loop.instructions, loop.slots, rate(loop, loop.interpreter), rate(loop, loop.native),
             loop.qemu ? fmt::format("{:.2f}", rate(loop, *loop.qemu)) : "-",
             rate(loop, loop.host));
  std::fflush(stdout);
}

Json json_of(const Measured& loop) {
  Json json = {{"loop", loop.name}, {"instructions", loop.instructions}, {"slots", loop.slots}};
  Json& seconds = json["seconds"] = {{"interpreter", loop.interpreter.seconds},
                                     {"native", loop.native.seconds},
                                     {"host", loop.host.seconds}};
  if (loop.qemu) seconds["qemu"] = loop.qemu->seconds;
  return json;
}

Json measure_loops() {
  fmt::print("G guest instructions/s\n{:<10} {:>14} {:>14} {:>12} {:>8} {:>8} {:>8}\n", "loop",
             "instructions", "slots", "interpreter", "native", "qemu", "host");
  Json json = Json::array();
  for (const Loop& loop : loops()) {
    const Measured measured = measure(loop);
    print(measured);
    json.push_back(json_of(measured));
  }
  return json;
}

void print(const MeasuredConfig& config) {
  fmt::print("{:<18} {:>12.2f} {:>8.2f} {:>8} {:>6.3f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}\n",
             config.name, config.interpreter, config.native,
             config.timed ? fmt::format("{:.2f}", config.timing) : "-", config.kept, config.wall,
             config.build, config.run, config.check);
  std::fflush(stdout);
}

Json json_of(const MeasuredConfig& config) {
  Json json = {{"config", config.name},
               {"seconds", {{"interpreter", config.interpreter}, {"native", config.native}}},
               {"wall",
                {{"all", config.wall},
                 {"build", config.build},
                 {"run", config.run},
                 {"check", config.check}}}};
  if (config.timed) json["seconds"]["timing"] = config.timing;
  json["seconds"]["kept"] = config.kept;
  return json;
}

Json measure_configs() {
  fmt::print(
      "\nseconds, two threads{:>16} {:>8} {:>8} {:>6} {:>8}\n{:<18} {:>12} {:>8} {:>8} {:>6} {:>8} "
      "{:>8} {:>8} {:>8}\n",
      "of processors:", "", "", "", "on the wall:", "config", "interpreter", "native", "timing",
      "kept", "all", "build", "run", "check");
  Json json = Json::array();
  for (const std::string& name : shipped_configs()) {
    const MeasuredConfig measured =
        measure_config(fmt::format("{}/configs/runs/{}.json", TESSERA_SOURCE, name));
    print(measured);
    json.push_back(json_of(measured));
    constexpr int kSize = 4096;
    if (measured.useful_flops != 2.0 * kSize * kSize * kSize) continue;  // not this product
    const std::optional<double> sgemm = seconds_of_sgemm(kSize);
    if (!sgemm) {
      fmt::print("{:<18} not installed: libopenblas0\n", "  OpenBLAS sgemm");
      continue;
    }
    fmt::print("{:<18} {:>39.2f}: the run takes {:.1f} times as long, all {:.1f} times\n",
               "  OpenBLAS sgemm", *sgemm, measured.run / *sgemm, measured.wall / *sgemm);
    json.back()["seconds"]["sgemm"] = *sgemm;
  }
  return json;
}

/// Fifteen thousand neurons, simulated functionally and cycle-exactly.
Json measure_spikes() {
  const MeasuredConfig measured = measure_config(TESSERA_SOURCE "/tools/benchmark/spikes.json");
  const Json& counts = measured.results.at("counts");
  const auto updates = counts.at("neuron_updates").get<double>();
  const auto events = counts.at("synaptic_events").get<double>();
  fmt::print(
      "\nspiking network, 1472 tiles, two threads: {:.1f} M neuron updates/s, {:.1f} M "
      "synaptic events/s ({:.1f} an update, {:.2f} s)\n",
      updates / measured.run / kMega, events / measured.run / kMega, events / updates,
      measured.run);
  return json_of(measured);
}

/// Adds the numbers in `seconds` and `wall` of every entry.
void gather(const Json& json, Seconds& seconds) {
  for (const auto& [section, entries] : json.items())
    for (const Json& entry : entries.is_array() ? entries : Json::array({entries}))
      for (const char* const kind : {"seconds", "wall"}) {
        if (!entry.contains(kind)) continue;
        const Json& name = entry.contains("loop") ? entry.at("loop") : entry.at("config");
        for (const auto& [what, value] : entry.at(kind).items())
          seconds[fmt::format("{} {} {} {}", section, name.get<std::string>(), kind, what)] = value;
      }
}

/// Prints what takes longer than in the stored run; true if anything does.
bool is_slower(const Json& json, const std::string& stored) {
  constexpr double kMost = 1.1;
  constexpr double kLeast = 0.05;  // seconds; shorter times are noise
  std::ifstream file(stored);
  if (!file) throw UserError(fmt::format("{}: cannot be read", stored));
  Seconds now, before;
  gather(json, now);
  gather(Json::parse(file), before);
  bool slower = false;
  for (const auto& [what, seconds] : now) {
    const auto was = before.find(what);
    if (was == before.end() || seconds < kLeast || seconds <= kMost * was->second) continue;
    fmt::print("slower: {}: {:.2f} s, {:.2f} in {}\n", what, seconds, was->second, stored);
    slower = true;
  }
  return slower;
}

int run(const std::string& file, const std::string& stored) {
  Json json;
  json["loops"] = measure_loops();
  json["configs"] = measure_configs();
  json["spikes"] = measure_spikes();
  if (!file.empty()) {
    std::ofstream out(file);
    out << json.dump(2) << '\n';
    if (!out.flush()) throw UserError(fmt::format("{}: cannot be written", file));
  }
  return !stored.empty() && is_slower(json, stored) ? 1 : 0;
}

}  // namespace
}  // namespace tessera::benchmark

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // ends when the reader is gone
  try {
    std::string json, against;
    bool good = argc % 2 == 1;
    for (int i = 1; good && i < argc; i += 2) {
      const std::string_view option = argv[i];
      good = option == "--json" || option == "--against";
      (option == "--json" ? json : against) = argv[i + 1];
    }
    if (!good) throw tessera::UserError("tessera_bench [--json FILE] [--against FILE]");
    return tessera::benchmark::run(json, against);
  } catch (const tessera::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tessera_bench: {}\n", error.what());
    return static_cast<int>(tessera::ExitCode::defect);
  }
}
