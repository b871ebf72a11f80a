#include <algorithm>

#include "kernels/spmm_tilewise/steps.h"

namespace tessera::spmm_tilewise {

namespace {

/// Where one row of A^T goes within the buffers of one superstep's groups.
struct Taker {
  std::uint32_t group;
  bool overlay;
  std::uint64_t row;  ///< of the superstep's, or of the overlay's
};

/// Rows of A^T that go to the same groups, one after the other there too.
bool continues(const std::vector<Taker>& before, const std::vector<Taker>& after) {
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const Taker& a, const Taker& b) {
                      return a.group == b.group && a.overlay == b.overlay && a.row + 1 == b.row;
                    });
}

/// By row of A^T the groups that take it in this superstep.
std::vector<std::vector<Taker>> takers_of(const Work& work, std::uint32_t cut) {
  std::vector<std::vector<Taker>> all(work.problem.padded_k());
  for (std::uint32_t g = 0; g < work.plan.groups.size(); ++g) {
    const Group& group = work.plan.groups[g];
    const Interval rows = rows_in(group, work.problem, work.plan.cuts, cut);
    for (std::uint64_t i = rows.begin; i < rows.end; ++i)
      all[group.rows[i]].push_back({g, false, i - rows.begin});
    for (std::uint64_t i = 0; i < group.overlay.rows.size() && cut + 1 == work.plan.cuts; ++i)
      all[group.overlay.rows[i]].push_back({g, true, i});
  }
  return all;
}

/// Rows [row, end) of a panel of A^T to the jobs that have the panel.
void add_gather(program::Exchange& exchange, const Work& work, std::uint64_t panel,
                Interval rows_of_a, const std::vector<Taker>& takers,
                const std::vector<std::size_t>& jobs, std::uint32_t cut) {
  const std::uint64_t vector = work.problem.vector_bytes();
  const std::uint64_t begin = (panel * work.problem.padded_k() + rows_of_a.begin) * vector;
  sparse::gather(exchange, work.a_storage, work.buffers.a_stored, begin,
                 begin + rows_of_a.size() * vector, [&](std::uint32_t offset) {
                   std::vector<Place> to;
                   for (const Taker& taker : takers) {
                     const Job& job = work.plan.jobs[jobs[taker.group]];
                     const Group& group = work.group_of(job);
                     const std::uint64_t rows =
                         taker.overlay ? group.overlay.rows.size()
                                       : rows_in(group, work.problem, work.plan.cuts, cut).size();
                     const std::uint64_t at =
                         ((panel - job.panels.begin) * rows + taker.row) * vector;
                     const auto& buffers = taker.overlay ? work.buffers.overlay : work.buffers.a;
                     to.push_back({buffers[jobs[taker.group]], word(at + offset)});
                   }
                   return to;
                 });
}

}  // namespace

program::Exchange inputs(const Work& work, std::uint32_t cut) {
  program::Exchange exchange{"inputs", {}};
  const Plan& plan = work.plan;
  const std::vector<std::vector<Taker>> takers = takers_of(work, cut);
  std::vector<std::size_t> jobs(plan.groups.size());  // the job of each group that has the panel
  for (std::uint64_t panel = 0; panel < work.problem.panels(); ++panel) {
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
      const Interval& mine = plan.jobs[i].panels;
      if (mine.begin <= panel && panel < mine.end) jobs[plan.jobs[i].group] = i;
    }
    for (std::uint32_t row = 0; row < takers.size();) {
      std::uint32_t end = row + 1;
      while (end < takers.size() && continues(takers[end - 1], takers[end])) ++end;
      if (!takers[row].empty())
        add_gather(exchange, work, panel, {row, end}, takers[row], jobs, cut);
      row = end;
    }
  }
  // Each group's weights go to all of its jobs.
  std::vector<std::vector<BufferId>> sharers(plan.groups.size());
  for (std::size_t i = 0; i < plan.jobs.size(); ++i)
    sharers[plan.jobs[i].group].push_back(work.buffers.x[i]);
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const Interval bytes = work.w_storage.bytes_of(g, cut);
    sparse::gather(exchange, work.w_storage.storage(), work.buffers.w_stored, bytes.begin,
                   bytes.end, [&](std::uint32_t offset) {
                     std::vector<Place> to;
                     for (const BufferId taker : sharers[g]) to.push_back({taker, offset});
                     return to;
                   });
  }
  return exchange;
}

program::Exchange scattered(const Work& work) {
  program::Exchange exchange{"scatter c", {}};
  const std::uint64_t vector = work.problem.vector_bytes();
  for (std::size_t i = 0; i < work.plan.jobs.size(); ++i) {
    const Job& job = work.plan.jobs[i];
    const Group& group = work.group_of(job);
    const std::vector<std::uint32_t>& columns = work.pattern.tiles[group.tile].columns;
    for (std::uint64_t panel = job.panels.begin; panel < job.panels.end; ++panel) {
      for (std::uint64_t c = group.columns.begin; c < group.columns.end;) {
        std::uint64_t end = c + 1;
        while (end < group.columns.end && columns[end] == columns[end - 1] + 1) ++end;
        const std::uint64_t at =
            (panel - job.panels.begin) * group.positions() + c - group.columns.begin;
        const std::uint64_t to = (panel * work.problem.n + columns[c]) * vector;
        sparse::scatter(exchange, {work.buffers.result[i], word(at * vector)}, work.c_storage,
                        work.buffers.c, to, to + (end - c) * vector);
        c = end;
      }
    }
  }
  return exchange;
}

}  // namespace tessera::spmm_tilewise
