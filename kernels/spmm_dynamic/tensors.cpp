#include "kernels/sparse/tensors.h"

#include <fmt/format.h>

#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_dynamic/steps.h"

namespace tessera::spmm_dynamic {

using program::Role;
using program::TensorPart;

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

void SpmmDynamic::add_tensors(program::Program& program, const Work& work) const {
  const Shape& shape = problem_.shape;
  const bool forward = options_.pass == Pass::forward;
  std::vector<TensorPart> parts;
  std::vector<sparse::Chunked> chunks;
  const kernels::EvenStorage rows = row_storage(problem_, work.grid(), problem_.block_rows);
  for (const Cell& one : work.cells) {
    const std::uint32_t t = index(one.tile);
    sparse::Chunked part = work.y_part(one);
    if (shape.natural()) {
      const std::uint64_t first = rows.begin(t) / shape.bytes();
      part = {{first, first + rows.bytes_on(t) / shape.bytes()},
              1,
              std::uint64_t{work.grid().columns} * work.grid().z,
              {0, rows.bytes()}};
    }
    chunks.push_back(part);
    parts.push_back({{work.results[t]}, word(part.elements.size() * shape.bytes())});
  }
  for (std::uint32_t run = 0; run < runs(); ++run) {
    if (shape.gradient) {
      add_values(program, work, run);
      continue;
    }
    const std::string name = result_name(run);
    program::Tensor tensor =
        sparse::tensor_of({name, forward ? Role::result : Role::gradient, shape.type,
                           patterns_[run].rows, options_.n},
                          parts, [chunks](std::size_t part) { return chunks[part]; });
    tensor.run = run;
    program.add_tensor(std::move(tensor));
    sparse::add_given(program, {name_of(forward ? "W" : "WT", run), Role::weights, shape.type, run},
                      patterns_[run]);
  }
  program.add_tensor(
      data::tensor_of(options_.pass == Pass::grad_input ? "Yg" : "X", x_, shape.type));
  if (shape.gradient) program.add_tensor(data::tensor_of("Yg", yg_, shape.type));
}

/// A cell holds a stretch of the values of its partition's pool, unit after unit.
void SpmmDynamic::add_values(program::Program& program, const Work& work, std::uint32_t run) const {
  const sparse::BlockMatrix& w = patterns_[run];
  const Shape& shape = problem_.shape;
  struct Values {
    std::uint32_t pool;
    Interval elements;
  };
  std::vector<Values> held;
  program::Tensor tensor{
      result_name(run), Role::gradient, shape.type, {w.blocks(), w.block, w.block}};
  tensor.run = run;
  for (const Cell& one : work.cells) {
    const Interval chunks = work.bytes.share(one.y, one.z);
    const std::uint64_t each = kChunkBytes / shape.partial_bytes();
    held.push_back({one.y * work.grid().x + one.x, {chunks.begin * each, chunks.end * each}});
    tensor.parts.push_back(
        {{work.results[index(one.tile)]}, word(held.back().elements.size() * shape.bytes())});
  }
  tensor.runs = [this, run, held, area = std::uint64_t{w.block} * w.block](std::size_t part,
                                                                           program::Runs& runs) {
    const Interval elements = held[part].elements;
    for_each_unit(
        plan_.pool, packings_[run].pools[held[part].pool],
        [&](std::uint32_t unit, std::uint64_t e) {
          const std::uint64_t first = std::max(unit * area, elements.begin);
          const std::uint64_t end = std::min((unit + 1) * area, elements.end);
          if (first < end)
            runs.add({first - elements.begin, e * area + first - unit * area, end - first, 1});
        });
  };
  program.add_tensor(std::move(tensor));
  sparse::add_pattern(program, {name_of("Wg", run), Role::gradient, shape.type, run}, w);
}

}  // namespace tessera::spmm_dynamic
