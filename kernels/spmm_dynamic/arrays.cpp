#include <cstring>

#include "kernels/spmm_dynamic/program.h"

namespace tessera::spmm_dynamic {

void Arrays::fill_bucket(Tile tile, std::uint32_t run, std::span<std::byte> into) const {
  const Cell at = cell(tile);
  const std::vector<std::byte> all = given->pool(run, grid().partition(at));
  std::memcpy(into.data(), &all[at.z * into.size()], into.size());
}

void Arrays::pull_operands(Tile tile, Pulls& pulls) const {
  Cell from = cell(tile);
  const auto pull = [&](BufferId into, BufferId slices, std::uint32_t& part, std::uint32_t parts,
                        const auto& words_of) {
    const std::uint32_t own = part;
    for (part = 0; parts > 1 && part < parts; ++part) {
      const Interval words = words_of(part);
      pulls.push_back({{into, word(words.begin) * kWord},
                       grid().tile(from),
                       {slices},
                       word(words.size()) * kWord});
    }
    part = own;
  };
  const std::uint64_t slice = bytes.pool_slice / kWord;
  pull(pools[0], bucket, from.z, grid().z, [&](std::uint32_t z) {
    return Interval{z * slice, (z + 1) * slice};
  });
  pull(x, x_slice, from.x, grid().x,
       [&](std::uint32_t part) { return bytes.x_part(grid().x, part); });
  if (shape().gradient)
    pull(y, y_slice, from.y, grid().y,
         [&](std::uint32_t part) { return bytes.y_part(grid().y, part); });
}

void Arrays::pull_partials(Tile tile, Pulls& pulls) const {
  Cell at = cell(tile);
  const Interval its = share(at);
  const std::uint32_t size = word(its.size()) * kChunkBytes;
  if (bytes.parts == 1) return pulls.push_back({{results}, tile, partial(0), size});
  std::uint32_t& part = shape().gradient ? at.z : at.y;
  const std::uint32_t own = part;
  std::uint32_t into = 0;
  for (part = 0; part < bytes.parts; ++part) {
    if (part == own) continue;
    pulls.push_back({{received, into}, grid().tile(at), partial(its.begin), size});
    into += size;
  }
}

}  // namespace tessera::spmm_dynamic
