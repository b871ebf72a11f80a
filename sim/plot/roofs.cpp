#include "sim/plot/roofs.h"

#include <algorithm>

#include "sim/base/errors.h"
#include "sim/isa/table.h"
#include "sim/machine/matrix_unit.h"

namespace tessera::plot {
namespace {

/// Adds a roof, or adds its name to one of the same height.
void add(std::vector<Roof>& roofs, const std::string& name, double per_second) {
  if (per_second <= 0) return;
  const auto same = std::ranges::find(roofs, per_second, &Roof::per_second);
  if (same == roofs.end()) {
    roofs.push_back({name, per_second});
  } else {
    same->name += ", " + name;
  }
}

void highest_first(std::vector<Roof>& roofs) {
  std::ranges::stable_sort(roofs, std::ranges::greater(), &Roof::per_second);
}

Roofs roofs_of(const Row& row, bool of_integers) {
  const auto value = [&](const std::string& path) {
    return number(row, "machine." + path).value_or(0);
  };
  // A tile has one slot per cycle.
  const double slots = value("tiles") * value("clock_ghz") * 1e9;
  const auto widest = [](isa::Mnemonic mnemonic) {
    return static_cast<double>(isa::info(mnemonic).flops);
  };
  Roofs roofs;
  const auto matrix = [&](const std::string& type, MatrixShape shape) {
    const auto key = [&](const char* name) {
      return static_cast<std::uint32_t>(value("tile.matrix_unit." + type + "." + name));
    };
    shape.inputs = key("inputs");
    shape.outputs = key("outputs");
    shape.interval = key("interval");
    if (shape.allowed() && shape.interval != 0)
      add(roofs.flats, "matrix " + type, 2 * shape.macs_per_slot() * slots);
  };
  if (of_integers) {
    matrix("i8", MatrixUnitConfig{}.i8);
    matrix("i16", MatrixUnitConfig{}.i16);
  } else {
    matrix("f16", MatrixUnitConfig{}.f16);
    matrix("f16_f32", MatrixUnitConfig{}.f16_f32);
    matrix("bf16", MatrixUnitConfig{}.bf16);
    matrix("f32", MatrixUnitConfig{}.f32);
    add(roofs.flats, "vector f16", widest(isa::Mnemonic::fma_4h) * slots);
    add(roofs.flats, "vector f32", widest(isa::Mnemonic::fma_2s) * slots);
  }
  highest_first(roofs.flats);
  const double bytes = value("tile.load_bytes_per_slot") + value("tile.store_bytes_per_slot");
  add(roofs.slopes, "local memory", bytes * slots);
  add(roofs.slopes, "exchange", value("fabric.receive_bytes_per_cycle") * slots);
  highest_first(roofs.slopes);
  return roofs;
}

}  // namespace

Roofs roofs_of(const Rows& rows, bool of_integers) {
  Roofs first = roofs_of(rows.rows.front(), of_integers);
  for (const Row& row : rows.rows) {
    const Roofs each = roofs_of(row, of_integers);
    if (each.flats != first.flats || each.slopes != first.slopes) {
      throw UserError(
          "{}: roofline: the machines of the runs differ in size or speed; choose one with --where",
          rows.origin);
    }
  }
  if (first.flats.empty() || first.slopes.empty()) {
    throw UserError("{}: roofline: the runs' machine has no {}", rows.origin,
                    of_integers ? "matrix unit for integers" : "tiles or no clock");
  }
  return first;
}

}  // namespace tessera::plot
