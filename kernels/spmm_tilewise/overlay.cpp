#include "kernels/spmm_tilewise/overlay.h"

#include <algorithm>
#include <cstring>

#include "sim/base/ranges.h"

namespace tessera::spmm_tilewise {

namespace {

constexpr std::uint32_t kPass = 16;  // bytes of a vector that the tile code processes at once
constexpr std::uint32_t kWord = 8;   // bytes: the unit of the list's places
/// Measured numbers of columns, and of elements in a column.
constexpr std::uint64_t kFew = 4, kMany = 12;

/// A sample with equal columns and elements for each worker, all in one row.
OverlayPart alike(std::uint64_t columns, std::uint64_t elements, std::uint32_t workers) {
  OverlayPart part{{0}, {0}, {}};
  const EvenSplit split{elements, word(columns)};
  for (std::uint64_t c = 0; c < workers * columns; ++c)
    part.begin.push_back(part.begin.back() + word(split.part(c % columns).size()));
  part.row.assign(part.begin.back(), 0);
  return part;
}

/// Calls visit(row) for each element of a column.
template <class Visit>
void for_singles(const TilePattern& pattern, std::uint32_t column, const Visit& visit) {
  const auto end = std::ranges::upper_bound(pattern.overlay, column, {}, &Single::column);
  for (auto at = std::ranges::lower_bound(pattern.overlay, column, {}, &Single::column); at != end;
       ++at)
    visit(at->row);
}

}  // namespace

std::vector<std::uint32_t> singles_by_row(const TilePattern& pattern, const ColumnTile& tile,
                                          std::uint32_t rows) {
  std::vector<std::uint32_t> singles(rows, 0);
  for (const std::uint32_t column : tile.columns)
    for_singles(pattern, column, [&](std::uint32_t row) { ++singles[row]; });
  return singles;
}

OverlayPart overlay_part(const TilePattern& pattern, const ColumnTile& tile, Interval columns,
                         const std::vector<std::uint32_t>& whole_rows) {
  OverlayPart part{{}, {0}, {}};
  for (std::uint64_t c = columns.begin; c < columns.end; ++c) {
    for_singles(pattern, tile.columns[c], [&](std::uint32_t row) {
      if (!std::binary_search(whole_rows.begin(), whole_rows.end(), row)) part.row.push_back(row);
    });
    part.begin.push_back(static_cast<std::uint32_t>(part.row.size()));
  }
  part.rows = sorted_once(part.row);
  for (std::uint32_t& row : part.row) {
    const auto at = std::lower_bound(part.rows.begin(), part.rows.end(), row);
    row = static_cast<std::uint32_t>(at - part.rows.begin());
  }
  return part;
}

std::vector<Interval> worker_columns(const OverlayPart& part, const OverlayWork& work,
                                     std::uint32_t workers) {
  const std::uint64_t columns = part.columns();
  const auto before = [&](std::uint64_t c) { return work.cycles(c, part.begin[c]); };
  std::vector<Interval> shares;
  std::uint64_t at = 0;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const std::uint64_t first = at;
    const double target = before(columns) * (worker + 1) / workers;
    while (at < columns && (worker + 1 == workers || before(at + 1) <= target)) ++at;
    shares.push_back({first, at});
  }
  return shares;
}

OverlayCode::OverlayCode(const elf::KernelCode& code, plan::Description& description,
                         const gemm::BlockShape& block, std::uint32_t contexts)
    : description_(description), block_(block), contexts_(contexts) {
  for (const bool adds : {false, true}) {
    const std::string name =
        fmt::format("{}overlay_{}{}", block.result_bytes() < kPass ? "narrow_" : "",
                    adds ? "add_" : "", kernels::type_name(block.input, block.input));
    codelets_[adds] = kernels::Codelet::of(code, description, name, contexts);
    functions_[adds] = &description.function(function(name, adds));
  }
}

/// Sizes: panels; columns and elements of each worker. The fit begins at the sizes measured by
/// work().
plan::Function OverlayCode::function(const std::string& name, bool adds) const {
  const auto part = [workers = contexts_](const Sizes& sizes) {
    return alike(sizes[1], sizes[2], workers);
  };
  return {fmt::format("{} of {}", name, block_.name()),
          {{1, 1}, {1, kMany}, {1, kFew * kMany}},
          [self = *this, part, adds](const Sizes& sizes, auto operands) {
            return self.vertex({part(sizes), {0, 1, 0}, sizes[0], adds},
                               {operands[0], operands[1], operands[2], operands[3]});
          },
          [part, block = block_](const Sizes& sizes) {
            const OverlayPart of = part(sizes);
            const std::uint64_t vectors = sizes[0] * block.result_bytes();
            return std::vector{list_bytes(of), of.row.size() * block.input_bytes, vectors,
                               vectors * of.columns()};
          },
          [self = *this, part](const Sizes& sizes, std::size_t operand, auto into) {
            if (operand == 0) self.write_list(part(sizes), into);
          }};
}

void OverlayCode::write_list(const OverlayPart& part, std::span<std::byte> into) const {
  std::vector<std::uint16_t> list;
  for (std::size_t c = 0; c < part.columns(); ++c) {
    list.push_back(static_cast<std::uint16_t>(part.elements({c, c + 1})));
    for (std::uint32_t e = part.begin[c]; e < part.begin[c + 1]; ++e)
      list.push_back(static_cast<std::uint16_t>(part.row[e] * (block_.result_bytes() / kWord)));
  }
  std::memcpy(into.data(), list.data(), list_bytes(part));
}

program::Vertex OverlayCode::vertex(const Call& call, const Operands& operands) const {
  const OverlayPart& part = call.part;
  const std::uint32_t vector = block_.result_bytes();
  std::vector<program::Argument> arguments{operands.a,
                                           operands.result,
                                           word(call.panels),
                                           vector / std::min(vector, kPass),
                                           word((part.rows.size() - 1) * vector),
                                           word((part.columns() - 1) * vector),
                                           vector,
                                           0U};
  for (const Interval& mine : worker_columns(part, call.work, contexts_)) {
    const bool none = mine.size() == 0;
    const std::uint64_t first = none ? 0 : part.begin[mine.begin];
    arguments.insert(arguments.end(),
                     {kernels::behind(operands.list, none ? 0 : 2 * (first + mine.begin)),
                      kernels::behind(operands.values, first * block_.input_bytes),
                      word(mine.size()), none ? 0U : word(mine.begin * vector)});
  }
  return codelets_[call.adds].all(std::move(arguments));
}

/// The sizes of the busiest worker.
Sizes OverlayCode::sizes(const Call& call) const {
  const std::vector<Interval> shares = worker_columns(call.part, call.work, contexts_);
  const auto cycles = [&](const Interval& mine) {
    return call.work.cycles(mine.size(), call.part.elements(mine));
  };
  const Interval most = std::ranges::max(shares, {}, cycles);
  return {call.panels, most.size(), call.part.elements(most)};
}

void OverlayCode::add(const Call& call, const Operands& operands, Calls& calls) const {
  calls.add(vertex(call, operands), *functions_[call.adds], sizes(call));
}

std::uint64_t OverlayCode::cycles(const Call& call, plan::Pricing& pricing) const {
  return pricing.call(description_, *functions_[call.adds], sizes(call));
}

/// Derived from differences between few and many panels, columns and elements.
OverlayWork OverlayCode::work(plan::Pricing& pricing) const {
  const auto cycles = [&](std::uint64_t panels, std::uint64_t columns, std::uint64_t each) {
    return static_cast<double>(
        pricing.call(description_, *functions_[1], {panels, columns, columns * each}));
  };
  const double few = cycles(1, kFew, kFew);
  OverlayWork work{};
  work.element = (cycles(1, kFew, kMany) - few) / (kFew * (kMany - kFew));
  work.column = (cycles(1, kMany, kFew) - few) / (kMany - kFew) - kFew * work.element;
  work.panel = cycles(2, kFew, kFew) - few - kFew * (work.column + kFew * work.element);
  return work;
}

}  // namespace tessera::spmm_tilewise
