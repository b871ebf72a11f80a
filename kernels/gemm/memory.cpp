#include <algorithm>

#include "kernels/gemm/cost.h"
#include "kernels/gemm/panels.h"

namespace tessera::gemm {

namespace {

// Of a descriptor list: header, send and receive entries; of tile code and argument blocks.
constexpr std::uint64_t kListBytes = 16;
constexpr std::uint64_t kSendBytes = 12;
constexpr std::uint64_t kReceiveBytes = 16;
constexpr std::uint64_t kCodeBytes = 3072;
constexpr std::uint64_t kControlBytesPerStep = 64;
constexpr std::uint64_t kArgumentBytes = 32;
constexpr std::uint64_t kWorkerArgumentBytes = 16;
// Buffers packed around each other leave gaps, and a stream that meets a busy port is sent twice.
constexpr std::uint64_t kSpare = 4096;

constexpr Cell kFullest{0, 0, 0};  // even splits put the larger parts first

/// What the fullest tile holds at one time or another.
struct Holdings {
  std::uint64_t x_given, w_given;  ///< before the run
  std::uint64_t x_ready, w_ready;  ///< panels, or what is given
  std::uint64_t x, w, y;           ///< for one superstep of the product
  std::uint64_t received;          ///< partials of other tiles
  std::uint64_t result;
  std::uint64_t wanted;  ///< of C in rows
};

Holdings holdings(const Geometry& geometry, const MachineConfig& machine) {
  Holdings h{};
  const std::uint32_t parts = geometry.plan().split_k;
  h.x_given = h.x_ready = stored_bytes(geometry.x_bytes(), machine.tiles);
  h.w_given = h.w_ready = stored_bytes(geometry.w_bytes(), machine.tiles);
  h.x = geometry.x_bytes(kFullest, 0);
  h.w = geometry.w_bytes(kFullest, 0);
  h.y = geometry.y_bytes(kFullest);
  h.received = geometry.y_share(kFullest).size() * (parts - 1);
  if (parts > 1 || geometry.converts()) h.result = geometry.result_bytes(kFullest);
  if (geometry.natural()) {
    h.x_ready = Panels(geometry, Storage::Role::x, machine.tiles).bytes_on(0);
    h.w_ready = Panels(geometry, Storage::Role::w, machine.tiles).bytes_on(0);
    h.wanted = stored_bytes(geometry.result_bytes(), machine.tiles);
  }
  return h;
}

/// Tensors that live together.
std::uint64_t tensor_bytes(const Geometry& geometry, const MachineConfig& machine) {
  const Holdings h = holdings(geometry, machine);
  const std::uint64_t ready = h.x_ready + h.w_ready;
  const std::uint64_t product = ready + h.y + h.x + h.w;
  if (!geometry.natural()) return std::max(product, ready + h.y + h.received + h.result);
  const std::uint64_t gathering = h.x_given + h.w_given + ready;
  const std::uint64_t packed = geometry.converts() ? h.result : 0;
  return std::max({gathering, 2 * ready, product, 2 * h.y + packed, h.y + h.received + h.result,
                   std::max(h.y, h.result) + h.wanted});
}

/// Entries of the descriptor lists that layout natural adds.
struct Entries {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};
Entries relayout_entries(const Geometry& geometry, const MachineConfig& machine) {
  Entries entries;
  for (const Storage::Role role : {Storage::Role::x, Storage::Role::w}) {
    const bool x = role == Storage::Role::x;
    const std::uint64_t given =
        stored_bytes(x ? geometry.x_bytes() : geometry.w_bytes(), machine.tiles);
    std::uint64_t sends = 0;
    for (const Panel& panel : Panels(geometry, role, machine.tiles).on_tile(0)) {
      const std::uint64_t run = panel.chunks * panel.chunk_bytes;
      entries.received += panel.rows * (1 + run / given);
      sends = std::max(sends, given / run + 2);
    }
    entries.sent += sends;
  }
  const std::uint64_t width = geometry.column_blocks(0).size() * geometry.block().result_bytes();
  const std::uint64_t wanted = stored_bytes(geometry.result_bytes(), machine.tiles);
  entries.received += wanted / width + 2;
  entries.sent += geometry.rows(0).size() * (1 + width / wanted);
  return entries;
}

}  // namespace

std::uint64_t tile_bytes(const Geometry& geometry, const MachineConfig& machine) {
  const Plan& plan = geometry.plan();
  const std::uint64_t x_stored = stored_bytes(geometry.x_bytes(), machine.tiles);
  const std::uint64_t w_stored = stored_bytes(geometry.w_bytes(), machine.tiles);
  const std::uint64_t x = geometry.x_bytes(kFullest, 0);
  const std::uint64_t w = geometry.w_bytes(kFullest, 0);
  const std::uint64_t steps = plan.cuts + 1;
  const std::uint64_t arguments =
      steps * (kArgumentBytes + kWorkerArgumentBytes * machine.tile.contexts);
  const std::uint64_t pieces = plan.cuts * (x / x_stored + w / w_stored + 4) + plan.split_k;
  std::uint64_t lists =
      steps * kListBytes + pieces * kReceiveBytes + (2 * steps + plan.split_k) * kSendBytes;
  if (geometry.natural()) {
    const Entries more = relayout_entries(geometry, machine);
    lists += more.sent * kSendBytes + more.received * kReceiveBytes;
  }
  const std::uint64_t code = kCodeBytes + steps * kControlBytesPerStep +
                             machine.tile.supervisor_stack_bytes +
                             std::uint64_t{machine.tile.worker_stack_bytes} * machine.tile.contexts;
  return tensor_bytes(geometry, machine) + arguments + lists + code + kSpare;
}

}  // namespace tessera::gemm
