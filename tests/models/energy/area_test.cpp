#include "models/energy/area.h"

#include <set>

#include <doctest/doctest.h>

#include "kernels/catalogue.h"
#include "sim/config/presets.h"
#include "sim/sensitivity/moves.h"

using namespace tessera;

namespace {

const Catalogue& catalogue() {
  static const Catalogue kCatalogue = kernels::catalogue();
  return kCatalogue;
}

double chip_mm2(const MachineConfig& machine) {
  double sum = 0;
  for (const auto& [part, mm2] : energy::chip_area(machine)) sum += mm2;
  return sum;
}

config::Config shipped(const char* machine) {
  const std::string file = fmt::format("{}/configs/runs/quickstart.json", TESSERA_SOURCE);
  const std::vector<std::string> sets = {fmt::format("machine={}", machine)};
  return config::load_config(file, sets, catalogue(), config::machine_presets());
}

}  // namespace

TEST_SUITE("unit") {
  TEST_CASE("area answers to every number that it has a model of, and to no other") {
    const std::set<std::string> none = {
        // These take no area themselves: they are in SRAM, place the tiles, or are of a type that
        // the unit lacks.
        "machine.tile.worker_stack_bytes", "machine.tile.supervisor_stack_bytes",
        "machine.fabric.columns", "machine.energy.area.i8_mac_um2",
        "machine.energy.area.i16_mac_um2", "machine.energy.area.bf16_mac_um2",
        // Other keys need the same hardware; energy_test changes each one where it alone decides.
        "machine.tile.matrix_unit.f16_f32.outputs", "machine.tile.matrix_unit.f16_f32.inputs",
        "machine.tile.matrix_unit.f16_f32.interval", "machine.tile.matrix_unit.f32.outputs",
        "machine.tile.slots.float_add", "machine.tile.slots.float_multiply",
        "machine.tile.slots.float_fma", "machine.tile.interval.integer_divide",
        "machine.tile.interval.float_divide", "machine.tile.interval.activation"};
    const config::Config config = shipped("bow");
    for (const sensitivity::Key& key :
         sensitivity::moved_keys(config, 2, catalogue(), config::machine_presets())) {
      const std::string& path = key.number.path;
      const bool is_table =
          path.starts_with("machine.energy.") && !path.starts_with("machine.energy.area.");
      if (is_table || !key.held.empty()) continue;
      CAPTURE(path);
      bool answers = false;
      for (const sensitivity::End* end : {&key.low, &key.high}) {
        if (!end->value) continue;
        const config::Config moved = sensitivity::config_at(config, key.number, *end->value,
                                                            catalogue(), config::machine_presets());
        answers = answers || chip_mm2(moved.machine) != chip_mm2(config.machine);
      }
      CHECK(answers == (key.area_model && !none.contains(path)));
    }
  }

  TEST_CASE("a preset's chip is as large as the die that its notes cite") {
    for (const char* machine : {"gc200", "bow"})
      CHECK(chip_mm2(shipped(machine).machine) == doctest::Approx(823).epsilon(1e-4));
  }
}
