#include "sim/report/buffers.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "sim/program/flow.h"
#include "sim/program/liveness.h"
#include "sim/sweep/tables.h"

namespace tessera::report {
namespace {

struct Range {
  std::string name;
  std::string_view category;
  std::uint64_t address, bytes;
  program::Lifetime life;
  std::uint32_t buffers = 1;

  /// True if `next` lies right behind, but for padding, and is the same kind of thing.
  [[nodiscard]] bool goes_on_with(const Range& next) const {
    constexpr std::uint64_t kPadding = 16;
    return name == next.name && category == next.category && life == next.life &&
           next.address >= address + bytes && next.address < address + bytes + kPadding;
  }
};

std::vector<Range> ranges_of(const program::Program& program, const program::Images& images,
                             TileId tile) {
  const program::Flow flow = program::flatten(program);
  const program::Lifetime always{-1, static_cast<std::int32_t>(flow.steps.size())};
  const program::TileImage& image = images.tiles[index(tile)];
  std::vector<Range> ranges;
  if (image.code != nullptr && !image.code->bytes.empty())
    ranges.push_back({"code", "code", 0, image.code->bytes.size(), always});
  for (std::size_t i = 0; i < image.segments.size(); ++i) {
    // compile() places a tile's arguments, and behind its buffers its descriptor lists.
    const bool lists = i > 0;
    ranges.push_back(
        {lists ? "descriptor lists" : "arguments",
         program::category_name(lists ? program::Category::exchange : program::Category::arguments),
         image.segments[i].address.count(), image.segments[i].bytes.size(), always});
  }
  const std::vector<program::Lifetime> lives = program::lifetimes(program, flow);
  for (std::size_t id = 0; id < lives.size(); ++id) {
    const program::Buffer& buffer = program.buffers()[id];
    if (buffer.tile != tile || !lives[id].used()) continue;
    ranges.push_back({std::string(buffer.name), program::category_name(buffer.category),
                      images.buffer_address[id].count(), buffer.bytes, lives[id]});
  }
  return ranges;
}

}  // namespace

std::string buffers_csv(const MachineConfig& machine, const program::Program& program,
                        const program::Images& images) {
  const TileId tile = program::fullest_tile(images, machine);
  std::vector<Range> ranges = ranges_of(program, images, tile);
  std::ranges::stable_sort(ranges, [](const Range& a, const Range& b) {
    return std::tie(a.life, a.name, a.address) < std::tie(b.life, b.name, b.address);
  });
  std::vector<Range> joined;
  for (Range& range : ranges) {
    if (joined.empty() || !joined.back().goes_on_with(range)) {
      joined.push_back(std::move(range));
      continue;
    }
    joined.back().bytes = range.address + range.bytes - joined.back().address;
    ++joined.back().buffers;
  }
  std::ranges::stable_sort(joined, {}, &Range::address);
  std::string text = "tile,name,category,buffers,address,bytes,first_step,last_step\n";
  for (const Range& range : joined)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", index(tile), sweep::csv_cell(range.name),
                        range.category, range.buffers, range.address, range.bytes, range.life.first,
                        range.life.last);
  return text;
}

}  // namespace tessera::report
