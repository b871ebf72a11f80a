#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "kernels/spmm_static/partition.h"
#include "sim/base/ranges.h"
#include "sim/base/types.h"

namespace tessera::spmm_static {

using sparse::WorkerRows;

std::uint64_t together(const std::vector<WorkerCycles>& workers) {
  std::vector<std::uint64_t> ends;
  WorkerCycles longest;
  for (const WorkerCycles& worker : workers) {
    ends.push_back(worker.full);
    if (worker.full > longest.full) longest = worker;
  }
  if (longest.alone >= longest.full) return longest.full;
  std::sort(ends.begin(), ends.end());
  const double least = static_cast<double>(longest.alone) / static_cast<double>(longest.full);
  double cycles = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double busy = static_cast<double>(ends.size() - i) / static_cast<double>(ends.size());
    cycles += static_cast<double>(ends[i] - (i == 0 ? 0 : ends[i - 1])) * std::max(least, busy);
  }
  return static_cast<std::uint64_t>(std::llround(cycles));
}

WorkerDivision divide(const Share& share, const ElementWork& work, std::uint32_t passes,
                      std::uint32_t workers) {
  std::vector<WorkerCycles> before{{}};
  std::vector<std::uint64_t> full{0};
  for (const RowRun& run : share.rows) {
    before.push_back(before.back() + work.row[run.last - run.first]);
    full.push_back(before.back().full);
  }
  const auto cycles = [&](const std::vector<WorkerRows>& all) {
    std::vector<WorkerCycles> each;
    for (const WorkerRows& its : all) {
      const WorkerCycles& first = before[its.first_row];
      const WorkerCycles& end = before[its.first_row + its.rows];
      each.push_back(its.passes *
                     (work.pass + WorkerCycles{end.full - first.full, end.alone - first.alone}));
    }
    return work.once + together(each);
  };
  std::vector<WorkerRows> best = sparse::divide_rows(full, passes, workers, workers, cycles);
  const std::uint64_t least = cycles(best);
  return {std::move(best), least};
}

Shared share_out(const Share& share, const PricedSharings& sharings, std::uint32_t width,
                 std::uint32_t contexts) {
  std::vector<std::uint64_t> before{0};
  for (const RowRun& run : share.rows) before.push_back(before.back() + run.last - run.first);
  Shared best;
  for (const auto& [sharing, price] : sharings) {
    Shared one{sharing, sharing.workers(before, width, contexts)};
    for (const WorkerRows& its : one.workers) {
      const std::uint64_t blocks = before[its.first_row + its.rows] - before[its.first_row];
      const double cycles =
          price.once + its.rows * price.row + static_cast<double>(blocks) * price.block;
      if (its.rows > 0 && (one.rows == 0 || cycles > one.cycles))
        std::tie(one.rows, one.blocks, one.cycles) = std::tuple(its.rows, blocks, cycles);
    }
    if (best.workers.empty() || one.cycles < best.cycles) best = std::move(one);
  }
  return best;
}

namespace {

Share make_share(const Distribution& deal, std::uint32_t place, std::uint64_t first,
                 std::uint64_t last) {
  Share share{place, first, last, {}, sorted_once(slice(deal.column, first, last))};
  for (std::uint64_t e = first; e < last; ++e) {
    if (share.rows.empty() || share.rows.back().row != deal.row[e]) {
      share.rows.push_back({deal.row[e], e, e});
    }
    share.rows.back().last = e + 1;
  }
  return share;
}

/// Cuts the blocks [begin, end) of a band into consecutive runs for its tiles.
class BandCut {
 public:
  BandCut(const Distribution& deal, const DealingRules& rules, std::uint32_t band)
      : deal_(deal), rules_(rules), begin_(deal.band_begin[band]), end_(deal.band_begin[band + 1]) {
    if (rules.dealing == Dealing::blocks) return;
    for (std::uint64_t e = begin_; e < end_; ++e) {
      if (e == begin_ || deal.row[e] != deal.row[e - 1]) row_begin_.push_back(e);
    }
    row_begin_.push_back(end_);
  }

  [[nodiscard]] std::uint64_t work() const {
    if (rules_.dealing == Dealing::blocks) return end_ - begin_;
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r + 1 < row_begin_.size(); ++r) {
      sum += rules_.row_work(row_begin_[r + 1] - row_begin_[r]);
    }
    return sum;
  }

  /// The end of each tile's blocks, for up to `tiles` of them.
  [[nodiscard]] std::vector<std::uint64_t> ends(std::uint32_t tiles) const {
    if (rules_.dealing == Dealing::blocks) return equal_ends(tiles);
    std::uint64_t too_little = ceil_div<std::uint64_t>(work(), tiles) - 1;
    std::uint64_t enough = work();
    while (too_little + 1 < enough) {
      const std::uint64_t middle = too_little + (enough - too_little) / 2;
      (filled(middle).size() <= tiles ? enough : too_little) = middle;
    }
    return filled(enough);
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> equal_ends(std::uint32_t tiles) const {
    const std::uint64_t each = ceil_div(end_ - begin_, std::uint64_t{tiles});
    std::vector<std::uint64_t> ends;
    for (std::uint64_t first = begin_; first < end_ && ends.size() < tiles;) {
      std::uint64_t last = std::min(begin_ + (ends.size() + 1) * each, end_);
      if (rules_.even_rows && last < end_ && deal_.value_begin[last] % 2 == 1) ++last;
      first = std::max(first, last);
      ends.push_back(first);
    }
    return ends;
  }

  /// The ends if each tile takes blocks up to `most` work, at least the smallest piece.
  [[nodiscard]] std::vector<std::uint64_t> filled(std::uint64_t most) const {
    std::vector<std::uint64_t> ends;
    std::uint64_t used = 0;
    for (std::size_t r = 0; r + 1 < row_begin_.size(); ++r) {
      for (std::uint64_t at = row_begin_[r]; at < row_begin_[r + 1];) {
        const std::uint64_t taken = piece(row_begin_[r + 1] - at, used < most ? most - used : 0);
        if (used > 0 && used + rules_.row_work(taken) > most) {
          ends.push_back(at);
          used = 0;
          continue;
        }
        used += rules_.row_work(taken);
        at += taken;
      }
    }
    ends.push_back(end_);
    return ends;
  }

  /// How many of a row's `blocks` fit into `room` of work, at least the smallest piece.
  [[nodiscard]] std::uint64_t piece(std::uint64_t blocks, std::uint64_t room) const {
    if (rules_.dealing == Dealing::rows || rules_.row_work(blocks) <= room) return blocks;
    const std::uint64_t grain = rules_.even_rows ? 2 : 1;
    std::uint64_t fits = grain;
    std::uint64_t too_many = blocks;
    while (fits + grain < too_many) {
      const std::uint64_t half = (too_many - fits) / 2 / grain * grain;
      const std::uint64_t middle = fits + std::max(half, grain);
      (rules_.row_work(middle) <= room ? fits : too_many) = middle;
    }
    return std::min(fits, blocks);
  }

  const Distribution& deal_;
  const DealingRules& rules_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::vector<std::uint64_t> row_begin_;  ///< beginnings of the band's rows that have blocks
};

}  // namespace

std::vector<std::uint32_t> tiles_by_band(const std::vector<std::uint64_t>& blocks,
                                         std::uint32_t tiles, std::uint32_t grain) {
  const auto bands = word(blocks.size());
  const std::uint64_t total = std::accumulate(blocks.begin(), blocks.end(), std::uint64_t{0});
  std::vector<std::uint32_t> by_band;
  std::uint32_t used = 0;
  for (std::uint32_t band = 0; band < bands; ++band) {
    const std::uint32_t later = (bands - 1 - band) * grain;  // the least that others need
    if (used + grain + later > tiles) return {};
    auto wanted = word(blocks[band] * tiles / total);
    wanted = std::max(wanted, grain);
    const std::uint64_t each = ceil_div(blocks[band], std::uint64_t{wanted});
    const auto needed = word(ceil_div(blocks[band], each));
    wanted = std::min(round_up(needed, grain), wanted);
    if (band + 1 == bands) wanted = tiles - used;
    wanted = std::max(wanted / grain * grain, grain);
    by_band.push_back(std::min(wanted, tiles - used - later));
    used += by_band.back();
  }
  return by_band;
}

Layer make_layer(const Distribution& deal, std::uint32_t tiles, const DealingRules& rules) {
  Layer layer{tiles, {}};
  std::vector<BandCut> cuts;
  std::vector<std::uint64_t> work;
  for (std::uint32_t band = 0; band < deal.bands.count(); ++band) {
    cuts.emplace_back(deal, rules, band);
    work.push_back(cuts.back().work());
  }
  const std::vector<std::uint32_t> by_band = tiles_by_band(work, tiles, rules.grain);
  std::uint32_t place = 0;
  for (std::uint32_t band = 0; band < by_band.size(); ++band) {
    std::uint64_t first = deal.band_begin[band];
    std::uint32_t t = place;
    for (const std::uint64_t last : cuts[band].ends(by_band[band])) {
      if (last > first) layer.shares.push_back(make_share(deal, t, first, last));
      ++t;
      first = last;
    }
    place += by_band[band];
  }
  return layer;
}

}  // namespace tessera::spmm_static
