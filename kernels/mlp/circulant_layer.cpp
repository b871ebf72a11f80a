#include <numbers>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

namespace {

constexpr std::uint32_t kUnitBytes = 16;  ///< two complex numbers, four samples

/// The stacks' first columns c of W, stored as extra samples behind all others: one unit each in
/// every row.
struct Columns {
  FeatureRows rows;
  std::uint32_t stacks;

  [[nodiscard]] std::uint64_t unit(std::uint32_t stack) const {
    return rows.geometry.problem.units() - stacks + stack;
  }
  [[nodiscard]] bool on(std::uint32_t stack, Tile tile) const {
    if (tile >= rows.geometry.tiles()) return false;
    const Interval mine = rows.geometry.units(tile);
    return unit(stack) >= mine.begin && unit(stack) < mine.end;
  }
  /// The tile that holds a stack's column, among the tiles with the same features as `tile`.
  [[nodiscard]] Tile holder(std::uint32_t stack, Tile tile) const {
    Tile holder = tile;
    rows.geometry.for_alike(tile, [&](Tile other) { holder = on(stack, other) ? other : holder; });
    return holder;
  }
  /// Byte offset of a row's number in that tile's array.
  [[nodiscard]] std::uint32_t offset(std::uint32_t stack, Tile tile, std::uint32_t row) const {
    const Interval mine = rows.geometry.units(tile);
    return word((row * mine.size() + unit(stack) - mine.begin) * kUnitBytes);
  }
  /// Numbers of the parameters that a tile holds.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint32_t stack, Tile tile) const {
    std::vector<std::uint64_t> all;
    for (std::uint32_t row = 0; on(stack, tile) && row < rows.geometry.rows(); ++row)
      all.push_back(std::uint64_t{stack} * rows.geometry.problem.features +
                    rows.first().feature(rows.geometry.feature_part(tile), row));
    return all;
  }
};

/// y = T^-1 D T x + b: T is a Fourier transform with its result in bit-reversed order, D the
/// transform of W's first column c. Since W is real, two samples make one complex number.
class CirculantLayer : public TransformLayer {
 public:
  CirculantLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan)
      : TransformLayer(statement, context, plan, forward_twiddle, back_twiddle),
        columns_of_{rows_, stacks()} {
    for (std::uint32_t s = 0; s < stacks(); ++s)
      numbers_.insert(numbers_.begin() + s,
                      {.kept = context_.maker.apart(
                           [its = columns_of_, s](Tile tile) {
                             return its.on(s, tile) ? its.rows.geometry.rows() : 0;
                           },
                           [its = columns_of_, s](Tile tile) { return its.numbers(s, tile); })});
  }

 protected:
  Arrays multiply(const Arrays& x) override {
    x_ = widened(x.front());
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(column_calls("training_add_bias", x_, s, weights(s).kept.weights));
    transform({x_}, false);
    spectra_ = make_spectra("spectrum");
    exchange("spectrum", [x = x_, to = spectra_, from = columns_of_](Tile tile, Pulls& pulls) {
      for (std::uint32_t s = 0; s < to.size(); ++s)
        for (std::uint32_t row = 0; row < from.rows.geometry.rows(); ++row) {
          const Tile holder = from.holder(s, tile);
          pulls.push_back(
              {{to[s], row * kUnitBytes}, holder, {x, from.offset(s, holder, row)}, kUnitBytes});
        }
    });
    Arrays results;
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      results.push_back(complex_rows("inputs of factors"));
      add(complex_calls("training_scale_complex", x_, spectra_[s], results[s]));
    }
    transform(results, true);
    for (BufferId& each : results) each = narrowed(each);
    return results;
  }

  /// The transform of c's gradient is the sum over samples of the gradient's transform times the
  /// conjugate of x's; it is transformed back in the place of c.
  Arrays multiply_back(const Arrays& gradients, bool wanted) override {
    Arrays back;
    for (const BufferId each : gradients) back.push_back(widened(each));
    transform(back, false);
    const Arrays products = make_spectra("sums");
    const Share share = rows_.by_rows(kUnitBytes, kUnitBytes);
    std::vector<Sum> sums;
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      sums.push_back({share.sums, products[s], products[s]});
      add(complex_calls("training_complex_products", back[s], x_, products[s]));
      add(complex_calls("training_scale_conjugate", back[s], spectra_[s], back[s]));
    }
    factors_.add_shares(sums);
    exchange("spectrum of gradients",
             [share, products, back, to = columns_of_](Tile tile, Pulls& pulls) {
               for (std::uint32_t s = 0; s < back.size(); ++s) {
                 if (!to.on(s, tile)) continue;
                 to.rows.geometry.for_alike(tile, [&](Tile from) {
                   const Interval rows = share.applied(from);
                   for (std::uint64_t at = rows.begin; at < rows.end; at += kUnitBytes)
                     pulls.push_back({{back[s], to.offset(s, tile, word(at / kUnitBytes))},
                                      from,
                                      {products[s], word(at)},
                                      kUnitBytes});
                 });
               }
             });
    transform(back, true);
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      const Parameters& column = weights(s).kept;
      // f16: unused elements must not look like overflowed gradients.
      if (column.count(columns_of_.holder(s, 0)) > rows_.geometry.rows())
        add(statement_.clearing(column.gradient));
      add(column_calls("training_row_sums", back[s], s, column.gradient));
    }
    if (!wanted) return {};
    add_stacks(back, program::Type::f32);
    return {narrowed(back.front())};
  }

 private:
  static std::complex<double> turn(std::uint32_t feature, std::uint32_t stride) {
    return std::polar(1.0, -std::numbers::pi * (feature % stride) / stride);
  }
  static Twiddle forward_twiddle(std::uint32_t feature, std::uint32_t stride) {
    return {1, 1, turn(feature, stride), -turn(feature, stride)};
  }
  static Twiddle back_twiddle(std::uint32_t feature, std::uint32_t stride) {
    const std::complex<double> half = std::conj(turn(feature, stride)) / 2.0;
    return {0.5, half, 0.5, -half};
  }

  BufferId complex_rows(std::string_view name) {
    return factors_.array(name,
                          [geometry = rows_.geometry](Tile tile) { return geometry.bytes(tile); });
  }
  /// Makes arrays of one unit per row, one for each stack.
  Arrays make_spectra(std::string_view name) {
    return of_stacks([&](std::uint32_t /*stack*/) {
      return factors_.array(name,
                            [bytes = rows_.row_bytes(kUnitBytes)](Tile /*tile*/) { return bytes; });
    });
  }
  /// Converts rows from the matrices' type to f32; narrowed() converts back.
  BufferId widened(BufferId rows) {
    if (!statement_.halves()) return rows;
    const BufferId made = complex_rows("inputs of factors");
    add(training::Statement::over(statement_.code("training_widen"),
                                  statement_.description().array(rows).bytes,
                                  {Place{rows}, Place{made}}));
    return made;
  }
  BufferId narrowed(BufferId rows) {
    if (!statement_.halves()) return rows;
    const BufferId made = row_array("inputs of factors");
    add([&packing = factors_.dense().packing(), rows, made,
         bytes = statement_.description().array(rows).bytes](Tile tile, Calls& calls) {
      if (bytes(tile) > 0) calls.add(packing, {bytes(tile) / gemm::kPair}, {{rows}, {made}});
    });
    return made;
  }

  CallsOf complex_calls(const char* name, BufferId a, BufferId b, BufferId result) const {
    return row_calls(name, {Place{a}, Place{b}, Place{result}}, kUnitBytes);
  }
  /// Calls of code on the real parts of a column, with one of `numbers` per row.
  CallsOf column_calls(const char* name, BufferId array, std::uint32_t stack,
                       BufferId numbers) const {
    return [code = statement_.code(name), its = columns_of_, stack, array, numbers](Tile tile,
                                                                                    Calls& calls) {
      if (!its.on(stack, tile)) return;
      const butterfly::Geometry& geometry = its.rows.geometry;
      calls.add_by_size(
          code.all({Place{array, its.offset(stack, tile, 0)}, Place{numbers}, 1U, geometry.rows(),
                    word(geometry.units(tile).size() * kUnitBytes / training::kWordBytes)}));
    };
  }

  const Columns columns_of_;
  BufferId x_{};    ///< the transform of this turn's x and c
  Arrays spectra_;  ///< spectra of c, by stack, on all tiles
};

}  // namespace

std::unique_ptr<Layer> make_circulant(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  return std::make_unique<CirculantLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
