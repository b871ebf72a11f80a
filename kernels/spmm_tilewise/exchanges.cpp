#include "kernels/spmm_tilewise/exchanges.h"

#include <algorithm>

namespace tessera::spmm_tilewise {

using program::BufferId;

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

program::Exchange Exchanges::inputs(std::uint32_t cut) const {
  program::Exchange exchange{"inputs", {}};
  add_gathers(exchange, cut);
  add_weights(exchange, cut);
  return exchange;
}

/// By row of A^T the groups that take it in this superstep.
std::vector<std::vector<Exchanges::Taker>> Exchanges::takers(std::uint32_t cut) const {
  std::vector<std::vector<Taker>> all(problem_.padded_k());
  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
    const Group& group = plan_.groups[g];
    const gemm::Interval depth = depth_blocks(group, problem_, plan_.cuts, cut);
    const std::uint64_t first = depth.begin * problem_.block.depth;
    for (std::uint64_t i = first; i < depth.end * problem_.block.depth; ++i) {
      all[group.rows[i]].push_back({g, false, i - first});
    }
    for (std::uint64_t i = 0; i < group.overlay.rows.size() && cut + 1 == plan_.cuts; ++i) {
      all[group.overlay.rows[i]].push_back({g, true, i});
    }
  }
  return all;
}

/// Rows of A^T that go to the same groups, one after the other there too.
bool Exchanges::continues(const std::vector<Taker>& before, const std::vector<Taker>& after) {
  return before.size() == after.size() &&
         std::equal(before.begin(), before.end(), after.begin(),
                    [](const Taker& a, const Taker& b) {
                      return a.group == b.group && a.overlay == b.overlay && a.row + 1 == b.row;
                    });
}

void Exchanges::add_gathers(program::Exchange& exchange, std::uint32_t cut) const {
  const std::vector<std::vector<Taker>> all = takers(cut);
  std::vector<std::size_t> jobs(plan_.groups.size());  // the job of each group that has the panel
  for (std::uint64_t panel = 0; panel < problem_.panels(); ++panel) {
    for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
      const gemm::Interval& mine = plan_.jobs[i].panels;
      if (mine.begin <= panel && panel < mine.end) jobs[plan_.jobs[i].group] = i;
    }
    for (std::uint32_t row = 0; row < problem_.padded_k();) {
      std::uint32_t end = row + 1;
      while (end < problem_.padded_k() && continues(all[end - 1], all[end])) ++end;
      if (!all[row].empty()) add_gather(exchange, panel, row, end, all[row], jobs, cut);
      row = end;
    }
  }
}

void Exchanges::add_gather(program::Exchange& exchange, std::uint64_t panel, std::uint32_t row,
                           std::uint32_t end, const std::vector<Taker>& takers,
                           const std::vector<std::size_t>& jobs, std::uint32_t cut) const {
  const std::uint64_t vector = problem_.vector_bytes();
  const std::uint64_t begin = (panel * problem_.padded_k() + row) * vector;
  for (const auto& piece : a_storage_.pieces(begin, begin + (end - row) * vector)) {
    program::Copy copy{{buffers_.a_stored[piece.tile], piece.offset}, piece.bytes, {}};
    for (const Taker& taker : takers) {
      const Job& job = plan_.jobs[jobs[taker.group]];
      const std::uint64_t rows =
          taker.overlay ? plan_.groups[job.group].overlay.rows.size() : rows_in(job, cut);
      const std::uint64_t at = ((panel - job.panels.begin) * rows + taker.row) * vector;
      const std::vector<BufferId>& buffers = taker.overlay ? buffers_.overlay : buffers_.a;
      copy.destinations.push_back({buffers[jobs[taker.group]], word(at + piece.at)});
    }
    exchange.copies.push_back(std::move(copy));
  }
}

std::uint64_t Exchanges::rows_in(const Job& job, std::uint32_t cut) const {
  return depth_blocks(plan_.groups[job.group], problem_, plan_.cuts, cut).size() *
         problem_.block.depth;
}

/// Each group's weights go to all of its jobs.
void Exchanges::add_weights(program::Exchange& exchange, std::uint32_t cut) const {
  std::vector<std::vector<BufferId>> takers(plan_.groups.size());
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    takers[plan_.jobs[i].group].push_back(buffers_.x[i]);
  }
  for (std::uint32_t g = 0; g < plan_.groups.size(); ++g) {
    for (const auto& piece : w_storage_.pieces(g, cut)) {
      program::Copy copy{{buffers_.w_stored[piece.tile], piece.offset}, piece.bytes, {}};
      for (const BufferId taker : takers[g]) copy.destinations.push_back({taker, piece.at});
      exchange.copies.push_back(std::move(copy));
    }
  }
}

program::Exchange Exchanges::scatter() const {
  program::Exchange exchange{"scatter c", {}};
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    const Job& job = plan_.jobs[i];
    const Group& group = plan_.groups[job.group];
    const std::vector<std::uint32_t>& columns = pattern_.tiles[group.tile].columns;
    for (std::uint64_t panel = job.panels.begin; panel < job.panels.end; ++panel) {
      for (std::uint64_t c = group.columns.begin; c < group.columns.end;) {
        std::uint64_t end = c + 1;
        while (end < group.columns.end && columns[end] == columns[end - 1] + 1) ++end;
        const std::uint64_t at =
            (panel - job.panels.begin) * group.positions() + c - group.columns.begin;
        add_scatter(exchange, i, at, panel * problem_.n + columns[c], end - c);
        c = end;
      }
    }
  }
  return exchange;
}

void Exchanges::add_scatter(program::Exchange& exchange, std::size_t job, std::uint64_t from,
                            std::uint64_t to, std::uint64_t vectors) const {
  const std::uint64_t vector = problem_.vector_bytes();
  for (const auto& piece : c_storage_.pieces(to * vector, (to + vectors) * vector)) {
    exchange.copies.push_back({{buffers_.result[job], word(from * vector + piece.at)},
                               piece.bytes,
                               {{result_buffer(piece.tile), piece.offset}}});
  }
}

}  // namespace tessera::spmm_tilewise
