#include <algorithm>
#include <utility>

#include "kernels/spmm_static/search.h"

namespace tessera::spmm_static {

Cost::Cost(const Shape& shape, const sparse::BlockMatrix& w, MachineCosts& costs)
    : shape_(shape),
      pricing_(costs),
      workers_(costs.machine().tile.contexts),
      shell_(1),
      statement_{shell_, code_, workers_},
      adding_(adding_function(statement_, shape)) {
  if (shape.block > 1) {
    if (shape.on_unit()) blocks_ = block_function(statement_, shape);
    return;
  }
  std::uint64_t most_in_row = 0;
  for (std::size_t row = 0; row + 1 < w.row_begin.size(); ++row)
    most_in_row = std::max(most_in_row, w.row_begin[row + 1] - w.row_begin[row]);
  elements_ = std::make_shared<ElementWorks>(
      ElementWorks{element_work(1, most_in_row), element_work(2, most_in_row)});
}

namespace {

/// True if giving workers whole groups of `together` columns may be faster: three left-over columns
/// take two passes, four take one.
bool may_pay(std::uint32_t width, std::uint32_t workers, std::uint32_t together) {
  return together == 1 || ceil_div(width, workers) % together == together - 1;
}

}  // namespace

std::uint64_t Cost::product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width) {
  if (shape_.block > 1) {
    const Sizes sizes{rows, blocks - rows + 1, width / shape_.unroll()};
    if (shape_.on_unit()) return said_[sizes] = call(blocks_, sizes);
    std::uint64_t least = UINT64_MAX;
    for (const std::uint32_t together : {1U, shape_.unit.positions_at_once()})
      if (may_pay(width, workers_, together))
        least = std::min(least, call(shared({workers_, together}), sizes));
    return said_[sizes] = least;
  }
  const std::uint32_t words = width * shape_.bytes() / 8;
  const std::uint64_t in_row = ceil_div(blocks, rows);
  std::uint64_t cycles = 0;
  for (const auto& [work, passes] :
       {std::pair(&elements_->wide, words / 2), {&elements_->narrow, words % 2}}) {
    const WorkerCycles& row = work->row[std::min(in_row, work->row.size() - 1)];
    std::vector<WorkerCycles> shares;
    for (std::uint32_t w = 0; w < workers_; ++w)
      shares.push_back(passes * (work->pass + (rows + w) / workers_ * row));
    if (passes > 0) cycles += work->once + together(shares);
  }
  return cycles;
}

const plan::Function& Cost::shared(const Sharing& sharing) {
  const auto [its, is_new] = shared_.try_emplace(sharing);
  if (is_new) its->second = vector_function(statement_, shape_, sharing);
  return its->second;
}

const PricedSharings& Cost::sharings(std::uint32_t width, std::size_t rows) {
  PricedSharings& all = sharings_[width];
  std::uint32_t before = 0;  // groups of workers, each with rows of its own
  for (std::uint32_t parts = workers_; parts > 0 && workers_ / parts <= rows; --parts) {
    const std::uint32_t groups = workers_ / parts;
    if (std::exchange(before, groups) == groups) continue;  // tried with more workers each
    for (const std::uint32_t together : {1U, shape_.unit.positions_at_once()}) {
      if (!may_pay(width, parts, together)) continue;
      const auto [its, is_new] = all.try_emplace({parts, together});
      if (is_new) its->second = price(its->first, width);
    }
  }
  return all;
}

SharingPrice Cost::price(const Sharing& sharing, std::uint32_t width) {
  constexpr std::uint64_t kFew = 2, kMore = 4;
  const auto cycles = [&](std::uint64_t rows, std::uint64_t blocks) {
    return static_cast<double>(call(shared(sharing), {rows, blocks - rows + 1, width}));
  };
  const double few = cycles(kFew, kMore);
  const double block = (cycles(kFew, kMore + kFew) - few) / kFew;
  const double row = (cycles(kMore, kMore) - few) / (kMore - kFew);
  return {few - kFew * row - kMore * block, row, block};
}

std::uint64_t Cost::product_at_least(std::uint64_t rows, std::uint64_t blocks,
                                     std::uint32_t width) const {
  const Sizes sizes{rows, blocks - rows + 1, width / shape_.unroll()};
  std::uint64_t most = 0;
  for (const auto& [less, cycles] : said_) {
    if (less.front() > sizes.front()) break;
    if (less[1] <= sizes[1] && less[2] <= sizes[2]) most = std::max(most, cycles);
  }
  return most;
}

std::uint64_t Cost::adding(std::uint64_t words, std::uint64_t partials) {
  return call(adding_, {ceil_div(words, workers_ * kChunkWords), partials + 1});
}

ElementWork Cost::element_work(std::uint32_t words, std::uint64_t most_in_row) {
  constexpr std::uint64_t kRows = 4, kMoreRows = 12;
  const plan::Function function = element_function(statement_, shape_, words);
  const auto cycles = [&](std::uint64_t busy, std::uint64_t rows, std::uint64_t nonzeros,
                          std::uint64_t passes) {
    return call(function, {busy, rows, nonzeros + 1, passes});
  };
  const auto row = [&](std::uint64_t busy, std::uint64_t nonzeros) {
    return (cycles(busy, kMoreRows, nonzeros, 1) - cycles(busy, kRows, nonzeros, 1)) /
           (kMoreRows - kRows);
  };
  const auto pass = [&](std::uint64_t busy) {
    return cycles(busy, kRows, 0, 2) - cycles(busy, kRows, 0, 1) - kRows * row(busy, 0);
  };
  ElementWork work;
  for (std::uint64_t k = 0; k <= most_in_row; ++k)
    work.row.push_back({row(workers_, k), row(1, k)});
  work.pass = {pass(workers_), pass(1)};
  work.once = cycles(workers_, kRows, 0, 1) - (work.pass + kRows * work.row.front()).full;
  return work;
}

}  // namespace tessera::spmm_static
