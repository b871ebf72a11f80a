#include "kernels/sparse/tensors.h"

#include <fmt/format.h>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "sim/plan/lower.h"

namespace tessera::spmm_dynamic {

using program::Role;

std::string SpmmDynamic::result_name(std::uint32_t run) const {
  switch (options_.pass) {
    case Pass::forward:
      return name_of("Y", run);
    case Pass::grad_input:
      return name_of("Xg", run);
    case Pass::grad_values:
      return name_of("Wg", run) + ".data";
  }
  return {};
}

std::string SpmmDynamic::name_of(const std::string& tensor, std::uint32_t run) const {
  return runs() == 1 ? tensor : fmt::format("{}.{}", tensor, run);
}

void SpmmDynamic::add_results(plan::Description& description,
                              const std::shared_ptr<const Parts>& parts, BufferId results) const {
  const Shape& shape = problem_.shape;
  if (shape.gradient) return add_values(description, parts, results);
  const EvenStorage rows = row_storage(problem_, parts->grid(), problem_.block_rows);
  const auto part = [parts, rows](std::size_t tile) -> sparse::Chunked {
    if (!parts->rows_wanted()) return parts->result_part(parts->cell(word(tile)));
    return sparse::chunks_on(rows, tile, parts->shape().bytes(), 1, parts->width());
  };
  const Role role = options_.pass == Pass::forward ? Role::result : Role::gradient;
  for (std::uint32_t run = 0; run < runs(); ++run) {
    const std::uint64_t height = patterns_[run].rows;
    program::Tensor tensor{result_name(run), role, shape.type, {height, options_.n}};
    tensor.run = run;
    description.tensor({std::move(tensor), results, sparse::runs_of(height, options_.n, part),
                        [part, size = shape.bytes()](plan::Tile tile) {
                          return part(tile).elements.size() * size;
                        }});
  }
}

/// A cell holds a stretch of the values of its partition's pool, unit by unit.
void SpmmDynamic::add_values(plan::Description& description,
                             const std::shared_ptr<const Parts>& parts, BufferId results) const {
  for (std::uint32_t run = 0; run < runs(); ++run) {
    const sparse::BlockMatrix& w = patterns_[run];
    program::Tensor tensor{
        result_name(run), Role::gradient, problem_.shape.type, {w.blocks(), w.block, w.block}};
    tensor.run = run;
    const auto runs_of = [this, parts, run, area = std::uint64_t{w.block} * w.block](
                             plan::Tile tile, program::Runs& into) {
      const Cell at = parts->cell(tile);
      const Interval elements = parts->result_part(at).elements;
      for_each_unit(
          plan_.pool, packings_[run].pools[parts->grid().partition(at)],
          [&](std::uint32_t unit, std::uint64_t e) {
            const std::uint64_t first = std::max(unit * area, elements.begin);
            const std::uint64_t end = std::min((unit + 1) * area, elements.end);
            if (first < end)
              into.add({first - elements.begin, e * area + first - unit * area, end - first, 1});
          });
    };
    description.tensor({std::move(tensor), results, runs_of});
  }
}

/// Declares the host's data; for gradients of values, their places in W.
void SpmmDynamic::add_given(plan::Description& description) const {
  const Shape& shape = problem_.shape;
  for (std::uint32_t run = 0; run < runs(); ++run) {
    const char* matrix = shape.gradient ? "Wg" : options_.pass == Pass::forward ? "W" : "WT";
    program::Tensor like{
        name_of(matrix, run), shape.gradient ? Role::gradient : Role::weights, shape.type, {}};
    like.run = run;
    const auto add = shape.gradient ? sparse::add_pattern : sparse::add_given;
    add(description, like, patterns_[run]);
  }
  description.tensor(
      data::tensor_of(options_.pass == Pass::grad_input ? "Yg" : "X", x_, shape.type));
  if (shape.gradient) description.tensor(data::tensor_of("Yg", yg_, shape.type));
}

program::Program SpmmDynamic::lowered() const {
  plan::Description description(tiles_);
  const auto parts = std::make_shared<const Parts>(problem_, plan_.pool);
  const sparse::TileCode code;
  const auto given = std::make_shared<Given>();
  given->x = &x_;
  given->yg = &yg_;
  given->pool = [this, parts](std::uint32_t run, std::uint32_t partition) {
    return pool_bytes(parts->bytes, plan_.pool, patterns_[run], packings_[run], partition);
  };
  add_results(description, parts, state_program(description, *parts, code, {}, given));
  add_given(description);
  return plan::lower(description);
}

}  // namespace tessera::spmm_dynamic
