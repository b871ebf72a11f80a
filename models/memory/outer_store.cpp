#include "models/memory/outer_store.h"

#include <cerrno>
#include <cstring>

#include "sim/base/host_limit.h"

namespace tessera {

OuterStore::OuterStore(const ExternalConfig& config, std::uint32_t tiles)
    : spaces_(config.reach == ExternalReach::tile ? tiles : 1), bytes_per_space_(config.bytes()) {
  std::size_t all = 0;
  int error = ENOMEM;
  if (!__builtin_mul_overflow(spaces_, bytes_per_space_, &all)) {
    memory_ = DemandZero(all);
    error = errno;
    base_ = memory_.data();
  }
  if (base_ == nullptr)
    throw_host_error(
        error, fmt::format("machine.external.mib_per_channel: the host cannot map {} x {} channels "
                           "of {} MiB: {}",
                           spaces_, config.channels, config.mib_per_channel, std::strerror(error)));
  if (spaces_ > 1) memory_.use_huge_pages(false);
}

std::span<std::byte> OuterStore::bytes(TileId tile, std::uint64_t address,
                                       std::uint64_t count) const {
  const std::uint64_t space = spaces_ > 1 ? index(tile) : 0;
  if (space >= spaces_ || address > bytes_per_space_ || count > bytes_per_space_ - address)
    throw UserError(
        "external memory of tile {}: {} bytes at {:#x} do not lie within "
        "its {} bytes",
        index(tile), count, address, bytes_per_space_);
  return {base_ + space * bytes_per_space_ + address, static_cast<std::size_t>(count)};
}

}  // namespace tessera
