#include "kernels/spmm_static/product.h"

namespace tessera::spmm_static {

using kernels::behind;
using plan::Function;
using program::Argument;
using Operands = std::span<const Place>;

namespace {

constexpr FittedCost::Axis kMeasured = FittedCost::Axis::measured();

void store(std::span<std::byte> into, std::uint64_t place, std::uint64_t value) {
  const auto half = static_cast<std::uint16_t>(value);
  std::memcpy(&into[2 * place], &half, sizeof half);
}

/// Bytes of a product's operands: values of W, X for a block, list, and partial rows.
std::vector<std::uint64_t> block_bytes(const Shape& shape, std::uint64_t rows, std::uint64_t blocks,
                                       std::uint64_t width) {
  const std::uint64_t area = std::uint64_t{shape.block} * shape.block;
  const std::uint64_t row = shape.block * width;
  return {blocks * area * shape.bytes(), row * shape.bytes(), 2 * (rows + blocks),
          rows * row * shape.partial_bytes()};
}

std::string adding_name(const Shape& shape) {
  const char* types = kernels::type_name(shape.type, shape.partials);
  if (shape.output_runs() == 1) return fmt::format("reduce_{}", types);
  return fmt::format("reduce_{}_{}x{}", types, shape.output_runs(),
                     shape.y_depth() * shape.partial_bytes() / 8);
}

}  // namespace

Codelet block_codelet(const Statement& statement, const Shape& shape) {
  return statement.codelet("blocks_" + shape.name());
}

Function block_function(const Statement& statement, const Shape& shape) {
  const Codelet code = block_codelet(statement, shape);
  const auto width = [shape](const Sizes& sizes) { return word(sizes[2]) * shape.unroll(); };
  const auto vertex = [code, shape, width](const Sizes& sizes, Operands at) {
    const std::uint32_t unroll = shape.unroll();
    const std::uint32_t x_bytes = shape.x_depth() * shape.bytes();  // per column
    const std::uint32_t y_bytes = shape.y_depth() * shape.partial_bytes();
    return code.supervised(code.dealt(
        {at[0], at[1], at[2], word(sizes[0]), width(sizes) * x_bytes, 0U, 0U, 0U}, sizes[2],
        [&](Interval loops, kernels::Arguments& into) {
          const std::uint32_t first = word(loops.begin) * unroll;
          into.insert(into.end(), {first * x_bytes, behind(at[3], std::uint64_t{first} * y_bytes),
                                   word(loops.size()) - (unroll == 1 ? 3 : 2),
                                   shape.block * width(sizes) * shape.partial_bytes(),
                                   width(sizes) * y_bytes, 0U});
        }));
  };
  return {"blocks " + shape.name(),
          {FittedCost::Axis::turns(), FittedCost::Axis::turns(),
           FittedCost::Axis::shared(code.contexts)},
          vertex,
          [shape, width](const Sizes& sizes) {
            return block_bytes(shape, sizes[0], sizes[0] + sizes[1] - 1, width(sizes));
          },
          // Blocks of each row, less one; places are zeros.
          [](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand == 2) store(into, 2 * sizes[0] - 2, sizes[1] - 1);
          }};
}

program::Vertex vector_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                               std::uint32_t width, std::uint32_t together,
                               const std::vector<WorkerPart>& workers) {
  const std::uint32_t x_bytes = shape.x_depth() * shape.bytes();  // per column
  const std::uint32_t y_bytes = shape.y_depth() * shape.partial_bytes();
  const std::uint32_t row = shape.block * width * shape.partial_bytes();
  std::vector<Argument> arguments{row, places.x, width * y_bytes, 0U};
  for (const auto& [list, values, share] : workers) {
    const std::uint32_t first = share.first_pass * together;
    const std::uint32_t end = std::min((share.first_pass + share.passes) * together, width);
    arguments.insert(arguments.end(),
                     {first * x_bytes,
                      behind(places.partials,
                             std::uint64_t{share.first_row} * row + std::uint64_t{first} * y_bytes),
                      end - first - 3, behind(places.list, std::uint64_t{2} * list),
                      behind(places.values, std::uint64_t{values} * shape.bytes()), share.rows});
  }
  return code.all(std::move(arguments));
}

Function vector_function(const Statement& statement, const Shape& shape, Sharing sharing) {
  const Codelet code = block_codelet(statement, shape);
  const std::uint32_t area = shape.block * shape.block;
  const std::uint32_t groups = code.contexts / sharing.column_parts;  // of workers, with own rows
  const auto vertex = [=](const Sizes& sizes, Operands at) {
    const std::uint32_t rows = word(sizes[0]);
    const std::uint32_t blocks = word(sizes[0] + sizes[1]) - 1;
    std::vector<std::uint64_t> before{0};
    for (std::uint32_t i = 1; i <= groups * rows; ++i)
      before.push_back(before.back() + (i % rows == 0 ? sizes[1] : 1));
    std::vector<WorkerPart> parts;
    for (const sparse::WorkerRows& its : sharing.workers(before, word(sizes[2]), code.contexts)) {
      const std::uint32_t group = its.first_row / rows;
      parts.push_back({group * (rows + blocks), group * blocks * area, its});
    }
    return vector_product(code, shape, {at[0], at[1], at[2], at[3]}, word(sizes[2]),
                          sharing.together, parts);
  };
  return {
      fmt::format("blocks {} in {} by {}", shape.name(), sharing.column_parts, sharing.together),
      {FittedCost::Axis::turns(), FittedCost::Axis::turns(),
       FittedCost::Axis::shared(std::uint64_t{sharing.column_parts} *
                                shape.unit.positions_at_once())},
      vertex,
      [shape, groups](const Sizes& sizes) {
        return block_bytes(shape, groups * sizes[0], groups * (sizes[0] + sizes[1] - 1), sizes[2]);
      },
      [groups](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
        const std::uint64_t list = 2 * sizes[0] + sizes[1] - 1;
        for (std::uint32_t group = 0; operand == 2 && group < groups; ++group)
          store(into, group * list + 2 * sizes[0] - 2, sizes[1] - 1);
      }};
}

Codelet element_codelet(const Statement& statement, const Shape& shape, std::uint32_t words) {
  return statement.codelet(fmt::format("{}rows_{}", words == 2 ? "" : "narrow_",
                                       kernels::type_name(shape.type, shape.partials)));
}

program::Vertex element_product(Codelet code, const Shape& shape, const ProductPlaces& places,
                                std::uint32_t width, std::uint32_t words,
                                const std::vector<WorkerPart>& workers) {
  const std::uint32_t row = width * shape.bytes();
  const std::uint32_t done = words == 2 ? 0 : row / 16 * 16;  // bytes of X's row in wide passes
  const std::uint32_t widen = shape.partial_bytes() / shape.bytes();
  std::vector<Argument> arguments{behind(places.x, done),
                                  behind(places.partials, std::uint64_t{done} * widen), row,
                                  row * widen};
  for (const WorkerPart& part : workers) {
    const std::uint32_t pass = part.share.first_pass * words * 8;
    arguments.insert(
        arguments.end(),
        {behind(places.list, std::uint64_t{2} * part.list),
         behind(places.values, std::uint64_t{part.values} * shape.bytes()), part.share.rows,
         part.share.passes, pass, (part.share.first_row * row + pass) * widen});
  }
  return code.all(std::move(arguments));
}

Function element_function(const Statement& statement, const Shape& shape, std::uint32_t words) {
  constexpr std::uint64_t kUnrolled = 8;
  const Codelet code = element_codelet(statement, shape, words);
  return {fmt::format("elements {} {}", words, kernels::type_name(shape.type, shape.partials)),
          {kMeasured, kMeasured, {2, kUnrolled}, kMeasured},
          [code, shape, words](const Sizes& sizes, Operands at) {
            const std::uint32_t rows = word(sizes[1]);
            const std::uint32_t nonzeros = word(sizes[2] - 1);
            const std::uint32_t passes = word(sizes[3]);
            std::vector<WorkerPart> parts;
            for (std::uint32_t w = 0; w < code.contexts; ++w) {
              const std::uint32_t first = w * rows;
              parts.push_back({first * (1 + nonzeros), first * round_up(nonzeros, 2U), {}});
              if (w + sizes[0] >= code.contexts) parts.back().share = {first, rows, 0, passes};
            }
            return element_product(code, shape, {at[0], at[1], at[2], at[3]},
                                   passes * words * shape.lanes(), words, parts);
          },
          [code, shape, words](const Sizes& sizes) {
            const std::uint64_t rows = sizes[1] * code.contexts;
            const std::uint64_t width = sizes[3] * words * shape.lanes();
            return std::vector{rows * round_up(sizes[2] - 1, std::uint64_t{2}) * shape.bytes(),
                               width * shape.bytes(), 2 * rows * sizes[2],
                               rows * width * shape.partial_bytes()};
          },
          // Nonzeros of each row; places are zeros.
          [code](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            for (std::uint64_t row = 0; operand == 2 && row < sizes[1] * code.contexts; ++row)
              store(into, row * sizes[2], sizes[2] - 1);
          }};
}

Codelet adding_codelet(const Statement& statement, const Shape& shape) {
  return statement.codelet(adding_name(shape));
}

program::Vertex adding(Codelet code, Place received, Place results, Place segments,
                       const std::vector<ReducingWorker>& workers) {
  std::vector<Argument> arguments{received, results};
  for (const ReducingWorker& worker : workers) {
    arguments.insert(arguments.end(),
                     {segments, word(worker.parts.size()), word(worker.first_word * 8), 0U});
    segments = behind(segments, worker.parts.size() * sizeof(SegmentPart));
  }
  return code.all(std::move(arguments));
}

std::vector<SegmentPart> segment_list(const std::vector<ReducingWorker>& workers) {
  std::vector<SegmentPart> list;
  for (const ReducingWorker& worker : workers)
    list.insert(list.end(), worker.parts.begin(), worker.parts.end());
  return list;
}

Function adding_function(const Statement& statement, const Shape& shape) {
  constexpr std::uint64_t kSettled = 4;
  const Codelet code = adding_codelet(statement, shape);
  const auto elements = [code, shape](const Sizes& sizes) {
    return sizes[0] * code.contexts * kChunkWords * shape.lanes();
  };
  const auto workers = [code, shape, elements](const Sizes& sizes) {
    return even_workers(shape, elements(sizes), sizes[1] - 1, code.contexts);
  };
  return {adding_name(shape),
          {{1, 1}, {1, kSettled}},
          [code, workers](const Sizes& sizes, Operands at) {
            return adding(code, at[0], at[1], at[2], workers(sizes));
          },
          [shape, elements, code](const Sizes& sizes) {
            return std::vector{elements(sizes) * sizes[1] * shape.partial_bytes(),
                               elements(sizes) * shape.bytes(),
                               code.contexts * sizeof(SegmentPart)};
          },
          [workers](const Sizes& sizes, std::size_t operand, std::span<std::byte> into) {
            if (operand != 2) return;
            const std::vector<SegmentPart> list = segment_list(workers(sizes));
            std::memcpy(into.data(), list.data(), list.size() * sizeof(SegmentPart));
          }};
}

}  // namespace tessera::spmm_static
