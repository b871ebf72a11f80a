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
    blocks_ = block_function(statement_, shape);
    return;
  }
  std::uint64_t most_in_row = 0;
  for (std::size_t row = 0; row + 1 < w.row_begin.size(); ++row)
    most_in_row = std::max(most_in_row, w.row_begin[row + 1] - w.row_begin[row]);
  elements_ = std::make_shared<ElementWorks>(
      ElementWorks{element_work(1, most_in_row), element_work(2, most_in_row)});
}

std::uint64_t Cost::product(std::uint64_t rows, std::uint64_t blocks, std::uint32_t width) {
  if (shape_.block > 1) {
    const plan::Sizes sizes{rows, blocks - rows + 1, width / shape_.unroll()};
    return said_[sizes] = call(blocks_, sizes);
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

std::uint64_t Cost::product_at_least(std::uint64_t rows, std::uint64_t blocks,
                                     std::uint32_t width) const {
  const plan::Sizes sizes{rows, blocks - rows + 1, width / shape_.unroll()};
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
