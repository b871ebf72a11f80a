#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/cli/command.h"

using namespace tessera::test;

/// Users' mistakes in configs (KERNEL: any kernel): exit code 2, one message that holds the parts
/// given here, nothing on stdout, no results left.
namespace {

struct ConfigMistake {
  std::string config;
  std::vector<std::string> message;
};

std::string with(const std::string& machine, const std::string& rest = "") {
  return R"({"machine": {"extends": "gc200", )" + machine +
         R"(}, "workload": {"kernel": "KERNEL"})" + rest + "}";
}

const std::vector<ConfigMistake>& config_mistakes() {
  static const std::vector<ConfigMistake> kMistakes = {
      {R"({"workload": {"kernel": "KERNEL"}})",
       {"a.json: machine: is missing, allowed a preset or an object"}},
      {R"({"machine": {"tiles": 2, "energy": {"node": "7 nm"}}, "workload": {"kernel": "KERNEL"}})",
       {"a.json: machine.energy.instruction_pj: is missing",
        "allowed a number from 0 to 1000000 pJ"}},
      {with(R"("energy": {"sram_pj_per_bite": 1})"),
       {"a.json: machine.energy.sram_pj_per_bite: found an unknown key",
        "did you mean sram_pj_per_byte?"}},
      {with(R"("energy": {"f32_add_pj": -1})"),
       {"a.json: machine.energy.f32_add_pj: found -1, allowed a number from 0 to 1000000 pJ"}},
      {with(R"("energy": {"matrix_i16_pj": 0.5})"),
       {"a.json: machine.energy.matrix_i16_pj: found 0.5, allowed 0 (which is not used) without "
        "machine.tile.matrix_unit.i16"}},
      {with(R"("energy": {"area": {"bf16_mac_um2": 9}})"),
       {"a.json: machine.energy.area.bf16_mac_um2: found 9, allowed 0 (which is not used) without "
        "machine.tile.matrix_unit.bf16"}},
      {with(R"("energy": {"external_activate_pj": 2})"),
       {"a.json: machine.energy.external_activate_pj: found 2, allowed 0 (which is not used) "
        "without machine.external"}},
      {with(R"("clock_ghz": 4)"),
       {"a.json: machine.clock_ghz: found 4, allowed 0.5 to 3 GHz, where machine.energy.voltage "
        "has points"}},
      {with(R"("energy": {"voltage": [{"ghz": 1, "volts": 1}, {"ghz": 1, "volts": 2}]})"),
       {"a.json: machine.energy.voltage: found 1 GHz behind 1 GHz, allowed clocks that "
        "rise from point to point"}},
      {with(R"("energy": {"voltage": [{"ghz": 1, "volts": 0}]})"),
       {"a.json: machine.energy.voltage[0].volts: found 0, allowed a number from 0.1 to 10 V"}},
      {with(R"("energy": {"voltage": [], "nominal_volts": 1})"),
       {"a.json: machine.energy.nominal_volts: found 1, which nothing reads"}},
      {with(R"("energy": false)"), {"a.json: machine.energy: found false, allowed an object"}},
      {with(R"("fabric": {"kind": "ideal", "send_bytes_per_cycle": 8})"),
       {"a.json: machine.fabric.send_bytes_per_cycle: found 8, which nothing reads as "
        "machine.fabric.kind stands"}},
      {with(R"("fabric": {"kind": "ideal", "cycles_per_hop": 0})"),
       {"a.json: machine.fabric.cycles_per_hop: found 0, which nothing reads"}},
      {with(R"("tiles": 8, "fabric": {"columns": 5})"),
       {"a.json: machine.fabric.columns: found 5, allowed at most the 4 pairs of 8 tiles"}},
      {R"({"machine": "bow", "workload": {}})",
       {"a.json: workload.kernel: is missing, allowed", "KERNEL"}},
      {R"({"machine": "bow", "workload": {"kernel": "KERNELx"}})",
       {"a.json: workload.kernel: found \"KERNELx\", allowed", "did you mean KERNEL?"}},
      {R"({"machine": "bow", "workload": {"kernel": 3}})",
       {"a.json: workload.kernel: found 3, allowed"}},
      {R"({"machine": "bow", "workload": "KERNEL"})",
       {"a.json: workload: found \"KERNEL\", allowed an object {\"kernel\": ...}"}},
      {with(R"("tiles": 2)", R"(, "runn": {})"),
       {"a.json: runn: found an unknown key, allowed extends, machine", "did you mean run?"}},
      {with(R"("tiles": 2)", R"(, "report": {"traces": "tiles"})"),
       {"a.json: report.traces: found an unknown key, allowed out", "did you mean trace?"}},
      {with(R"("tiles": 2)", R"(, "report": {"trace": "tile"})"),
       {"a.json: report.trace: found \"tile\", allowed none, phases, tiles",
        "did you mean tiles?"}},
      {with(R"("tiles": 2)", R"(, "report": {"trace": "tiles", "trace_tiles": "0,2-3"})"),
       {"a.json: report.trace_tiles: found tile 2, allowed 0 to 1"}},
      {with(R"("tiles": 2)", R"(, "report": {"trace_limit_mib": 0})"),
       {"a.json: report.trace_limit_mib: found 0, allowed an integer from 1 to 1048576 MiB"}},
      {R"({"machine": "bw", "workload": {"kernel": "KERNEL"}})",
       {"a.json: machine.extends: found \"bw\", allowed a preset (aie2_2x2, aie2_3x3, aie2_4x4, "
        "aie2_5x5, aie2_6x6, aie2_7x7, aie2_8x8, bow, gc2, gc200, hammerblade, "
        "upmem, wormhole, wse2, xdna1)",
        "did you mean bow?"}},
      {R"({"machine": 3, "workload": {"kernel": "KERNEL"}})",
       {"a.json: machine: found 3, allowed an object"}},
      {with(R"("tile": {"sram_kb": 64})"),
       {"a.json: machine.tile.sram_kb: found an unknown key", "did you mean sram_kib?"}},
      {with(R"("tiles": 0)"),
       {"a.json: machine.tiles: found 0, allowed an integer from 1 to 1048576"}},
      {with(R"("tiles": 1.5)"), {"a.json: machine.tiles: found 1.5, allowed an integer"}},
      {with(R"("tiles": 1e9)"),
       {"a.json: machine.tiles: found 1000000000.0, allowed an integer from 1 to 1048576"}},
      {with(R"("tile": {"sram_kib": -1})"),
       {"a.json: machine.tile.sram_kib: found -1, allowed an integer from 1 to 1048576 KiB"}},
      {with(R"("clock_ghz": "1.85")"),
       {"a.json: machine.clock_ghz: found \"1.85\", allowed a number from 0.001 to 1000 GHz"}},
      {with(R"("clock_ghz": 0)"),
       {"a.json: machine.clock_ghz: found 0, allowed a number from 0.001"}},
      {with(R"("clock_ghz": 1e999)"), {"a.json", "1e999"}},
      {with(R"("tile": {"dual_issue": 1})"),
       {"a.json: machine.tile.dual_issue: found 1, allowed true or false"}},
      {with(R"("tile": [])"), {"a.json: machine.tile: found [], allowed an"}},
      {with(R"("fabric": {"kind": "schedule"})"),
       {"a.json: machine.fabric.kind: found \"schedule\", allowed scheduled, ideal, streams",
        "did you mean scheduled?"}},
      {with(R"("tile": {"issue": "single"})"),
       {"machine.tile.contexts: found 6, allowed 1 with issue single"}},
      {with(R"("tiles": 2)", R"(, "run": {"check": "fast"})"),
       {"a.json: run.check: found \"fast\", allowed auto, full, sample, off"}},
      {R"({"extends": "b.json"})", {"a.json: extends: found b.json, which does not exist"}},
      {R"({"extends": "a.json"})",
       {"a.json: extends: extends a.json, which extends this file in turn"}},
      {R"({"extends": ["b.json"]})",
       {"a.json: extends: found [\"b.json\"], allowed the name of a file"}},
      {R"({"machine": {"extends": "gc2", "tiles": 2},
           "workload": {"kernel": "KERNEL", "elements_per_worker": 60000}})",
       {"tensors", "over by", "262144"}},
  };
  return kMistakes;
}

}  // namespace

TEST_SUITE("cli") {
  TEST_CASE("a mistake in a config is refused with file, key path, found and allowed") {
    for (const ConfigMistake& mistake : config_mistakes()) {
      INFO(mistake.config);
      const CommandFolder folder{{"a.json", with_kernel(mistake.config)}};
      check_refused(folder, "run a.json", with_kernel(mistake.message));
    }
  }

  TEST_CASE("check of a machine's file prints what it comes to, or names the key that is wrong") {
    const CommandFolder folder{
        {"m.json", R"({"$schema": "machine.schema.json", "extends": "bow", "tiles": 8})"}};
    const Answer answer = folder.done("check m.json");
    CHECK(answer.out.starts_with("bow, m.json: 8 tiles, 1.85 GHz\n  tile      624 KiB of SRAM"));
    check_holds(answer.out, {"  fabric    scheduled, 4 bytes sent", "  external  none\n"});
    folder.write("w.json", R"({"extends": "wormhole"})");
    check_holds(
        folder.done("check w.json").out,
        {"(114.4 MiB in all)", "  external  12 DRAM channels, 1024 MiB and 24 GB/s each\n"});
    folder.write("w2.json", R"({"extends": "wse2", "tiles": 850000})");
    CHECK(holds(folder.done("check w2.json").out, "48 KiB of SRAM (38.91 GiB in all)"));
    folder.write("u.json", R"({"extends": "upmem"})");
    CHECK(holds(folder.done("check u.json").out,
                "  external  1 DRAM channel, 64 MiB and 2.4 GB/s each, for each tile\n"));
    const std::string run = R"({"machine": "m.json", "workload": {"kernel": "KERNEL"}})";
    folder.write("run.json", with_kernel(run));
    folder.done("check run.json");
    const std::pair<const char*, std::string> mistakes[] = {
        {R"({"extends": "bow", "tile": {"sram_kb": 3}})",
         "b.json: tile.sram_kb: found an unknown key"},
        {R"({"extends": "bow", "tilez": 3})", "b.json: tilez: found an unknown key"},
        {R"({"extends": "bw", "tiles": 3})", "b.json: extends: found \"bw\", allowed a preset"},
        {R"({"extends": "bow", "tiles": 0})", "b.json: tiles: found 0, allowed"},
        {R"({"tiles": 3, "energy": {"node": "7 nm"}})",
         "b.json: energy.instruction_pj: is missing"}};
    for (const auto& [text, message] : mistakes) {
      folder.write("b.json", text);
      check_refused(folder, "check b.json", {message});
    }
    check_refused(folder, "check m.json --set tiles=3", {"--set: found beside the machine m.json"});
    check_refused(folder, "schema --machine --markdown", {"--machine: found beside --markdown"});
  }
}
