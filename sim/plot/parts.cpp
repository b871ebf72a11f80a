#include "sim/plot/parts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::plot {
namespace {

struct Known {
  std::string_view path, name, colour;
};

constexpr std::string_view kBlue = "#0072B2", kOrange = "#E69F00", kGrey = "#A4ADB5",
                           kPink = "#CC79A7", kGreen = "#009E73", kRed = "#D55E00",
                           kSky = "#56B4E9", kPale = "#E4E7E9", kDark = "#5A636D",
                           kYellow = "#F0E442";

constexpr std::array kKnown = {Known{"time.compute_cycles", "compute", kBlue},
                               Known{"time.exchange_cycles", "exchange", kOrange},
                               Known{"time.external_cycles", "external memory", kYellow},
                               Known{"time.sync_cycles", "sync", kGrey},
                               Known{"time.link_cycles", "link", kPink},
                               Known{"time.host_cycles", "host", kGreen},
                               Known{"time.wait_cycles", "wait", kRed},
                               Known{"energy.by_part.instructions", "instructions", kGrey},
                               Known{"energy.by_part.integer", "integer", kSky},
                               Known{"energy.by_part.floating", "floating point", kPink},
                               Known{"energy.by_part.matrix", "matrix unit", kBlue},
                               Known{"energy.by_part.sram", "SRAM", kGreen},
                               Known{"energy.by_part.exchange", "exchange", kOrange},
                               Known{"energy.by_part.host", "host", kYellow},
                               Known{"energy.by_part.external", "external memory", kPale},
                               Known{"energy.by_part.leakage", "leakage", kRed},
                               Known{"energy.by_part.clock", "clock", kDark},
                               Known{"stalls.issued", "issued", kBlue},
                               Known{"stalls.paired", "issued two", kGreen},
                               Known{"stalls.load", "load", kOrange},
                               Known{"stalls.arithmetic", "arithmetic", kPink},
                               Known{"stalls.matrix", "matrix unit", kSky},
                               Known{"stalls.branch", "branch", kRed},
                               Known{"stalls.external", "external memory", kYellow},
                               Known{"stalls.arbitration", "others' turns", kGrey},
                               Known{"stalls.empty", "no worker", kPale}};

}  // namespace

PartLook look_of_part(const std::string& path) {
  const auto* const known = std::ranges::find(kKnown, path, &Known::path);
  if (known != kKnown.end()) return {std::string(known->name), std::string(known->colour)};
  std::string name = path.substr(path.rfind('.') + 1);
  std::ranges::replace(name, '_', ' ');
  return {name, ""};
}

}  // namespace tessera::plot
