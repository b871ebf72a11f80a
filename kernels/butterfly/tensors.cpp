#include <utility>

#include "kernels/butterfly/butterfly.h"
#include "kernels/butterfly/gradient.h"
#include "kernels/butterfly/storage.h"
#include "sim/data/element.h"

namespace tessera::butterfly {

using program::BufferId;
using program::Role;
using program::Tensor;

namespace {

/// Who holds a part of the result: tiles of each round.
struct Holder {
  std::uint32_t round, tile;
};

/// Y or Xg[features, n], whose buffers are a program's first, those of a round for every tile of
/// the machine.
Tensor result_of(const Geometry& geometry, std::uint32_t machine_tiles) {
  const Problem& p = geometry.problem;
  const bool planned = p.layout == Layout::planned;
  Tensor tensor{p.pass == Pass::forward ? "Y" : "Xg",
                p.pass == Pass::forward ? Role::result : Role::gradient,
                p.type(),
                {p.features, p.n},
                p.is_complex()};
  if (p.is_complex()) tensor.shape.push_back(2);
  std::vector<Holder> holders;
  for (std::uint32_t round = 0; round < geometry.plan.rounds; ++round) {
    const Geometry its = geometry.round(round);
    const StoredRows stored(its, machine_tiles);
    for (std::uint32_t t = 0; t < (planned ? its.tiles() : stored.storage().tiles()); ++t) {
      holders.push_back({round, t});
      tensor.parts.push_back({{BufferId(round * machine_tiles + t)},
                              word(planned ? its.bytes(t) : stored.storage().bytes_on(t))});
    }
  }
  const Rows rows =
      schedule(p, geometry.plan.split_features, geometry.plan.fused, p.pass == Pass::grad_input)
          .back()
          .rows;
  tensor.runs = [geometry, machine_tiles, holders, rows, planned](std::size_t part,
                                                                  program::Runs& runs) {
    const Problem& of = geometry.problem;
    const std::uint64_t width = std::uint64_t{of.n} * (of.is_complex() ? 2 : 1);
    const auto take = [&](std::uint64_t feature, std::uint64_t column, std::size_t at) {
      runs.add(at, feature * width + column);
    };
    const auto [round, tile] = holders[part];
    const Geometry its = geometry.round(round);
    if (planned) return its.for_values(tile, rows, take);
    const StoredRows stored(its, machine_tiles);
    stored.for_numbers(stored.storage().begin(tile),
                       stored.storage().bytes_on(tile) / data::element_bytes(of.type()), take);
  };
  return tensor;
}

/// Pieces of a tile's gradients of blocks, without padding.
void block_runs(const GradientLayout& layout, const Problem& p, std::uint32_t tile,
                program::Runs& runs) {
  const std::uint32_t outputs = p.outer.columns;
  const std::uint32_t side = 2 * p.padded();
  std::uint64_t at = 0;
  layout.for_pieces(tile, [&](std::uint32_t stage, std::uint32_t pair, std::uint32_t piece) {
    const std::uint32_t from = piece % side;
    const std::uint32_t to = piece / side * outputs;
    const std::uint32_t row = to % p.padded();
    const std::uint32_t column = from % p.padded();
    if (row < p.block && column < p.block) {
      const std::uint64_t quarter = std::uint64_t{to / p.padded()} * 2 + from / p.padded();
      const std::uint64_t first = (std::uint64_t{stage} * p.pairs() + pair) * 4 + quarter;
      runs.add({at, (first * p.block + row) * p.block + column, std::min(outputs, p.block - row),
                p.block});
    }
    at += outputs;
  });
}

/// Of every twiddle, in f32; its shares' buffers are a program's first.
Tensor gradient_of(const Geometry& geometry) {
  const Problem& p = geometry.problem;
  const std::uint32_t numbers = p.twiddle_parameters();
  Tensor tensor{"twiddles_g", Role::gradient, program::Type::f32, twiddle_shape(p),
                p.complex_code()};
  const GradientLayout layout(geometry);
  if (p.blocked()) {
    for (std::uint32_t t = 0; t < geometry.tiles(); ++t)
      tensor.parts.push_back({{BufferId(t)}, word(layout.share(t).size())});
    tensor.runs = [layout, p](std::size_t tile, program::Runs& runs) {
      block_runs(layout, p, word(tile), runs);
    };
    return tensor;
  }
  for (std::uint32_t t = 0; t < geometry.tiles(); ++t)
    tensor.parts.push_back(
        {{BufferId(t)}, word(layout.share(t).size() / layout.pair_bytes() * numbers * 4)});
  tensor.runs = [layout, numbers, pairs = std::uint64_t{p.pairs()}](std::size_t tile,
                                                                    program::Runs& runs) {
    std::uint64_t at = 0;
    layout.for_pairs(word(tile), [&](std::uint32_t stage, std::uint32_t pair) {
      runs.add({at, (stage * pairs + pair) * numbers, numbers, 1});
      at += numbers;
    });
  };
  return tensor;
}

}  // namespace

program::Program Butterfly::build() const {
  const Problem& p = options_.problem;
  program::Program program = build_program(geometry_, machine_, operands_);
  const bool back = p.pass == Pass::grad_input;
  const bool of_twiddles = p.pass == Pass::grad_twiddles;
  program.add_tensor(of_twiddles ? gradient_of(geometry_) : result_of(geometry_, machine_.tiles));
  program.add_tensor(data::tensor_of(back ? "Yg" : "X", operands_.x, p.type(), p.is_complex()));
  if (of_twiddles)
    program.add_tensor(data::tensor_of("Yg", operands_.gradient, p.type(), p.is_complex()));
  Tensor twiddles{"twiddles", Role::weights, p.twiddle_type(), twiddle_shape(p), p.complex_code()};
  twiddles.given = [this, type = p.twiddle_type()](std::uint64_t first, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size() / data::element_bytes(type); ++i)
      data::store_element(type, into, i, operands_.twiddles.file_value(first + i));
  };
  program.add_tensor(std::move(twiddles));
  return program;
}

}  // namespace tessera::butterfly
