#include "kernels/mlp/pixelfly_weights.h"

#include <algorithm>

#include "kernels/sparse/operand/sources.h"

namespace tessera::mlp {

using training::Lines;

namespace {

/// Of an element at rest: the product's output and input.
struct Use {
  std::uint64_t out, in;
};
Use use_of(const Taking& taking, std::uint64_t row, std::uint64_t column) {
  if (taking.rows) return {row, column - taking.first + taking.input};
  return {column - taking.first, row};
}

/// The other way round; whether the weights at rest have that element.
struct Element {
  std::uint64_t row, column;
  bool held;
};
Element element_of(const Taking& taking, std::uint64_t out, std::uint64_t in) {
  if (taking.rows && in < taking.input) return {0, 0, false};
  const std::uint64_t column = taking.first + (taking.rows ? in - taking.input : out);
  const std::uint64_t row = taking.rows ? out : in;
  return {row, column, column < taking.end && taking.from.holds(row, column)};
}

/// Lines of elements that lie side by side at rest, of blocks that are taken.
class RestLines {
 public:
  explicit RestLines(const std::vector<Taking>& takings)
      : takings_(takings),
        from_(takings.front().from),
        line_(from_.of.line()),
        a_block_(from_.of.area() / line_) {
    for (std::uint64_t e = 0; e < from_.blocks(); ++e)
      if (const Taking* taking = taking_of(e)) blocks_.push_back({e, taking});
  }

  [[nodiscard]] Assembly::Extent extent() const {
    return {word(blocks_.size() * a_block_), line_, line_};
  }
  [[nodiscard]] Lines lines() const {
    return {[this](std::uint64_t number, std::uint64_t begin, std::uint64_t end) {
      const std::uint64_t before =
          (blocks_[number / a_block_].number * from_.of.area() + number % a_block_ * line_) *
          from_.element_bytes;
      Lines::Pieces pieces;
      for (const auto& piece : from_.storage.pieces(before + begin, before + end))
        pieces.push_back({{from_.taken(piece.tile), piece.offset}, piece.at, piece.bytes});
      return pieces;
    }};
  }
  /// Of the lines' elements number j, line by line.
  [[nodiscard]] Lines turned() const {
    return {[this](std::uint64_t j, std::uint64_t begin, std::uint64_t end) {
      Lines::Pieces pieces;
      std::uint64_t step = 0;
      for (std::uint64_t at = begin; at < end; at += step) {
        const std::uint64_t number = at / from_.element_bytes;
        const Block& block = blocks_[number / a_block_];
        const Values& to = block.taking->to;
        step = to.run() * from_.element_bytes;
        const Use use = use_at(block, number % a_block_, j);
        if (!to.holds(use.out, use.in)) continue;
        const std::uint64_t byte = to.byte(use.out, use.in);
        for (const auto& piece : to.storage.pieces(byte, byte + step))
          pieces.push_back(
              {{to.buffers[piece.tile], piece.offset}, word(at - begin + piece.at), piece.bytes});
      }
      return pieces;
    }};
  }

 private:
  struct Block {
    std::uint64_t number;
    const Taking* taking;
  };
  [[nodiscard]] const Taking* taking_of(std::uint64_t e) const {
    const std::uint64_t column = std::uint64_t{from_.of.column(e)} * from_.block;
    const auto found = std::find_if(takings_.begin(), takings_.end(), [&](const Taking& taking) {
      return column >= taking.first && column < taking.end;
    });
    return found == takings_.end() ? nullptr : &*found;
  }
  [[nodiscard]] Use use_at(const Block& block, std::uint64_t line, std::uint64_t j) const {
    const std::uint64_t across = line % from_.block;
    const std::uint64_t along = line / from_.block * line_ + j;
    const bool down = from_.of.down();
    const std::uint64_t row = std::uint64_t{from_.of.row(block.number)} * from_.block;
    const std::uint64_t column = std::uint64_t{from_.of.column(block.number)} * from_.block;
    return use_of(*block.taking, row + (down ? along : across), column + (down ? across : along));
  }

  const std::vector<Taking>& takings_;
  const AtRest& from_;
  std::uint32_t line_;
  std::uint64_t a_block_;  ///< lines
  std::vector<Block> blocks_;
};

}  // namespace

void add_copies(program::Exchange& exchange, const Taking& taking) {
  const AtRest& from = taking.from;
  const Values& to = taking.to;
  const spmm_static::Deal& deal = to.partition.deal;
  const std::uint64_t side = to.partition.shape.block;
  const std::uint64_t run = std::min<std::uint64_t>(to.run(), from.of.line());
  for (std::uint64_t e = 0; e < deal.blocks(); ++e) {
    if (!element_of(taking, deal.row[e] * side, deal.column[e] * side).held) continue;
    for (std::uint64_t in = deal.column[e] * side; in < (deal.column[e] + 1) * side; ++in) {
      for (std::uint64_t out = deal.row[e] * side; out < (deal.row[e] + 1) * side; out += run) {
        const Element element = element_of(taking, out, in);
        const std::uint64_t source = from.byte(element.row, element.column);
        for (const auto& given : from.storage.pieces(source, source + run * from.element_bytes)) {
          const std::uint64_t begin = to.byte(out, in) + given.at;
          sparse::scatter(exchange, {from.taken(given.tile), given.offset}, to.storage, to.buffers,
                          begin, begin + given.bytes);
        }
      }
    }
  }
}

void add_turned(Assembly& assembly, const std::vector<Taking>& takings) {
  const RestLines lines(takings);
  assembly.transpose(lines.lines(), lines.turned(), lines.extent());
}

}  // namespace tessera::mlp
