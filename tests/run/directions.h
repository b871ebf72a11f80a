#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/cli/command.h"
#include "tests/kernels/points.h"
#include "tests/sim/engine/assembled.h"

/// Runs that one key of the machine limits, and bounds for how their results react to that key.
namespace tessera::test {

/// Measures a run with `key`, such as "tile.latency.load", at `value`.
using Metric = std::function<double(const std::string& key, double value)>;

/// The expected reaction of a metric when the key changes from one value to the other.
struct Direction {
  std::string key;  ///< without "machine."
  double from, to;
  Metric metric;
  double least, most;  ///< bounds of metric(to) / metric(from), or of metric(to) - metric(from)
  bool difference = false;
};

/// A machine like Bow with one context and no stalls, except for the key set here.
inline Json plain_machine(const std::string& key, double value) {
  Json machine = {{"tile",
                   {{"issue", "single"},
                    {"contexts", 1},
                    {"dual_issue", false},
                    {"matrix_unit",
                     {{"f16", {{"outputs", 16}}},
                      {"i8", {{"outputs", 8}}},
                      {"i16", {{"outputs", 4}}},
                      {"bf16", {{"outputs", 4}}}}}}}};
  Json* at = &machine;
  std::string left = key;
  for (std::size_t dot = left.find('.'); dot != std::string::npos; dot = left.find('.')) {
    at = &(*at)[left.substr(0, dot)];
    left.erase(0, dot + 1);
  }
  (*at)[left] = value;
  return machine;
}

/// The tile of a machine with that key at that value, and with that issue kind.
inline TileConfig tile_with(const std::string& key, double value, const char* issue) {
  Json json = plain_machine(key, value);
  json["tile"]["issue"] = issue;
  const CommandFolder folder{{"machine.json", json.dump()}};
  const std::string file = (folder.path() / "machine.json").string();
  return config::load_machine(file, config::machine_presets()).tile;
}

/// Issue slots of `program` run in `role`. x10 points at itself, x6 holds kTimes.
constexpr std::uint32_t kTimes = 2000;
inline double slots_of(std::vector<engine::test::Instruction> program, engine::Role role,
                       const TileConfig& tile) {
  using namespace engine::test;
  constexpr std::uint32_t kSelf = 3072;
  program.push_back(r_type(ecall, 0, 0, 0));
  Assembled code(program, role, tile);
  code.context.x[6] = kTimes;
  code.context.x[10] = kSelf;
  code.word(kSelf, kSelf);
  check(code.run(100'000'000).stop == engine::Stop::environment_call, "directions: no end");
  return static_cast<double>(code.context.slots);
}

/// Measures kTimes iterations of a zero-overhead loop over `body`.
inline Metric loop(const std::vector<engine::test::Instruction>& body,
                   engine::Role role = engine::Role::worker, const char* issue = "single") {
  return [=](const std::string& key, double value) {
    using namespace engine::test;
    std::vector<Instruction> program = {
        branch_to(rpt, 6, 0, 4 * (static_cast<int>(body.size()) + 1))};
    program.insert(program.end(), body.begin(), body.end());
    return slots_of(program, role, tile_with(key, value, issue));
  };
}

/// Measures a branch that is taken kTimes - 1 times.
inline Metric branches(engine::Role role, const char* issue) {
  return [=](const std::string& key, double value) {
    using namespace engine::test;
    return slots_of({branch_to(bdnz, 6, 0, 0)}, role, tile_with(key, value, issue));
  };
}

/// A value in report.json, such as time.cycles, of a run of a kernel's point.
inline Metric shipped_run(const Point& point, const std::string& value_path) {
  return [=](const std::string& key, double value) {
    const CommandFolder folder;
    const std::string command = fmt::format("run --out result --threads 2 {} --set machine.{}={}",
                                            point.arguments(), key, value);
    const Answer answer = folder.call(command);
    check(answer.code == 0, "directions: {}: {}", command, answer.err);
    std::string pointer = "/" + value_path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    return folder.json("result/report.json").at(Json::json_pointer(pointer)).get<double>();
  };
}

}  // namespace tessera::test
