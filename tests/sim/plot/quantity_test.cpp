#include "sim/plot/quantity.h"

#include <vector>

#include <doctest/doctest.h>

#include "sim/plot/pivot.h"

using namespace tessera::plot;

TEST_SUITE("unit") {
  TEST_CASE("a key becomes a label with its unit and the prefix that its numbers want") {
    CHECK(quantity_of("time.cycles", 27098).title() == "time (cycles)");
    CHECK(quantity_of("time.compute_cycles", 5).title() == "compute time (cycles)");
    CHECK(quantity_of("time.seconds", 1.4e-5).title() == "time (µs)");
    CHECK(quantity_of("rate.useful_flops_per_second", 3.6e13).title() == "useful rate (TFLOP/s)");
    CHECK(quantity_of("rate.useful_flops_per_second", 3.6e13).scale == doctest::Approx(1e-12));
    CHECK(quantity_of("memory.max_tile_bytes", 45000).title() == "max tile memory (kB)");
    CHECK(quantity_of("traffic.max_tile_sent", 45).title() == "max tile sent traffic (B)");
    CHECK(quantity_of("rate.fraction_of_peak", 0.5).title() == "fraction of peak");
    CHECK(quantity_of("prediction.cycles", 5).title() == "predicted time (cycles)");
    CHECK(quantity_of("prediction.joules", 5).title() == "predicted energy (J)");
    CHECK(quantity_of("prediction.area_mm2", 5).title().starts_with("predicted area"));
    CHECK(quantity_of("machine.tile.sram_kib", 624).title() == "tile sram (KiB)");
    CHECK(quantity_of("energy.joules", 0.12).title() == "energy (mJ)");
    CHECK(quantity_of("energy.by_part.sram", 0.12).title() == "by part sram energy (mJ)");
    CHECK(quantity_of("energy.area_mm2.sram", 290).title() == "area of sram (mm2)");
    CHECK(quantity_of("energy.watts", 160).title() == "power (W)");
    CHECK(quantity_of("energy.flops_per_joule", 1.1e12).title() == "efficiency (TFLOP/J)");
    CHECK(quantity_of("workload.block", 16).title() == "block");
  }

  TEST_CASE("values that step by factors are geometric, those that step by differences are not") {
    const auto geometric = [](std::vector<double> values) { return is_geometric(values); };
    CHECK(geometric({1, 4, 8, 16}));
    CHECK(geometric({1472, 64, 256}));
    CHECK(geometric({0.0625, 0.25, 0.125}));
    CHECK_FALSE(geometric({1, 2, 3}));
    CHECK_FALSE(geometric({10, 20, 30, 41}));
    CHECK_FALSE(geometric({0, 1, 10, 100}));
    CHECK_FALSE(geometric({1, 16}));
    CHECK_FALSE(geometric({}));
  }

  TEST_CASE("more of a rate is better, less of anything else") {
    CHECK(more_is_better("rate.fraction_of_peak"));
    CHECK(more_is_better("energy.flops_per_joule"));
    CHECK_FALSE(more_is_better("energy.joules"));
    CHECK_FALSE(more_is_better("time.cycles"));
    CHECK_FALSE(more_is_better("memory.max_tile_bytes"));
  }

  TEST_CASE("values that name series have their units") {
    const auto named = [](const char* path, const Json& value) {
      return named_value({{{path, value}}, Json::object()}, path);
    };
    CHECK(named("machine.tile.sram_kib", 64) == "tile sram 64 KiB");
    CHECK(named("machine.tiles", 4) == "tiles 4");
    CHECK(named("workload.dtype", "f16") == "f16");
  }
}
