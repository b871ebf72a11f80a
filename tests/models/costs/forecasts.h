#pragma once

#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "kernels/catalogue.h"
#include "models/costs/forecaster.h"
#include "sim/config/config.h"
#include "sim/config/presets.h"
#include "tests/kernels/points.h"

namespace tessera::test {

using Sets = std::vector<std::string>;

inline const Catalogue& kernels_of() {
  static const Catalogue kCatalogue = kernels::catalogue();
  return kCatalogue;
}

/// The config of a kernel's point on 16 tiles, with one more key set if `moved` is given.
inline config::Config moved_config(const Point& point, const std::string& moved = "") {
  Sets sets = point.sets;
  sets.insert(sets.end(), {"machine.tiles=16", "run.measure=host"});
  if (!moved.empty()) sets.push_back(moved);
  const std::string file = fmt::format("{}/configs/runs/{}.json", TESSERA_SOURCE, point.config);
  return config::load_config(file, sets, kernels_of(), config::machine_presets());
}

inline std::string text_of(const sensitivity::Answer& answer) {
  return fmt::format("{} {} {} {} {} {}", answer.error, answer.plan, answer.problem, answer.seconds,
                     answer.joules.value_or(-1), answer.mm2.value_or(-1));
}

/// Perturbed keys of all kinds: with and without effect, of plans, memory, fabric, only energy.
inline const Sets& moves() {
  static const Sets kMoves = {"machine.tile.latency.load=12",
                              "machine.tile.latency.square_root=12",
                              "machine.tile.slots.plain=2",
                              "machine.tile.supervisor.launch_cycles=12",
                              "machine.tile.store_bytes_per_slot=4",
                              "machine.tile.contexts=3",
                              "machine.tile.supervisor_stack_bytes=512",
                              "machine.tile.sram_kib=300",
                              "machine.tile.sram_kib=8",
                              "machine.tiles=8",
                              "machine.fabric.send_bytes_per_cycle=8",
                              "machine.fabric.fixed_cycles=200",
                              "machine.sync.chip_cycles=45",
                              "machine.clock_ghz=0.925",
                              "machine.host.gigabytes_per_second=32",
                              "machine.energy.wire_pj_per_bit_mm=0.2",
                              "machine.energy.area.rest_mm2_per_tile=1"};
  return kMoves;
}

/// The answer of a new forecaster, without any cached state.
inline std::string forecast_alone(const config::Config& config) {
  try {
    return text_of(Forecaster(config)(config));
  } catch (const UserError& error) {
    return text_of({error.what()});
  }
}

/// Two threads ask one forecaster for a point's perturbations: each every second one, and both
/// every fourth. Each answer must equal that of a new forecaster, and the base's answer must not
/// change.
inline void check_forecasts(const Point& point, const Sets& asked) {
  CAPTURE(point.describe());
  const config::Config base = moved_config(point);
  Forecaster warm(base);
  const std::string first = text_of(warm(base));
  std::vector<std::string> found[2];
  std::vector<std::thread> threads;
  for (std::size_t half = 0; half < 2; ++half) {
    found[half].resize(asked.size());
    threads.emplace_back([&, half] {
      for (std::size_t i = 0; i < asked.size(); ++i)
        if (i % 4 == 0 || i % 2 == half)
          found[half][i] = text_of(warm(moved_config(point, asked[i])));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    CAPTURE(asked[i]);
    const std::string alone = forecast_alone(moved_config(point, asked[i]));
    for (std::size_t half = 0; half < 2; ++half)
      if (i % 4 == 0 || i % 2 == half) CHECK(found[half][i] == alone);
  }
  CHECK(text_of(warm(base)) == first);
}

}  // namespace tessera::test
