#include "models/energy/energy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/energy/area.h"
#include "models/energy/power.h"
#include "sim/base/errors.h"
#include "sim/machine/nodes.h"

namespace tessera::energy {
namespace {

using isa::Activity;

enum class Part : std::uint8_t {
  instructions,
  integer,
  floating,
  matrix,
  sram,
  exchange,
  host,
  external,
  leakage,
  clock
};
constexpr std::array<const char*, 10> kPartNames = {
    "instructions", "integer", "floating", "matrix",  "sram",
    "exchange",     "host",    "external", "leakage", "clock"};
using Joules = std::array<double, kPartNames.size()>;

double& at(Joules& joules, Part part) { return joules[static_cast<std::size_t>(part)]; }

constexpr double kPico = 1e-12;
constexpr double kBitsPerByte = 8;

/// A larger bank has longer lines: energy grows with the square root of its size (CACTI, Horowitz
/// and MuchiSim agree).
double array_pj_per_byte(const TileConfig& tile, const EnergyConfig& table) {
  return table.sram_pj_per_byte * std::sqrt(bank_kib(tile, table) / table.sram_array_kib);
}

/// Joules per event of each kind that a tile of a class counts.
class Prices {
 public:
  Prices(const TileConfig& tile, const EnergyConfig& table, const Power& power)
      : table_(table),
        voltage_(power.dynamic),
        sram_byte_(joules(array_pj_per_byte(tile, table_) +
                          kBitsPerByte * table_.wire_pj_per_bit_mm * sram_side_mm(tile, table_))),
        wire_byte_um_(joules(kBitsPerByte * table_.wire_pj_per_bit_mm / kMicrometresPerMm)) {}

  [[nodiscard]] double host(Bytes bytes) const {
    return joules(static_cast<double>(bytes.count()) * table_.host_pj_per_byte);
  }

  /// Dynamic energy of tiles' activity and of the bytes they sent and received.
  [[nodiscard]] Joules dynamic(const TileActivity& done, Bytes exchanged) const {
    const auto count = [&](Activity which) {
      return static_cast<double>(done.counts[isa::index(which)]);
    };
    const auto cost = [&](Activity which, double picojoules) {
      return joules(count(which) * picojoules);
    };
    double instructions = 0;
    for (std::size_t i = 0; i < isa::kInstructionClasses; ++i)
      instructions += static_cast<double>(done.counts[i]);
    const double bytes = count(Activity::bytes_loaded) + count(Activity::bytes_stored) +
                         instructions * table_.fetch_bytes + static_cast<double>(exchanged.count());
    Joules parts{};
    at(parts, Part::instructions) = joules(instructions * table_.instruction_pj);
    at(parts, Part::integer) = cost(Activity::integer, table_.integer_pj) +
                               cost(Activity::control, table_.integer_pj) +
                               cost(Activity::memory, table_.integer_pj) +
                               cost(Activity::integer_multiply, table_.integer_multiply_pj) +
                               cost(Activity::integer_divides, table_.integer_divide_pj);
    at(parts, Part::floating) = cost(Activity::float_divides, table_.float_divide_pj) +
                                cost(Activity::activations, table_.activation_pj) +
                                cost(Activity::f32_adds, table_.f32_add_pj) +
                                cost(Activity::f32_multiplies, table_.f32_multiply_pj) +
                                cost(Activity::f16_adds, table_.f16_add_pj) +
                                cost(Activity::f16_multiplies, table_.f16_multiply_pj);
    at(parts, Part::matrix) = cost(Activity::matrix_f16, table_.matrix_f16_pj) +
                              cost(Activity::matrix_f16_f32, table_.matrix_f16_f32_pj) +
                              cost(Activity::matrix_f32, table_.matrix_f32_pj) +
                              cost(Activity::matrix_i8, table_.matrix_i8_pj) +
                              cost(Activity::matrix_i16, table_.matrix_i16_pj) +
                              cost(Activity::matrix_bf16, table_.matrix_bf16_pj);
    at(parts, Part::sram) = bytes * sram_byte_;
    at(parts, Part::exchange) = static_cast<double>(done.byte_micrometres) * wire_byte_um_;
    return parts;
  }

 private:
  /// Converts the table's picojoules at its own voltage to joules at the machine's voltage.
  [[nodiscard]] double joules(double picojoules) const { return picojoules * kPico * voltage_; }

  const EnergyConfig& table_;
  double voltage_;
  double sram_byte_;
  double wire_byte_um_;
};

Bytes exchanged(const TileRecord& record) { return record.sent + record.received; }

/// Energy of external memory, which has its own supply voltage. Of a platform's memory only the
/// measured bytes are known.
double outside_joules(const EnergyConfig& table, const RunResult& result) {
  std::uint64_t bytes =
      result.channels.empty() ? (result.external_read + result.external_written).count() : 0;
  std::uint64_t activates = 0;
  for (const ChannelRecord& channel : result.channels) {
    bytes += channel.bytes_read + channel.bytes_written;
    activates += channel.row_misses + channel.row_conflicts;
  }
  return kPico * (static_cast<double>(bytes) * table.external_pj_per_byte.value_or(0) +
                  static_cast<double>(activates) * table.external_activate_pj);
}

double sum_of(const Joules& joules) {
  double sum = 0;
  for (const double part : joules) sum += part;
  return sum;
}

}  // namespace

EnergyResult account(const MachineConfig& machine, const RunResult& result, Bytes transferred) {
  check(machine.has_energy && result.activity.size() == result.tiles.size(),
        "energy: {} tiles, of {} is known what they did", result.tiles.size(),
        result.activity.size());
  const Power power(machine);
  const double seconds =
      static_cast<double>(result.time.total().count()) / (machine.clock_ghz * 1e9);

  EnergyResult energy;
  energy.node = machine.energy.node;
  energy.volts = power.volts;
  const double nodes = node_count(machine);
  TileActivity sum;
  Joules joules{};
  std::size_t first = 0;
  for (std::size_t kind = 0; kind < power.classes.size(); ++kind) {
    const Prices prices(tile_of_class(machine, kind), machine.energy, power);
    const Power::Class& its = power.classes[kind];
    const std::size_t end = std::min(first + its.count, result.activity.size());
    const double host = prices.host(transferred) * (its.count / nodes);
    const double share =
        (host + its.leakage_watts * seconds + its.clock_watts * seconds) / its.count;
    TileActivity done;
    Bytes moved;
    for (std::size_t i = first; i < end; ++i) {
      done.add(result.activity[i]);
      moved += exchanged(result.tiles[i]);
      energy.tile_joules.push_back(
          sum_of(prices.dynamic(result.activity[i], exchanged(result.tiles[i]))) + share);
    }
    sum.add(done);
    const Joules dynamic = prices.dynamic(done, moved);
    for (std::size_t i = 0; i < joules.size(); ++i) joules[i] += dynamic[i];
    at(joules, Part::host) += host;
    first = end;
  }
  const double external = outside_joules(machine.energy, result);
  at(joules, Part::external) = external;
  for (double& each : energy.tile_joules) each += external / nodes;
  at(joules, Part::leakage) = power.leakage_watts * seconds;
  at(joules, Part::clock) = power.clock_watts * seconds;
  for (std::size_t i = 0; i < joules.size(); ++i)
    energy.joules.emplace_back(kPartNames[i], joules[i]);
  for (std::size_t i = 0; i < isa::index(Activity::floating_slots); ++i)
    energy.work.emplace_back(isa::name_of(static_cast<Activity>(i)), sum.counts[i]);
  energy.work.emplace_back("exchange_byte_micrometres", sum.byte_micrometres);
  energy.mm2 = chip_area(machine);
  return energy;
}

}  // namespace tessera::energy
