#include <csignal>
#include <cstdio>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/base/errors.h"

#include "tools/benchmark/loops.h"

/// Prints how many guest instructions a second one host core executes, exact cycles on and
/// translation included, by engine, beside qemu-riscv32 and the same source compiled for the host.
/// `--json FILE` writes the same.
namespace tessera::benchmark {
namespace {

using Json = nlohmann::ordered_json;

double rate(const Measured& loop, const Timed& timed) {
  constexpr double kGiga = 1e9;
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

void run(const std::string& file) {
  fmt::print("G guest instructions/s\n{:<10} {:>14} {:>14} {:>12} {:>8} {:>8} {:>8}\n", "loop",
             "instructions", "slots", "interpreter", "native", "qemu", "host");
  Json json = Json::array();
  for (const Loop& loop : loops()) {
    const Measured measured = measure(loop);
    print(measured);
    json.push_back(json_of(measured));
  }
  if (file.empty()) return;
  std::ofstream out(file);
  out << json.dump(2) << '\n';
  if (!out) throw UserError(fmt::format("{}: cannot be written", file));
}

}  // namespace
}  // namespace tessera::benchmark

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // ends when nobody reads any more
  try {
    const bool json = argc == 3 && std::string_view(argv[1]) == "--json";
    if (argc != 1 && !json) throw tessera::UserError("tessera_bench [--json FILE]");
    tessera::benchmark::run(json ? argv[2] : "");
    return 0;
  } catch (const tessera::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
