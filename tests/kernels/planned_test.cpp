#include "tests/kernels/planned.h"

#include <map>

#include <doctest/doctest.h>

#include "tests/kernels/unit_shapes.h"

using namespace tessera;
using namespace tessera::test;

/// Checks the lists `planned` and `larger_units` of kernels' points: properties of plans, without
/// running them.
namespace {

using Size = std::pair<std::uint32_t, std::uint32_t>;

Size size_of(MachineConfig machine, const Types& types) {
  const MatrixShape& unit = shape_of(machine, types);
  return unit.exists() ? Size(unit.inputs, unit.outputs) : Size(0, 0);
}

/// Machines without a matrix unit, and with square and oblong units for these types. f16 with f32
/// partials gets the largest allowed shape within the unit's.
std::vector<MachineConfig> growing_machines(const Types& types) {
  constexpr Size kUnits[] = {{4, 4},   {8, 8},   {16, 16}, {32, 32},
                             {64, 64}, {16, 64}, {64, 16}, {128, 128}};
  std::vector<MachineConfig> machines{small_machine(1)};
  MatrixUnitConfig& none = machines.front().tile.matrix_unit;
  none.f16.outputs = none.f16_f32.outputs = none.f32.outputs = 0;
  for (const auto& [inputs, outputs] : kUnits) {
    MachineConfig machine = machines.front();
    for (MatrixShape* shape : {&shape_of(machine, types), &machine.tile.matrix_unit.f16_f32}) {
      shape->inputs = inputs;
      shape->outputs = outputs;
      while (shape != &shape_of(machine, types) && !shape->allowed()) shape->outputs /= 2;
    }
    if (shape_of(machine, types).allowed()) machines.push_back(machine);
  }
  return machines;
}

/// Predicted cycles may grow by at most 5 % when the unit gets larger.
void check_larger(const Point& point, const Types& types) {
  std::map<Size, std::uint64_t> taken;
  for (const MachineConfig& machine : growing_machines(types)) {
    const Size size = size_of(machine, types);
    const std::uint64_t its = taken[size] =
        planned(with(point, unit_of(machine)))["predicted"]["cycles"];
    for (const auto& known : taken) {
      const Size smaller = known.first;
      const std::uint64_t more = known.second;
      if (smaller.first <= size.first && smaller.second <= size.second)
        CHECK_MESSAGE(20 * its <= 21 * more, point.describe(), ": ", smaller.first, " x ",
                      smaller.second, " takes ", more, ", ", size.first, " x ", size.second, " ",
                      its);
    }
  }
}

}  // namespace

TEST_SUITE("run") {
  TEST_CASE("plans are as kernels state, alone and beside other plans") {
    for (const Point& stated : points("planned"))
      for (const Point& point : combinations(stated)) {
        const InFolder folder(point);
        point.facts.contains("along") ? check_along(point) : check_planned(point);
      }
  }

  TEST_CASE("no larger matrix unit makes a kernel slower") {
    for (const Point& stated : points("larger_units"))
      for (const Point& point : combinations(stated))
        for (const Types& types : kTypes) check_larger(with_types(point, types), types);
  }
}
