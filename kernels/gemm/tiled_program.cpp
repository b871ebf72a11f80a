#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "kernels/gemm/tiled_product.h"
#include "sim/plan/lower.h"

namespace tessera::gemm {

using kernels::behind;
using kernels::Stored;

plan::Function call_of(const kernels::Codelet& code, const VectorType& type, const Patch& patch,
                       bool kept, Begins begins, Ends ends) {
  const auto tile = [=](const Sizes& sizes) {
    return CoreTile{word(sizes[0] * patch.rows), word(sizes[1] * column_unit(type, patch)),
                    word(least_depth(type) + (kept ? 0 : sizes[2] * depth_unit(type)))};
  };
  const auto sample = [=](const Sizes& sizes) {
    return KeptSample(type, word(sizes[1]), word(sizes[1] + sizes[2]));
  };
  plan::Function made{fmt::format("{} {} {}", shared_code(type, kept), static_cast<int>(begins),
                                  static_cast<int>(ends)),
                      {{}, {}, {1, 0, 2}},
                      [=](const Sizes& sizes, std::span<const Place> of) {
                        const CoreTile each = tile(sizes);
                        std::vector<CoreProduct> workers;
                        for (std::uint32_t w = 0; w < code.contexts; ++w)
                          workers.push_back({&type,
                                             each,
                                             of[0],
                                             of[1],
                                             behind(of[2], w * each.c_bytes(type)),
                                             behind(of[3], w * each.sum_bytes(type)),
                                             of[4],
                                             0,
                                             begins,
                                             ends,
                                             {}});
                        if (kept) {
                          const auto [pairs, steps] = sample(sizes).lists;
                          for (CoreProduct& worker : workers)
                            worker.lists = {behind(of[1], pairs), behind(of[1], steps)};
                        }
                        return code.all(shared_arguments(workers, code.contexts));
                      },
                      [=](const Sizes& sizes) -> std::vector<std::uint64_t> {
                        const CoreTile each = tile(sizes);
                        const std::uint64_t all = code.contexts;
                        return {each.a_bytes(type),
                                kept
                                    ? sample(sizes).bytes.size() + std::size_t{2} * kept_bytes(type)
                                    : each.b_bytes(type),
                                all * each.c_bytes(type), all * each.sum_bytes(type), kZeroBytes};
                      }};
  if (kept)
    made.contents = [=](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
      std::ranges::fill(into, std::byte{});
      if (operand == 1) std::ranges::copy(sample(sizes).bytes, into.begin());
    };
  return made;
}

plan::Function sum_of(const kernels::Codelet& code, const VectorType& type, std::uint32_t shift) {
  return {fmt::format("{} {}", sum_code(type), shift),
          {{code.contexts, std::uint64_t{8} * code.contexts, 32}, {}},
          [=](const Sizes& sizes, std::span<const Place> of) {
            return code.all(code.dealt(
                {shift, word(sizes[0] * kSumBytes), word(sizes[1])}, sizes[0],
                [&](Interval part, kernels::Arguments& into) {
                  into.insert(into.end(), {behind(of[0], part.begin * kSumBytes),
                                           behind(of[1], part.begin * kResultBytes),
                                           word(part.size() * kSumBytes / 4), word(part.size())});
                }));
          },
          [](const Sizes& sizes) -> std::vector<std::uint64_t> {
            return {sizes[0] * kSumBytes * (sizes[1] + 1), sizes[0] * kResultBytes};
          }};
}

plan::Described describe_tiles(const VectorProduct& of, const MachineConfig& machine) {
  const auto p = std::make_shared<const TiledProduct>(of, machine);
  const VectorGrid& grid = p->grid();
  const CoreTile tile = grid.plan.tile();
  const VectorType& type = *grid.type;
  plan::Description d(machine.tiles);
  const auto array_of = [&](std::string_view name, auto bytes, plan::Array made = {}) {
    made.name = name;
    made.bytes = [bytes](Tile at) -> std::uint64_t { return bytes(at); };
    made.align = kSlotAlign;
    made.tiles = p->tiles();
    return Place{d.array(std::move(made))};
  };
  const auto array = [&](std::string_view name, std::uint64_t bytes, plan::Array made = {}) {
    return array_of(
        name, [bytes](Tile) { return bytes; }, std::move(made));
  };
  const Stored a = p->stored_a(d), b = p->stored_b(d);
  CoreProduct whole{
      &type,
      tile,
      array("a tile", tile.a_bytes(type)),
      array("b tile", p->b_buffer_bytes()),
      array_of("c", [p](Tile at) { return std::max<std::uint64_t>(p->c_bytes(at), kSlotAlign); },
               {.keep = true}),
      array("sums", grid.keeps_sums() ? tile.sum_bytes(type) : kSlotAlign),
      array("zeros", kZeroBytes, {.contents = plan::zeros}),
      of.shift};
  if (grid.kept) whole.lists = {p->lists(d), 0U};
  const auto code = kernels::Codelet::of(
      elf::KernelCode("gemm"), d, shared_code(type, grid.kept != nullptr), machine.tile.contexts);
  for (std::uint32_t step = 0; step < grid.steps; ++step) {
    d.exchange(
        "inputs", p->tiles(),
        [=](Tile at, Pulls& pulls) {
          p->pull_a(a, std::get<Place>(whole.a), at, step, pulls);
          p->pull_b(b, std::get<Place>(whole.b), at, step, pulls);
        },
        [=](Tile at) { return p->sent(a, b, at); });
    whole.begins = grid.begins(step);
    whole.ends = grid.ends(step);
    const plan::Function& function =
        d.function(call_of(code, type, grid.patch, grid.kept != nullptr, whole.begins, whole.ends));
    d.compute("product", p->tiles(), [=, &function](Tile at, Calls& calls) {
      calls.add_held(code.all(shared_arguments(p->workers(whole, at, step), code.contexts)),
                     function, p->sizes(at, step));
    });
  }
  if (grid.parts > 1) {
    const auto sums = std::get<Place>(whole.sums), c = std::get<Place>(whole.c);
    const Place parts = array_of("parts", [p, factor = grid.parts * kSumBytes / kResultBytes](
                                              Tile at) { return p->c_bytes(at) * factor; });
    d.exchange("parts", p->tiles(),
               [=](Tile at, Pulls& pulls) { p->pull_sums(sums, parts, at, pulls); });
    const plan::Function& sum = d.function(
        sum_of(kernels::Codelet::of(elf::KernelCode("gemm"), d, sum_code(type), code.contexts),
               type, of.shift));
    d.compute("sums", p->tiles(),
              [=, &sum](Tile at, Calls& calls) { p->add_up(sum, parts, c, at, calls); });
  }
  d.tensor({of.result(), std::get<Place>(whole.c).buffer,
            [p](Tile at, program::Runs& runs) { p->add_runs(at, runs); }});
  return {std::move(d), p->stand_for_all()};
}

program::Program make_tiled_program(const VectorProduct& of, const MachineConfig& machine) {
  return plan::lower(describe_tiles(of, machine).description);
}

}  // namespace tessera::gemm
