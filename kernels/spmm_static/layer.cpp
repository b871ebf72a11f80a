#include "kernels/spmm_static/layer.h"

#include <algorithm>
#include <numeric>

#include "sim/base/types.h"

namespace tessera::spmm_static {

namespace {

std::vector<std::uint32_t> columns_of(const Deal& deal, std::uint64_t first, std::uint64_t last) {
  const auto at = [&](std::uint64_t e) {
    return deal.column.begin() + static_cast<std::ptrdiff_t>(e);
  };
  std::vector<std::uint32_t> columns(at(first), at(last));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

Share make_share(const Deal& deal, std::uint32_t place, std::uint64_t first, std::uint64_t last) {
  Share share{place, first, last, {}, columns_of(deal, first, last)};
  for (std::uint64_t e = first; e < last; ++e) {
    if (share.rows.empty() || share.rows.back().row != deal.row[e]) {
      share.rows.push_back({deal.row[e], e, e});
    }
    share.rows.back().last = e + 1;
  }
  return share;
}

}  // namespace

std::vector<std::uint32_t> tiles_by_band(const std::vector<std::uint64_t>& blocks,
                                         std::uint32_t tiles, std::uint32_t grain) {
  const auto bands = static_cast<std::uint32_t>(blocks.size());
  const std::uint64_t total = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  std::vector<std::uint32_t> by_band;
  std::uint32_t used = 0;
  for (std::uint32_t band = 0; band < bands; ++band) {
    const std::uint32_t later = (bands - 1 - band) * grain;  // the least that others need
    if (used + grain + later > tiles) return {};
    auto wanted = static_cast<std::uint32_t>(blocks[band] * tiles / total);
    wanted = std::max(wanted, grain);
    const std::uint64_t each = ceil_div(blocks[band], std::uint64_t{wanted});
    const auto needed = static_cast<std::uint32_t>(ceil_div(blocks[band], each));
    wanted = std::min(round_up(needed, grain), wanted);
    if (band + 1 == bands) wanted = tiles - used;
    wanted = std::max(wanted / grain * grain, grain);
    by_band.push_back(std::min(wanted, tiles - used - later));
    used += by_band.back();
  }
  return by_band;
}

Layer make_layer(const Deal& deal, std::uint32_t tiles, std::uint32_t grain, bool even_rows) {
  Layer layer{tiles, {}};
  const std::vector<std::uint32_t> by_band = tiles_by_band(deal.bands.blocks, tiles, grain);
  std::uint32_t place = 0;
  for (std::uint32_t band = 0; band < by_band.size(); ++band) {
    const std::uint64_t end = deal.band_begin[band + 1];
    const std::uint64_t each = ceil_div(deal.bands.blocks[band], std::uint64_t{by_band[band]});
    std::uint64_t first = deal.band_begin[band];
    for (std::uint32_t t = 0; t < by_band[band] && first < end; ++t) {
      std::uint64_t last = std::min(deal.band_begin[band] + (t + 1) * each, end);
      if (even_rows && last < end && deal.value_begin[last] % 2 == 1) ++last;
      if (last > first) layer.shares.push_back(make_share(deal, place + t, first, last));
      first = std::max(first, last);
    }
    place += by_band[band];
  }
  return layer;
}

}  // namespace tessera::spmm_static
