#include "models/tile/worker_dma.h"

#include <fmt/format.h>

namespace tessera {

WorkerDma::WorkerDma(const ExternalConfig& external, double clock_ghz,
                     const engine::TileMemory& memory, std::span<std::byte> outside)
    : config_(external.worker_dma.value()),
      memory_(memory),
      capacity_(outside.size()),
      store_(outside),
      traffic_(external, clock_ghz, 1, &store_) {}

std::optional<std::string> WorkerDma::refused(const Request& request) const {
  const auto [local, address, bytes, outward] = request;
  if (bytes == 0 || bytes > config_.max_bytes || bytes % config_.align_bytes != 0)
    return fmt::format(
        "transfer of {} bytes, allowed {} to {} in multiples of {} (machine.external.worker_dma)",
        bytes, config_.align_bytes, config_.max_bytes, config_.align_bytes);
  for (const auto& [at, where] : {std::pair(local, "SRAM"), std::pair(address, "external memory")})
    if (at % config_.align_bytes != 0)
      return fmt::format(
          "transfer at address {:#x} of {}, allowed multiples of {} "
          "(machine.external.worker_dma.align_bytes)",
          at, where, config_.align_bytes);
  if (std::uint64_t{local} + bytes > memory_.size)
    return fmt::format("transfer of {} bytes at address {:#x} of SRAM, which ends at {:#x}", bytes,
                       local, memory_.size);
  if (!outward && local < memory_.code_end)
    return fmt::format("transfer to code at address {:#x}", local);
  if (std::uint64_t{address} + bytes > capacity_)
    return fmt::format(
        "transfer of {} bytes at address {:#x} of external memory, which ends at {:#x}", bytes,
        address, capacity_);
  return std::nullopt;
}

void WorkerDma::start(std::uint32_t worker, Cycle at, const Request& request) {
  program::OuterEntry entry{};
  entry.address = request.address;
  entry.local = request.local;
  entry.row_bytes = request.bytes;
  entry.rows = 1;
  entry.outward = request.outward ? 1 : 0;
  traffic_.start(
      {TileId{0}, at, Address(worker), {entry}, {memory_.bytes, memory_.size}, /*exchange=*/0});
}

const std::vector<WorkerDma::Ended>& WorkerDma::advance(Cycle to) {
  ended_.clear();
  for (const OuterTraffic::Ended& each : traffic_.advance(to)) {
    const program::OuterEntry& entry = each.transfer.entries.front();
    const auto address = static_cast<std::uint32_t>(entry.address);
    ended_.push_back({each.transfer.list.count(),
                      {entry.local, address, entry.row_bytes, entry.outward != 0},
                      each.transfer.start,
                      each.begin,
                      each.done});
  }
  return ended_;
}

}  // namespace tessera
