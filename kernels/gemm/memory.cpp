#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/gemm/cost.h"
#include "kernels/gemm/panels.h"
#include "sim/program/exchange_compiler.h"
#include "sim/program/placement.h"

namespace tessera::gemm {

namespace {

using program::kReceiveBytes;
using program::kSendBytes;

// Of tile code but the product's, and of argument blocks.
constexpr std::uint64_t kCodeBytes = 1700;
constexpr std::uint64_t kControlBytesPerStep = 64;
constexpr std::uint64_t kArgumentBytes = 32;
constexpr std::uint64_t kWorkerArgumentBytes = 16;
// Buffers packed around each other leave gaps, and a stream that meets a busy port is sent twice.
constexpr std::uint64_t kSpare = 4096;

/// The length of `block_product`: pairs of instructions by phases and by words of partials.
std::uint64_t product_bytes(const BlockShape& block) {
  if (!block.on_unit()) return 1800;
  return std::uint64_t{160} * block.phases + std::uint64_t{12} * block.y_bytes() + 350;
}

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

/// When things happen, in steps of the program.
struct Timetable {
  std::int32_t inputs, product;  ///< the first
  std::int32_t last_inputs, last_product;
  std::int32_t rows;  ///< Y has become rows
  std::int32_t adding, result, end;
};

/// More supersteps than two change no order.
Timetable timetable(const Geometry& geometry) {
  const auto cuts = static_cast<std::int32_t>(std::min(geometry.plan().cuts, 2U));
  Timetable t{};
  t.inputs = geometry.natural() ? 2 : 0;
  t.product = t.inputs + 1;
  t.last_inputs = t.inputs + 2 * (cuts - 1);
  t.last_product = t.last_inputs + 1;
  t.rows = t.last_product + (geometry.natural() ? 1 : 0);
  t.adding = t.rows + (geometry.plan().split_k > 1 ? 2 : 0);
  t.result = t.adding + (geometry.natural() ? 1 : 0);
  t.end = t.result + 1;
  return t;
}

/// The tensors of the fullest tile, placed as the program's are: in the order of program.cpp.
std::uint64_t tensor_bytes(const Geometry& geometry, const MachineConfig& machine) {
  const Holdings h = holdings(geometry, machine);
  const Timetable t = timetable(geometry);
  const bool natural = geometry.natural();
  const bool own_result = geometry.plan().split_k > 1 || geometry.converts();
  std::vector<program::Block> blocks;
  auto add = [&](std::uint64_t bytes, std::int32_t first, std::int32_t last) {
    if (bytes == 0) return;
    program::Block block{};
    block.bytes = bytes;
    block.align = 8;
    block.life = {first, last};
    block.category = program::Category::tensors;
    blocks.push_back(block);
  };
  const std::int32_t result_end = natural ? t.result : t.end;
  const std::int32_t part_end = own_result ? t.adding : result_end;
  if (natural) add(h.wanted, t.result, t.end);
  if (own_result) add(h.result, t.adding, result_end);
  if (!own_result && natural) add(h.y, t.rows, result_end);
  add(h.x, t.inputs, t.last_product);
  add(h.w, t.inputs, t.last_product);
  add(h.y, t.product, natural ? t.rows : part_end);
  add(h.received, t.adding - 1, t.adding);
  for (const auto& [given, ready] : {std::pair{h.x_given, h.x_ready}, {h.w_given, h.w_ready}}) {
    add(given, -1, natural ? 0 : t.last_inputs);
    if (!natural) continue;
    add(ready, 0, 1);
    add(ready, 1, t.last_inputs);
  }
  if (own_result && natural) add(h.y, t.rows, part_end);
  return program::place(blocks, 0, static_cast<std::uint32_t>(t.end)).end;
}

/// Entries of the descriptor lists that layout natural adds.
struct Entries {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// Rows of A are cut where the panels of a part meet; a panel of `units` depth blocks may be two.
Entries x_entries(const Geometry& geometry, std::uint32_t tiles) {
  const std::uint64_t depth = geometry.depth_blocks();
  const std::uint64_t units = geometry.row_parts() * depth;
  const std::uint64_t each = ceil_div(units, std::uint64_t{tiles});
  const bool whole = units % tiles == 0 && (depth % each == 0 || each % depth == 0);
  const std::uint64_t panels = whole ? ceil_div(each, depth) : (each + depth - 2) / depth + 1;
  const std::uint64_t given = stored_bytes(geometry.x_bytes(), tiles);
  const std::uint64_t rows = ceil_div(given, depth * geometry.block().x_bytes());
  const std::uint64_t panels_of_row = ceil_div(depth, each) + (whole ? 0 : 1);
  return {rows * panels_of_row + 2, panels * geometry.rows(0).size() + rows};
}

/// A panel of W is gathered in rows and sent on in as many runs as it has column blocks.
Entries w_entries(const Geometry& geometry, std::uint32_t tiles) {
  const BlockShape& block = geometry.block();
  const std::uint64_t depth = geometry.depth_blocks();
  const std::uint64_t each = ceil_div(geometry.column_parts() * depth, std::uint64_t{tiles});
  const std::uint64_t columns = geometry.column_blocks(0).size();
  const std::uint64_t given = stored_bytes(geometry.w_bytes(), tiles);
  const std::uint64_t portion = geometry.depth_blocks(0, 0).size();
  const std::uint64_t run = columns * block.result_bytes();
  return {given / run + 2 + columns * (each / portion + 2),
          each * block.depth * (1 + run / given) +
              geometry.plan().cuts * columns * (portion / each + 1)};
}

Entries relayout_entries(const Geometry& geometry, const MachineConfig& machine) {
  const Entries x = x_entries(geometry, machine.tiles);
  const Entries w = w_entries(geometry, machine.tiles);
  const std::uint64_t width = geometry.column_blocks(0).size() * geometry.block().result_bytes();
  const std::uint64_t wanted = stored_bytes(geometry.result_bytes(), machine.tiles);
  return {x.sent + w.sent + geometry.rows(0).size() * (1 + width / wanted),
          x.received + w.received + wanted / width + 2};
}

}  // namespace

std::uint64_t lasting_bytes(const Geometry& geometry, const MachineConfig& machine) {
  const Holdings h = holdings(geometry, machine);
  return h.x_ready + h.w_ready + h.y;
}

program::CategoryBytes tile_memory(const Geometry& geometry, const MachineConfig& machine) {
  const Plan& plan = geometry.plan();
  const std::uint64_t x_stored = stored_bytes(geometry.x_bytes(), machine.tiles);
  const std::uint64_t w_stored = stored_bytes(geometry.w_bytes(), machine.tiles);
  const std::uint64_t x = geometry.x_bytes(kFullest, 0);
  const std::uint64_t w = geometry.w_bytes(kFullest, 0);
  const std::uint64_t steps = plan.cuts + 1;
  const std::uint64_t pieces = plan.cuts * (x / x_stored + w / w_stored + 4) + plan.split_k;
  std::uint64_t lists = steps * program::kListHeaderBytes + pieces * kReceiveBytes +
                        (2 * steps + plan.split_k) * kSendBytes;
  std::uint64_t vertices = steps;
  if (geometry.natural()) {
    vertices += 5;  // two panels of X and W each, and Y
    const Entries more = relayout_entries(geometry, machine);
    lists += more.sent * kSendBytes + more.received * kReceiveBytes;
  }
  const std::uint64_t argument_block =
      kArgumentBytes + kWorkerArgumentBytes * machine.tile.contexts;
  program::CategoryBytes memory{};
  const auto of = [&](program::Category category) -> std::uint64_t& {
    return memory[static_cast<std::size_t>(category)];
  };
  of(program::Category::code) = kCodeBytes + product_bytes(geometry.block());
  of(program::Category::control) = vertices * kControlBytesPerStep;
  of(program::Category::exchange) = lists;
  of(program::Category::arguments) = vertices * argument_block;
  of(program::Category::tensors) = tensor_bytes(geometry, machine) + kSpare;
  of(program::Category::stack) =
      machine.tile.supervisor_stack_bytes +
      std::uint64_t{machine.tile.worker_stack_bytes} * machine.tile.contexts;
  return memory;
}

}  // namespace tessera::gemm
