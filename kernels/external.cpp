#include "kernels/external.h"

#include <algorithm>
#include <array>

#include "sim/base/errors.h"

namespace tessera::kernels {

namespace {

constexpr std::array kAll{Loads::apart, Loads::beside};
constexpr config::Names<PinnedLoads, 3> kLoads{
    {{"auto", std::nullopt}, {"apart", Loads::apart}, {"beside", Loads::beside}}};

}  // namespace

void require_external(const MachineConfig& machine, std::string_view what, std::uint64_t bytes,
                      std::string_view key, std::string_view others) {
  const auto refuse = [&](const std::string& why) { throw KeyError(std::string(key), why); };
  if (!machine.has_external)
    refuse(
        fmt::format("found external, allowed {}: the machine has no external memory "
                    "(machine.external)",
                    others));
  if (machine.external.reach != ExternalReach::chip)
    refuse(
        fmt::format("found external, allowed {} if each tile reaches only its own memory "
                    "(machine.external.reach)",
                    others));
  if (bytes > machine.external.bytes())
    refuse(fmt::format("found external: {} are {} bytes, allowed the {} of {} (machine.external)",
                       what, bytes, machine.external.bytes(), machine.external.shown_capacity()));
}

void describe(config::Fields& fields, PinnedLoads& loads) {
  fields.field({"loads",
                "when a round's operands are loaded: apart: before the round; beside: during the "
                "previous round, into a second set of arrays; auto: beside if the machine supports "
                "it (machine.tile.overlap)"},
               loads, kLoads);
}

Loads loads_of(PinnedLoads pinned, const TileConfig& tile) {
  if (pinned == Loads::beside && !tile.overlap)
    throw KeyError("workload.plan.rounds.loads",
                   "found beside, allowed apart: machine.tile.overlap is false");
  return pinned.value_or(tile.overlap ? Loads::beside : Loads::apart);
}

std::span<const Loads> loads_for(std::uint64_t turns, const TileConfig& tile) {
  return std::span(kAll).first(tile.overlap && turns > 1 ? 2 : 1);
}

void require_rounds(bool external, bool pinned) {
  if (external != pinned)
    throw KeyError("workload.plan.rounds",
                   external ? "found none, required if the operands are external"
                            : "found rounds, allowed none if the operands are on tiles");
}

std::uint64_t least_cycles(const MachineConfig& machine, Loads loads, std::uint64_t turns,
                           std::uint64_t working, std::uint64_t moved) {
  const std::uint64_t moving =
      machine.external.least_cycles(moved, machine.tiles, machine.clock_ghz);
  if (loads == Loads::apart) return working + moving;
  return std::max(working + moving / turns, moving + working / turns);
}

std::function<void(std::uint64_t, std::span<std::byte>)> PanelFile::contents(Fill fill) const {
  return [of = *this, fill = std::move(fill)](std::uint64_t offset, std::span<std::byte> into) {
    while (!into.empty()) {
      const std::uint64_t at = offset % of.stride();
      const std::uint64_t bytes = std::min<std::uint64_t>(into.size(), of.stride() - at);
      if (at < of.held)
        fill(offset / of.stride(), at, into.first(std::min<std::uint64_t>(bytes, of.held - at)));
      into = into.subspan(bytes);
      offset += bytes;
    }
  };
}

}  // namespace tessera::kernels
