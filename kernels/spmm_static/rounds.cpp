#include <algorithm>
#include <set>

#include "kernels/spmm_static/search.h"
#include "sim/machine/nodes.h"

namespace tessera::spmm_static {

std::uint64_t RoundChoices::room() const {
  const std::uint64_t capacity = sram_bytes(machine_.tile);
  return capacity - std::min(capacity, around_.beside);
}

std::uint32_t RoundChoices::columns(std::uint32_t rounds) const {
  return round_up(ceil_div(n_, rounds), problem_.shape.lanes());
}

std::span<const sparse::BlockMatrix> RoundChoices::parts_of(std::uint32_t row_parts) {
  if (row_parts == 1) return {&w_, 1};
  const auto [known, is_new] = parts_.try_emplace(row_parts);
  if (is_new) known->second = sparse::row_parts(w_, row_parts);
  return known->second;
}

Problem RoundChoices::round_of(const Cuts& cuts) {
  Problem round = cuts.row_parts == 1
                      ? problem_
                      : make_problem(parts_of(cuts.row_parts).front(), problem_.shape, n_);
  if (cuts.rounds > 1) round.columns = columns(cuts.rounds);
  return round;
}

std::vector<std::uint32_t> RoundChoices::numbers_of_row_parts() const {
  if (pinned_.rounds) return {pinned_.rounds->m};
  const std::uint64_t area = std::uint64_t{problem_.shape.block} * problem_.shape.block;
  const std::uint64_t bytes = problem_.blocks * area * problem_.shape.bytes();
  const std::uint64_t all = room() * machine_.tiles;
  std::vector<std::uint32_t> numbers;
  for (std::uint64_t parts = 1; parts <= problem_.block_rows; parts *= 2)
    if (bytes / parts <= all && bytes / parts > all / 16)
      numbers.push_back(static_cast<std::uint32_t>(parts));
  if (bytes <= all / 2) numbers.resize(1, 1);  // W stays on the tiles
  return numbers;
}

std::vector<Cuts> RoundChoices::all() const {
  std::vector<Cuts> all;
  const std::vector<std::uint32_t> row_parts = numbers_of_row_parts();
  const auto add = [&](std::uint32_t rounds) {
    for (const std::uint32_t rows : row_parts)
      for (const kernels::Loads loads : kernels::loads_for(rounds, machine_.tile))
        if (!pinned_.rounds || pinned_.rounds->loads.value_or(loads) == loads) {
          all.push_back({pinned_.parts, pinned_.bands});
          all.back().rounds = rounds;
          all.back().row_parts = rows;
          all.back().loads = loads;
        }
  };
  if (!around_.outside) return {{pinned_.parts, pinned_.bands}};
  const std::uint32_t most = ceil_div(n_, problem_.shape.lanes());
  std::set<std::uint32_t> numbers;  // about powers of two and midpoints, no round empty
  for (std::uint64_t power = 1; power < std::uint64_t{2} * most && !pinned_.rounds; power *= 2)
    for (const std::uint64_t rounds : {power, power + power / 2})
      numbers.insert(ceil_div(n_, columns(word(std::min<std::uint64_t>(rounds, most)))));
  for (const std::uint32_t rounds : numbers) add(rounds);
  if (pinned_.rounds) add(pinned_.rounds->n);
  return all;
}

std::uint64_t RoundChoices::moved(const Cuts& cuts) const {
  const std::uint64_t rows =
      problem_.block_rows + std::uint64_t{cuts.row_parts} * problem_.block_columns;
  const std::uint64_t dense = rows * columns(cuts.rounds) * cuts.rounds;
  return (dense + problem_.blocks * problem_.shape.block) * problem_.shape.block *
         problem_.shape.bytes();
}

std::uint64_t RoundChoices::expected(const Cuts& cuts, std::uint64_t cycles) const {
  if (!around_.outside) return cycles;
  const std::uint64_t turns = std::uint64_t{cuts.rounds} * cuts.row_parts;
  return kernels::least_cycles(machine_, cuts.loads, turns, cycles * turns, moved(cuts));
}

}  // namespace tessera::spmm_static
