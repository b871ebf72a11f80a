#include "kernels/external.h"

#include <algorithm>

#include "sim/base/errors.h"

namespace tessera::kernels {

void require_external(const MachineConfig& machine, std::string_view what, std::uint64_t bytes) {
  if (!machine.has_external)
    throw KeyError("workload.operands",
                   "found external, allowed tiles: the machine has no memory outside "
                   "(machine.external)");
  if (machine.external.reach != ExternalReach::chip)
    throw KeyError("workload.operands",
                   "found external, allowed tiles where each tile reaches memory of its own alone "
                   "(machine.external.reach)");
  if (bytes > machine.external.bytes())
    throw KeyError(
        "workload.operands",
        fmt::format("found external: {} are {} bytes, allowed the {} of {} "
                    "(machine.external)",
                    what, bytes, machine.external.bytes(), machine.external.shown_capacity()));
}

void require_rounds(bool external, bool pinned) {
  if (external != pinned)
    throw KeyError("workload.plan.rounds",
                   external ? "found none, needed where the operands are external"
                            : "found rounds, allowed none where the operands are on tiles");
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
