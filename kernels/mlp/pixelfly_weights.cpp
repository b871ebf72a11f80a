#include "kernels/mlp/pixelfly_weights.h"

#include <algorithm>

#include "kernels/pixelfly/operands.h"

namespace tessera::mlp {

namespace {

/// The stored element of a product's output and input; `held`: there is one.
struct Element {
  std::uint64_t row, column;
  bool held;
};
Element element_of(const StoredOperand& taking, std::uint64_t out, std::uint64_t in) {
  if (taking.rows && in < taking.input) return {0, 0, false};
  const std::uint64_t column = taking.first + (taking.rows ? in - taking.input : out);
  const std::uint64_t row = taking.rows ? out : in;
  return {row, column, column < taking.end && taking.from->holds(row, column)};
}

/// Lines of contiguous stored elements, of those blocks that a product takes.
class RestLines {
 public:
  explicit RestLines(const std::vector<StoredOperand>& operands)
      : from_(operands.front().from),
        array_(operands.front().array),
        line_(from_->of.line()),
        a_block_(from_->of.area() / line_),
        place_(from_->blocks()) {
    for (std::uint64_t e = 0; e < from_->blocks(); ++e) {
      const std::uint64_t column = std::uint64_t{from_->of.column(e)} * from_->block;
      const bool taken = std::ranges::any_of(operands, [&](const StoredOperand& taking) {
        return column >= taking.first && column < taking.end;
      });
      if (!taken) continue;
      place_[e] = blocks_.size();
      blocks_.push_back(e);
    }
  }

  [[nodiscard]] std::uint32_t count() const { return word(blocks_.size() * a_block_); }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] std::vector<training::GivenLines::Piece> pieces(std::uint64_t number,
                                                                std::uint64_t begin,
                                                                std::uint64_t end) const {
    const std::uint64_t before =
        (blocks_[number / a_block_] * from_->of.area() + number % a_block_ * line_) *
        from_->element_bytes;
    std::vector<training::GivenLines::Piece> pieces;
    for (const auto& piece : from_->storage.pieces(before + begin, before + end))
      pieces.push_back({piece.tile, {array_, piece.offset}, piece.at, piece.bytes});
    return pieces;
  }
  /// Place of an element: the number of its line, and its number within the line.
  struct InLine {
    std::uint64_t line, number;
  };
  [[nodiscard]] InLine place(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t block = from_->block;
    const std::uint64_t e = from_->number(row, column);
    const std::uint64_t along = (from_->of.down() ? row : column) % block;
    const std::uint64_t across = (from_->of.down() ? column : row) % block;
    return {place_[e] * a_block_ + along / line_ * block + across, along % line_};
  }

 private:
  std::shared_ptr<const StoredLayout> from_;
  BufferId array_;
  std::uint32_t line_;
  std::uint64_t a_block_;              ///< lines per block
  std::vector<std::uint64_t> blocks_;  ///< numbers of the taken blocks
  std::vector<std::uint64_t> place_;   ///< by block: its index in blocks_
};

}  // namespace

void pull_copies(const StoredOperand& taking, Tile tile, Pulls& pulls) {
  const StoredLayout& from = *taking.from;
  const std::uint64_t size = from.element_bytes;
  taking.to->for_runs(
      tile, std::min<std::uint64_t>(taking.to->run(), from.of.line()),
      [&](std::uint64_t out, std::uint64_t in, std::uint64_t number, std::uint64_t count) {
        const Element element = element_of(taking, out, in);
        if (!element.held) return;
        const std::uint64_t source = from.element(element.row, element.column) * size;
        kernels::pull(pulls, {taking.to->array, word(number * size)}, from.storage, taking.array,
                      source, source + count * size);
      });
}

void add_turned(training::Statement& statement, const std::vector<StoredOperand>& operands) {
  const auto lines = std::make_shared<const RestLines>(operands);
  const std::uint64_t size = statement.element_bytes();
  const training::GivenLines given{
      [lines](std::uint64_t line, std::uint64_t begin, std::uint64_t end) {
        return lines->pieces(line, begin, end);
      },
      [from = operands.front().from](Tile tile) -> std::uint64_t {
        return from->storage.bytes_on(tile);
      },
      lines->count(), lines->line() * size};
  const training::WantedLines wanted{
      [lines, operands, size](Tile tile) {
        std::vector<training::WantedLines::Piece> pieces;
        for (const StoredOperand& taking : operands)
          taking.to->for_runs(
              tile, taking.to->run(),
              [&](std::uint64_t out, std::uint64_t in, std::uint64_t number, std::uint64_t count) {
                const Element element = element_of(taking, out, in);
                if (!element.held) return;
                const RestLines::InLine place = lines->place(element.row, element.column);
                pieces.push_back({place.number,
                                  place.line * size,
                                  {taking.to->array, word(number * size)},
                                  word(count * size)});
              });
        return pieces;
      },
      lines->line(), lines->count() * size};
  statement.transpose(given, wanted, {lines->count(), lines->line(), lines->line()});
}

using pixelfly::Factor;
using pixelfly::kSumBytes;

PixelflyGamma::PixelflyGamma(training::Statement& statement, const LayerContext& context,
                             std::shared_ptr<const StoredLayout> w, std::uint64_t first_of_u)
    : statement_(statement),
      w_(std::move(w)),
      runs_([w = w_, first_of_u, bias = context.linear.padded_inputs()](Tile tile) {
        return pixelfly::factor_runs(w->of, tile, [&](std::uint64_t e) {
          const std::uint64_t column = std::uint64_t{w->of.column(e)} * w->block;
          if (column >= first_of_u) return Factor::of_uv;
          return column == bias ? Factor::none : Factor::of_s;
        });
      }),
      fixed_(*context.linear.layer.gamma) {
  if (!context.linear.layer.learn_gamma) return;
  const std::uint64_t number = pixelfly_order(context.linear, context.linear.mask()).end;
  parameter_ = context.maker.apart([](Tile tile) { return tile == 0 ? 1U : 0U; },
                                   [number](Tile /*tile*/) { return std::vector{number}; });
  gamma_ = statement.array_on_first(w_->storage.tiles(), "gamma", sizeof(float));
}

BufferId PixelflyGamma::multiply(BufferId weights) {
  plan::Description& d = statement_.description();
  const Tile tiles = w_->storage.tiles();
  if (parameter_)
    d.exchange("gamma", tiles,
               [to = gamma_, from = parameter_->weights](Tile /*tile*/, Pulls& pulls) {
                 pulls.push_back({{to}, 0, {from}, sizeof(float)});
               });
  if (!scaling_ && parameter_)
    scaling_.emplace(statement_.sparse(), statement_.type(), gamma_, runs_);
  else if (!scaling_)
    scaling_.emplace(statement_.sparse(), statement_.type(), fixed_, runs_);
  const BufferId copies = statement_.sparse().stored(w_->storage, "weights times gamma");
  d.compute("scale", tiles, [scaling = *scaling_, weights, copies](Tile tile, Calls& calls) {
    scaling.add(calls, tile, weights, copies);
  });
  return copies;
}

void PixelflyGamma::add_gradients(const Parameters& w) {
  plan::Description& d = statement_.description();
  const Tile tiles = w_->storage.tiles();
  if (!parameter_)
    return d.compute("gradients of parts", tiles,
                     [scaling = *scaling_, of = w.gradient](Tile tile, Calls& calls) {
                       scaling.add(calls, tile, of, of);
                     });
  const std::uint32_t contexts = statement_.contexts();
  const BufferId workers =
      statement_.array_on_first(tiles, "gamma gradients", contexts * sizeof(float));
  const BufferId sums = statement_.array_on_first(tiles, "gamma gradient", kSumBytes);
  d.compute("gradients of parts", tiles,
            [=, scaling = *scaling_,
             code = pixelfly::Scaling::gradient_code(statement_.sparse(), w.gradients),
             adds = statement_.sparse().codelet("gamma_sum"), of = w.gradient,
             weights = w.weights](Tile tile, Calls& calls) {
              scaling.add_gradients(calls, tile, code, of, weights, workers);
              calls.add(pixelfly::sum_of(adds, workers, contexts, sums));
            });
  add_up(sums);
}

/// Sums gamma's gradients within groups of tiles, then over the groups on tile 0.
void PixelflyGamma::add_up(BufferId sums) {
  const Tile tiles = w_->storage.tiles();
  const auto groups = std::make_shared<const training::Groups>(training::Groups::of_first(tiles));
  // On each tile, sums the values of the tiles in of(tile).
  const auto level = [&](BufferId from, const auto& of, BufferId into) {
    const BufferId received = statement_.array(
        "gamma gradients received", [of](Tile tile) { return of(tile).size() * sizeof(float); });
    statement_.description().exchange("gamma gradients", tiles, [=](Tile tile, Pulls& pulls) {
      training::pull_each(pulls, received, of(tile), from, sizeof(float));
    });
    statement_.description().compute(
        "gamma gradients", tiles,
        [of, received, into, code = statement_.sparse().codelet("gamma_sum")](Tile tile,
                                                                              Calls& calls) {
          if (const auto count = of(tile).size(); count > 0)
            calls.add(pixelfly::sum_of(code, received, count, into));
        });
  };
  const BufferId of_groups = statement_.array("gamma gradient of a group", [groups](Tile tile) {
    return groups->members(tile).empty() ? 0 : kSumBytes;
  });
  level(
      sums, [groups](Tile tile) { return groups->members(tile); }, of_groups);
  const auto leads = [all = groups->leads()](Tile tile) {
    return tile == 0 ? std::span<const Tile>(all) : std::span<const Tile>();
  };
  level(of_groups, leads, parameter_->gradient);
}

}  // namespace tessera::mlp
