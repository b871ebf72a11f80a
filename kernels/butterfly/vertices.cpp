#include "kernels/butterfly/vertices.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::butterfly {

namespace {

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

std::uint32_t Vertices::codelet(const std::string& name) {
  const auto [entry, is_new] = codelets_.try_emplace(name);
  if (is_new) entry->second = program_.add_codelet(code_[name]);
  return entry->second;
}

program::Vertex Vertices::pass(TileId tile, const RowPass& pass, std::uint64_t units,
                               Place twiddles, BufferId in, BufferId out) {
  const bool complex_code = problem_.complex_code();
  const Number number = problem_.is_complex() ? Number::f32 : problem_.dtype;
  const std::string name = fmt::format(
      "butterfly_{}_{}_{}", complex_code ? "complex" : config::name_of(kNumbers, number),
      config::name_of(kParameters, problem_.parameters), pass.stages.size());
  const std::uint64_t row = units * problem_.unit_bytes();
  const std::uint32_t unit = complex_code ? problem_.unit_bytes() : kWordBytes;
  const std::uint32_t low = std::min(pass.first_place(problem_), pass.last_place(problem_));
  const std::uint32_t between = 1U << low;
  const std::uint32_t jump = ((1U << pass.stages.size()) - 1) << low;
  program::Vertex vertex{
      tile,
      codelet(name),
      program::Executor::all_workers,
      0,
      {Place{in}, Place{out}, word(row << pass.first_place(problem_)),
       word(row << pass.last_place(problem_)), between, word(row * jump), word(row), 0U}};
  const EvenSplit runs{row / unit, workers_n_};
  const EvenSplit groups{pass.groups(), contexts_ / workers_n_};
  const std::uint32_t group_bytes = twiddle_bytes(problem_, pass) / pass.groups();
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const Interval run = runs.part(w % workers_n_);
    const Interval mine = groups.part(w / workers_n_);
    const auto first = word(mine.begin);
    const std::uint64_t offset = pass.first_row(problem_, first) * row + run.begin * unit;
    const std::uint32_t count = run.size() == 0 ? 0 : word(mine.size());
    vertex.arguments.insert(
        vertex.arguments.end(),
        {count == 0 ? 0U : word(offset),
         count == 0 ? twiddles : Place{twiddles.buffer, twiddles.offset + first * group_bytes},
         count, word(run.size()) - 1, between - first % between, 0U, 0U, 0U});
  }
  return vertex;
}

}  // namespace tessera::butterfly
