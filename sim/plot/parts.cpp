#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/ranges.h"
#include "sim/config/key_path.h"
#include "sim/plot/bar_groups.h"
#include "sim/plot/quantity.h"

namespace tessera::plot {

namespace {

struct KnownPart {
  std::string_view path, name, colour;
};

constexpr std::string_view kBlue = "#0072B2", kOrange = "#E69F00", kGrey = "#A4ADB5",
                           kPink = "#CC79A7", kGreen = "#009E73", kRed = "#D55E00",
                           kSky = "#56B4E9", kPale = "#E4E7E9", kDark = "#5A636D",
                           kYellow = "#F0E442";

constexpr std::array kKnown = {KnownPart{"time.compute_cycles", "compute", kBlue},
                               KnownPart{"time.exchange_cycles", "exchange", kOrange},
                               KnownPart{"time.external_cycles", "external memory", kYellow},
                               KnownPart{"time.sync_cycles", "sync", kGrey},
                               KnownPart{"time.link_cycles", "link", kPink},
                               KnownPart{"time.host_cycles", "host", kGreen},
                               KnownPart{"time.wait_cycles", "wait", kRed},
                               KnownPart{"energy.by_part.instructions", "instructions", kGrey},
                               KnownPart{"energy.by_part.integer", "integer", kSky},
                               KnownPart{"energy.by_part.floating", "floating point", kPink},
                               KnownPart{"energy.by_part.matrix", "matrix unit", kBlue},
                               KnownPart{"energy.by_part.sram", "SRAM", kGreen},
                               KnownPart{"energy.by_part.exchange", "exchange", kOrange},
                               KnownPart{"energy.by_part.host", "host", kYellow},
                               KnownPart{"energy.by_part.external", "external memory", kPale},
                               KnownPart{"energy.by_part.leakage", "leakage", kRed},
                               KnownPart{"energy.by_part.clock", "clock", kDark},
                               KnownPart{"stalls.issued", "issued", kBlue},
                               KnownPart{"stalls.paired", "issued two", kGreen},
                               KnownPart{"stalls.load", "load", kOrange},
                               KnownPart{"stalls.arithmetic", "arithmetic", kPink},
                               KnownPart{"stalls.matrix", "matrix unit", kSky},
                               KnownPart{"stalls.branch", "branch", kRed},
                               KnownPart{"stalls.external", "external memory", kYellow},
                               KnownPart{"stalls.arbitration", "others' turns", kGrey},
                               KnownPart{"stalls.empty", "no worker", kPale}};

/// The parts of time.cycles; other keys of `time` are part of these, or not part of the sum.
constexpr std::array<std::string_view, 6> kTimeParts = {"compute_cycles", "exchange_cycles",
                                                        "sync_cycles",    "link_cycles",
                                                        "host_cycles",    "wait_cycles"};

}  // namespace

PartLook look_of_part(const std::string& path) {
  const auto* const known = std::ranges::find(kKnown, path, &KnownPart::path);
  if (known != kKnown.end()) return {std::string(known->name), std::string(known->colour)};
  std::string name = path.substr(path.rfind('.') + 1);
  std::ranges::replace(name, '_', ' ');
  return {name, ""};
}

std::vector<std::string> parts_of_section(const Rows& rows, const std::string& section) {
  const Json* const found = config::find_at(rows.rows.front().report, section);
  std::vector<std::string> paths;
  if (found == nullptr || !found->is_object()) return paths;
  for (const auto& [key, value] : found->items()) {
    const bool part = section != "time" || contains(kTimeParts, key);
    const std::string path = fmt::format("{}.{}", section, key);
    const bool used = std::ranges::any_of(
        rows.rows, [&](const Row& row) { return number(row, path).value_or(0) != 0; });
    if (part && value.is_number() && used) paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> stacked_paths(const Rows& rows, const std::vector<std::string>& y) {
  std::vector<std::string> paths;
  for (const std::string& path : y) {
    const std::vector<std::string> inner = parts_of_section(rows, path);
    if (inner.empty()) require_path(rows, path, "--y", true);
    paths.insert(paths.end(), inner.begin(), inner.end());
    if (inner.empty()) paths.push_back(path);
  }
  return paths;
}

std::vector<BarPart> looks_of(const std::vector<std::string>& paths) {
  return mapped(paths, look_of_part);
}

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }

}  // namespace tessera::plot
