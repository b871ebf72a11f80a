#include "tests/run/directions.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

using namespace tessera;
using namespace tessera::test;
using namespace tessera::engine::test;

namespace {

Direction ratio(const std::string& key, double from, double to, double expected, Metric metric,
                double tolerance = 0.01) {
  return {key, from, to, std::move(metric), expected * (1 - tolerance), expected * (1 + tolerance)};
}
Direction difference(const std::string& key, double from, double to, double expected,
                     Metric metric) {
  return {key, from, to, std::move(metric), expected, expected, true};
}

/// A chain of instructions that each depend on the previous one takes their latencies.
std::vector<Direction> latencies() {
  const auto chain = [](const char* name, const Instruction& instruction) {
    return ratio(fmt::format("tile.latency.{}", name), 3, 12, 4, loop({instruction}));
  };
  return {chain("load", i_type(lw, 10, 10, 0)),
          chain("integer", i_type(addi, 5, 5, 1)),
          chain("integer_multiply", r_type(mul, 5, 5, 5)),
          chain("integer_divide", r_type(divu, 5, 5, 5)),
          chain("f32_add", r_type(fadd_s, 1, 1, 2)),
          chain("f32_multiply", r_type(fmul_s, 1, 1, 2)),
          chain("f32_fma", r_type(fmadd_s, 1, 1, 2, 3)),
          chain("f16_add", r_type(fadd_h, 1, 1, 2)),
          chain("f16_multiply", r_type(fmul_h, 1, 1, 2)),
          chain("f16_fma", r_type(fma_4h, 1, 1, 2, 3)),
          chain("float_move", r_type(fsgnj_s, 1, 1, 1)),
          chain("float_divide", r_type(fdiv_s, 1, 1, 2)),
          chain("square_root", r_type(fsqrt_s, 1, 1, 0)),
          chain("activation", r_type(act_tanh, 1, 1, 0)),
          chain("matrix", r_type(amp_h, 1, 1, 2))};
}

/// Independent instructions wait for their unit, or occupy their slots.
std::vector<Direction> rates() {
  const auto unit = [](const char* key, const Instruction& instruction) {
    return ratio(fmt::format("tile.{}", key), 3, 12, 4, loop({instruction}));
  };
  return {unit("interval.integer_multiply", r_type(mul, 5, 7, 7)),
          unit("interval.integer_divide", r_type(divu, 5, 7, 7)),
          unit("interval.floating", r_type(fadd_s, 1, 2, 3)),
          unit("interval.float_divide", r_type(fdiv_s, 1, 2, 3)),
          unit("interval.activation", r_type(act_exp2, 1, 2, 0)),
          unit("slots.plain", i_type(addi, 5, 7, 1)),
          unit("slots.integer_multiply", r_type(mul, 5, 7, 7)),
          unit("slots.integer_divide", r_type(divu, 5, 7, 7)),
          unit("slots.float_add", r_type(fadd_s, 1, 2, 3)),
          unit("slots.float_multiply", r_type(fmul_h, 1, 2, 3)),
          unit("slots.float_fma", r_type(fma_4h, 1, 2, 3, 4)),
          ratio("tile.slots.float_lanes", 1, 4, 0.25, loop({r_type(fma_4h, 1, 2, 3, 4)})),
          unit("slots.float_divide", r_type(fdiv_s, 1, 2, 3)),
          unit("slots.activation", r_type(act_exp2, 1, 2, 0)),
          ratio("tile.load_bytes_per_slot", 2, 8, 0.25, loop({i_type(fld, 1, 10, 0)})),
          ratio("tile.store_bytes_per_slot", 2, 8, 0.25, loop({s_type(fsd, 1, 10, 8)}))};
}

std::vector<Direction> control() {
  const auto supervisor = engine::Role::supervisor;
  return {ratio("tile.supervisor.plain_cycles", 1, 4, 4,
                loop({i_type(addi, 5, 5, 1)}, supervisor, "barrel")),
          difference("tile.supervisor.load_use_stall_cycles", 5, 9, 4 * 2000,
                     loop({i_type(lw, 5, 10, 0), r_type(isa::Mnemonic::add, 7, 5, 5)}, supervisor,
                          "barrel")),
          ratio("tile.latency.branch_taken", 3, 12, 4, branches(engine::Role::worker, "single")),
          ratio("tile.supervisor.branch_taken_cycles", 3, 12, 4, branches(supervisor, "barrel")),
          ratio("tile.matrix_unit.i8.interval", 2, 8, 4,
                loop({r_type(amp_b, 0, 4, 0)}, engine::Role::worker, "single")),
          ratio("tile.matrix_unit.i16.interval", 2, 8, 4,
                loop({r_type(amp_i16, 0, 4, 0)}, engine::Role::worker, "single")),
          ratio("tile.matrix_unit.bf16.interval", 2, 8, 4,
                loop({r_type(amp_bf16, 0, 4, 0)}, engine::Role::worker, "single"))};
}

/// A kernel's stated law: how a value of its report reacts to a key.
Direction stated(const std::string& key, const Json& law, Metric metric) {
  const double from = law.at("from"), to = law.at("to");
  if (law.contains("between"))
    return {key, from, to, std::move(metric), law.at("between").at(0), law.at("between").at(1)};
  if (law.contains("difference"))
    return difference(key, from, to, law.at("difference"), std::move(metric));
  return ratio(key, from, to, law.at("ratio"), std::move(metric), law.value("tolerance", 0.01));
}

std::vector<Direction> laws() {
  std::vector<Direction> all;
  for (const Point& point : points("laws")) {
    const Metric metric = shipped_run(point, point.facts.at("value"));
    for (const auto& [key, law] : point.facts.at("keys").items())
      all.push_back(stated(key, law, metric));
  }
  return all;
}

std::vector<Direction> directions() {
  std::vector<Direction> all;
  for (const auto& some : {latencies(), rates(), control(), laws()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Paths of all numeric keys of a schema's object, below `path`.
void list_numbers(const Json& schema, const std::string& path, std::set<std::string>& keys) {
  for (const char* choice : {"anyOf", "oneOf"})
    if (schema.contains(choice))
      for (const Json& each : schema.at(choice)) list_numbers(each, path, keys);
  // "integer", or a list of it and "null".
  const Json type = schema.value("type", Json());
  const Json& first = type.is_array() ? type.at(0) : type;
  if (first == "integer" || first == "number") keys.insert(path);
  if (!schema.contains("properties")) return;
  for (const auto& [key, inner] : schema.at("properties").items())
    list_numbers(inner, path.empty() ? key : fmt::format("{}.{}", path, key), keys);
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("every number of the machine moves a run by the amount that its law gives") {
    for (const Direction& each : directions()) {
      CAPTURE(each.key);
      const double before = each.metric(each.key, each.from);
      const double after = each.metric(each.key, each.to);
      CAPTURE(before);
      CAPTURE(after);
      const double moved = each.difference ? after - before : after / before;
      CHECK(moved >= each.least);
      CHECK(moved <= each.most);
    }
  }

  TEST_CASE("a number of the machine without such a run does not exist") {
    const CommandFolder folder;
    const Json schema = parsed_json(folder.call("schema").out);
    std::set<std::string> keys;
    list_numbers(schema.at("properties").at("machine"), "", keys);
    CHECK(keys.size() > 50);
    for (const Direction& each : directions()) keys.erase(each.key);
    // Keys of the vector unit, with one shape for each type, and of a core's program memory are
    // tested in tests/kernels/convnet and gemm.
    keys.erase("tile.program_kib");
    for (const char* const type : {"i8", "i16", "bf16"}) {
      keys.erase(fmt::format("tile.matrix_unit.{}.inputs", type));
      keys.erase(fmt::format("tile.matrix_unit.{}.outputs", type));
    }
    // Joules and mm2 by unit are tested one by one in tests/models/energy.
    std::erase_if(keys, [](const std::string& key) { return key.starts_with("energy."); });
    for (const std::string& left : keys) FAIL_CHECK("no run is bound by machine." << left);
  }
}
