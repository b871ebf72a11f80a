#include "models/chip/sram.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "sim/base/host_limit.h"
#include "sim/machine/nodes.h"

namespace tessera {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Sram::Sram(const MachineConfig& machine, std::uint64_t used) {
  add(machine.tiles, static_cast<std::uint32_t>(memory_bytes(machine.tile)));
  for (const NodeConfig& node : machine.nodes)
    add(node.count, static_cast<std::uint32_t>(memory_bytes(node.tile)));
  map(used);
}

Sram::Sram(std::uint32_t tiles, std::uint32_t bytes_per_tile) {
  add(tiles, bytes_per_tile);
  map(0);
}

void Sram::add(std::uint32_t tiles, std::uint32_t bytes) {
  Class its{tiles_, tiles, bytes, 0, mapped_, round_up<std::size_t>(bytes, page_bytes())};
  if (!classes_.empty()) {
    const Class& before = classes_.back();
    its.address = before.address + std::uint64_t{before.tiles} * before.bytes;
  }
  classes_.push_back(its);
  tiles_ += tiles;
  mapped_ += its.stride * tiles;
}

void Sram::map(std::uint64_t used) {
  memory_ = DemandZero(mapped_);
  if (memory_.data() == nullptr)
    throw_host_error(
        errno, fmt::format("machine.tiles: the host cannot map {} tiles of {} KiB: {}", tiles_,
                           classes_.front().bytes / 1024, std::strerror(errno)));
  memory_.use_huge_pages(used > mapped_ / 4 * 3);
}

std::optional<Sram::Spot> Sram::find(std::uint64_t address) const {
  for (const Class& its : classes_) {
    const std::uint64_t number = (address - its.address) / its.bytes;
    if (address < its.address || number >= its.tiles) continue;
    return Spot{TileId{its.first + static_cast<std::uint32_t>(number)},
                its.address + number * its.bytes};
  }
  return std::nullopt;
}

}  // namespace tessera
