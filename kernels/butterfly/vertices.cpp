#include "kernels/butterfly/vertices.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace tessera::butterfly {

std::string Vertices::number_name() const {
  if (problem_.complex_code()) return "complex";
  return std::string(
      config::name_of(kNumbers, problem_.is_complex() ? Number::f32 : problem_.dtype));
}

program::Vertex Vertices::rows_vertex(TileId tile, const std::string& name, const RowPass& pass,
                                      std::uint64_t units, BufferId in, BufferId out, Place second,
                                      std::uint64_t group_bytes, std::uint64_t array_bytes) {
  const std::uint64_t row = units * problem_.unit_bytes();
  const std::uint32_t unit = problem_.step_bytes();
  const std::uint32_t low = std::min(pass.first_place(problem_), pass.last_place(problem_));
  const std::uint32_t between = 1U << low;
  const std::uint32_t jump = ((1U << pass.stages.size()) - 1) << low;
  program::Vertex vertex{
      tile,
      code_.in(program_, name),
      program::Executor::all_workers,
      0,
      {Place{in}, Place{out}, word(row << pass.first_place(problem_)),
       word(row << pass.last_place(problem_)), between, word(row * jump), word(row), 0U}};
  const EvenSplit runs{row / unit, workers_n_};
  const EvenSplit groups{pass.groups(), contexts_ / workers_n_};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const std::uint32_t part = w % workers_n_;
    const Interval run = runs.part(part);
    const Interval mine = groups.part(w / workers_n_);
    const bool idle = mine.size() == 0 || run.size() == 0;
    const std::uint32_t first = idle ? 0 : word(mine.begin);
    vertex.arguments.insert(
        vertex.arguments.end(),
        {word(pass.first_row(problem_, first) * row + (idle ? 0 : run.begin * unit)),
         Place{second.buffer,
               second.offset + word(idle ? 0 : first * group_bytes + part * array_bytes)},
         idle ? 0U : word(mine.size()), word(run.size()) - 1, between - first % between, 0U, 0U,
         0U});
  }
  return vertex;
}

program::Vertex Vertices::pass(TileId tile, const RowPass& pass, std::uint64_t units,
                               Place twiddles, BufferId in, BufferId out) {
  const std::string name =
      fmt::format("butterfly_{}_{}_{}", number_name(),
                  config::name_of(kParameters, problem_.parameters), pass.stages.size());
  return rows_vertex(tile, name, pass, units, in, out, twiddles,
                     twiddle_bytes(problem_, pass) / pass.groups(), 0);
}

program::Vertex Vertices::adjoint_pass(TileId tile, const RowPass& pass, std::uint64_t units,
                                       Place twiddles, BufferId in, BufferId out) {
  const std::string name = fmt::format("butterfly_{}_{}_adjoint_1", number_name(),
                                       config::name_of(kParameters, problem_.parameters));
  return rows_vertex(tile, name, pass, units, in, out, twiddles,
                     twiddle_bytes(problem_, pass) / pass.groups(), 0);
}

program::Vertex Vertices::products(TileId tile, const RowPass& pass, std::uint64_t units,
                                   Place sums, std::uint64_t array_bytes, BufferId gradient,
                                   BufferId x) {
  return rows_vertex(tile, fmt::format("butterfly_products_{}", number_name()), pass, units,
                     gradient, x, sums, problem_.complex_code() ? 32 : 16, array_bytes);
}

program::Vertex Vertices::angles(TileId tile, std::uint64_t pairs, Place sums, BufferId angles,
                                 BufferId result) {
  program::Vertex vertex{tile,
                         code_.in(program_, "butterfly_angles"),
                         program::Executor::all_workers,
                         0,
                         {sums, Place{angles}, Place{result}, 0U}};
  const EvenSplit split{pairs, contexts_};
  for (std::uint32_t w = 0; w < contexts_; ++w) {
    const Interval mine = split.part(w);
    vertex.arguments.insert(vertex.arguments.end(),
                            {mine.size() == 0 ? 0U : word(mine.begin), word(mine.size())});
  }
  return vertex;
}

namespace {

using plan::Sizes;
using Arrays = std::span<const Place>;

constexpr TileId kAnyTile{0};  ///< readers of a description put their own
/// A pass has one number of units on nearly all tiles of a plan: it is measured, not fitted.
constexpr FittedCost::Axis kMeasured = FittedCost::Axis::measured();

}  // namespace

std::string Functions::name_of(const char* what, const RowPass& pass) const {
  return fmt::format("butterfly {} {} {} {} of {} rows, bits {} to {}, by {}", what,
                     config::name_of(kNumbers, problem_.dtype),
                     config::name_of(kParameters, problem_.parameters), pass.stages.size(),
                     pass.rows.count(), pass.first_place(problem_), pass.last_place(problem_),
                     workers_n_);
}

const plan::Function& Functions::pass(const RowPass& pass) {
  return pass_by("pass", &Vertices::pass, pass);
}

const plan::Function& Functions::adjoint_pass(const RowPass& pass) {
  return pass_by("adjoint pass", &Vertices::adjoint_pass, pass);
}

const plan::Function& Functions::pass_by(const char* what, MakePass make, const RowPass& pass) {
  return description_.function({name_of(what, pass),
                                {kMeasured},
                                [v = vertices_, make, pass](const Sizes& sizes, Arrays at) {
                                  return (v.get()->*make)(kAnyTile, pass, sizes[0], at[0],
                                                          at[1].buffer, at[2].buffer);
                                },
                                [bytes = twiddle_bytes(problem_, pass), row = rows_bytes(pass, 1)](
                                    const Sizes& sizes) -> std::vector<std::uint64_t> {
                                  return {bytes, row * sizes[0], row * sizes[0]};
                                }});
}

const plan::Function& Functions::products(const RowPass& pass, std::uint64_t array_bytes) {
  return description_.function(
      {fmt::format("{}, sums of {}", name_of("products", pass), array_bytes),
       {kMeasured},
       [v = vertices_, pass, array_bytes](const Sizes& sizes, Arrays at) {
         return v->products(kAnyTile, pass, sizes[0], at[0], array_bytes, at[1].buffer,
                            at[2].buffer);
       },
       [sums = array_bytes * workers_n_,
        row = rows_bytes(pass, 1)](const Sizes& sizes) -> std::vector<std::uint64_t> {
         return {sums, row * sizes[0], row * sizes[0]};
       }});
}

const plan::Function& Functions::angles() {
  return description_.function({"butterfly angles",
                                {kMeasured},
                                [v = vertices_](const Sizes& sizes, Arrays at) {
                                  return v->angles(kAnyTile, sizes[0], at[0], at[1].buffer,
                                                   at[2].buffer);
                                },
                                [](const Sizes& sizes) -> std::vector<std::uint64_t> {
                                  return {16 * sizes[0], 8 * sizes[0], 4 * sizes[0]};
                                }});
}

}  // namespace tessera::butterfly
