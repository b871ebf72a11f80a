#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <numbers>

#include "kernels/mlp/row_layer.h"

namespace tessera::mlp {

using kernels::Interval;
using program::Place;
using training::kWordBytes;

namespace {

/// y = x W + b where a transform T of stacks of N features, with twiddles that never change, makes
/// W out of diagonals: first T, then a diagonal, then T back.
class TransformLayer : public RowLayer {
 public:
  void forward(const MatrixArray& x, const MatrixArray& z) override {
    statement_.stand_for_others({tiles() - 1});
    std::vector<Sent> all;
    for (std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (Numbers& each : *of) all.push_back(sent(each));
    distribute(all);
    const BufferId rows = row_array("inputs of factors");
    bring(x, {rows}, rows_.first(), false);
    const Arrays results = multiply(rows);
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(row_calls("training_add_bias", {Place{results[s]}, Place{biases_[s].applied}}));
    factors_.finish();
    // Samples of padding have the bias too.
    take(results, rows_.first(), context_.linear.outputs, z, true);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
    const Arrays gradients = of_stacks([&] { return row_array("gradient of factors"); });
    bring(gradient, gradients, rows_.first(), true);
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add_sums(biases_[s], "training_row_sums", {Place{gradients[s]}});
    const BufferId rows = multiply_back(gradients, wanted);
    std::vector<Sum> sums;
    for (std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (Numbers& each : *of) sums.push_back(sum_of(each));
    factors_.add_shares(sums);
    factors_.finish("sums of shares");
    if (!wanted) return std::nullopt;
    const MatrixArray back = statement_.matrix(x.rows, x.columns, "gradient of activations");
    // What stands behind the samples is none.
    take({rows}, rows_.first(), std::min(context_.linear.inputs, features()), back, true);
    return back;
  }

  std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all = columns_;
    for (const std::vector<Numbers>* of : {&biases_, &diagonals_})
      for (const Numbers& each : *of) all.push_back(each.kept);
    return all;
  }

  void add_tensors(const std::string& name) const override {
    for (const Numbers& each : diagonals_) add_tensor(name, weights(), each);
    for (std::size_t s = 0; s < columns_.size(); ++s)
      add_tensor(name, weights(), columns_[s], column_numbers_[s]);
    for (const Numbers& each : biases_) add_tensor(name + "_bias", bias(), each);
  }

 protected:
  /// A pair's twiddle, by rows: a, b, c, d make a x + b y and c x + d y of features x and y.
  using Twiddle = std::array<std::complex<double>, 4>;
  /// That of the pair of `feature` and the one `stride` behind it.
  using TwiddleOf = Twiddle (*)(std::uint32_t feature, std::uint32_t stride);

  TransformLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan, TwiddleOf forth, TwiddleOf back)
      : RowLayer(statement, context, plan),
        forward_(twiddles(forth)),
        back_(back == forth ? forward_ : twiddles(back)) {
    for (std::uint32_t s = 0; s < stacks(); ++s) biases_.push_back(make_bias(rows_.first(), s));
  }

  /// States W x of each stack in rows of matrices' type, out of x in such rows.
  virtual Arrays multiply(BufferId x) = 0;
  /// The way back: gradients of parameters out of those of W x, and, if `wanted`, rows of the
  /// gradient of x, of matrices' type, of all stacks.
  virtual BufferId multiply_back(const Arrays& gradients, bool wanted) = 0;

  /// T of rows in place, or back.
  void transform(const Arrays& arrays, bool back) {
    for (std::uint32_t i = 0; i < passes().size(); ++i) {
      const std::uint32_t stage = back ? word(passes().size()) - 1 - i : i;
      const RowPass& pass = passes()[stage];
      if (!back) factors_.add_swap(pass, arrays);
      for (const BufferId array : arrays)
        add(butterfly::unit_calls(rows_.geometry, factors_.functions().pass(pass),
                                  {back ? back_ : forward_, pass_bytes() * stage}, array, array));
      if (back) factors_.add_swap(pass, arrays);
    }
  }
  [[nodiscard]] std::uint32_t stacks() const { return context_.linear.stacks(); }
  /// An array a stack.
  template <class Make>
  [[nodiscard]] Arrays of_stacks(const Make& make) const {
    Arrays all;
    for (std::uint32_t s = 0; s < stacks(); ++s) all.push_back(make());
    return all;
  }

  std::vector<Numbers> diagonals_;   ///< stack by stack, of matrices' type
  std::vector<Parameters> columns_;  ///< by stack: what is no diagonal
  std::vector<Numbering> column_numbers_;

 private:
  /// Every tile has those of its rows, pass after pass.
  BufferId twiddles(TwiddleOf twiddle) {
    return factors_.array(
        "twiddles", [bytes = pass_bytes() * passes().size()](Tile /*tile*/) { return bytes; },
        false,
        [rows = rows_, twiddle](Tile tile, std::span<std::byte> into) {
          const butterfly::Problem& problem = rows.geometry.problem;
          std::size_t at = 0;
          for (const RowPass& pass : rows.layout.passes())
            for (std::uint32_t group = 0; group < pass.groups(); ++group) {
              const std::uint32_t feature = pass.rows.feature(rows.geometry.feature_part(tile),
                                                              pass.first_row(problem, group));
              for (const auto& each : twiddle(feature, 1U << problem.bit(pass.stages.front()))) {
                data::store_element(problem.type(), into, at++, each.real());
                if (problem.is_complex())
                  data::store_element(problem.type(), into, at++, each.imag());
              }
            }
        });
  }
  [[nodiscard]] std::uint32_t pass_bytes() const {
    return butterfly::twiddle_bytes(rows_.geometry.problem, passes().front());
  }

  std::vector<Numbers> biases_;  ///< by stack
  BufferId forward_, back_;      ///< twiddles
};

constexpr std::uint32_t kUnitBytes = 16;  ///< of complex numbers: two words, four samples

/// The first columns c of stacks, each a sample behind all others: a unit of its own in every row.
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
  /// Of the tiles with the features of `tile` the one that has a column.
  [[nodiscard]] Tile holder(std::uint32_t stack, Tile tile) const {
    Tile holder = tile;
    rows.geometry.for_alike(tile, [&](Tile other) { holder = on(stack, other) ? other : holder; });
    return holder;
  }
  /// Where a row's number is among those of such a tile.
  [[nodiscard]] std::uint32_t offset(std::uint32_t stack, Tile tile, std::uint32_t row) const {
    const Interval mine = rows.geometry.units(tile);
    return word((row * mine.size() + unit(stack) - mine.begin) * kUnitBytes);
  }
  /// The parameters that a tile has.
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint32_t stack, Tile tile) const {
    std::vector<std::uint64_t> all;
    for (std::uint32_t row = 0; on(stack, tile) && row < rows.geometry.rows(); ++row)
      all.push_back(std::uint64_t{stack} * rows.geometry.problem.features +
                    rows.first().feature(rows.geometry.feature_part(tile), row));
    return all;
  }
};

/// y = T^-1 D T x + b: T is a Fourier transform that leaves its result in the order of reversed
/// bits, D that of W's first column c. Since W is real two samples are one complex number.
class CirculantLayer : public TransformLayer {
 public:
  CirculantLayer(training::Statement& statement, const LayerContext& context,
                 const ButterflyPlan& plan)
      : TransformLayer(statement, context, plan, forward_twiddle, back_twiddle),
        columns_of_{rows_, stacks()} {
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      column_numbers_.push_back([its = columns_of_, s](Tile tile) { return its.numbers(s, tile); });
      columns_.push_back(
          maker().numbers([its = columns_of_,
                           s](Tile tile) { return its.on(s, tile) ? its.rows.geometry.rows() : 0; },
                          values(column_numbers_.back())));
    }
  }

 protected:
  Arrays multiply(BufferId x) override {
    x_ = widened(x);
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(column_calls("training_add_bias", x_, s, columns_[s].weights));
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

  /// The transform of c's gradient is the sum over samples of the transform of what comes back
  /// times the conjugate of x's: it goes back in the place of c.
  BufferId multiply_back(const Arrays& gradients, bool wanted) override {
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
      // Of f16: what is no gradient must be none that overflowed.
      if (columns_[s].count(columns_of_.holder(s, 0)) > rows_.geometry.rows())
        add(statement_.clearing(columns_[s].gradient));
      add(column_calls("training_row_sums", back[s], s, columns_[s].gradient));
    }
    if (!wanted) return {};
    add_stacks(back, program::Type::f32);
    return narrowed(back.front());
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
  /// A unit for each row and stack.
  Arrays make_spectra(std::string_view name) {
    return of_stacks([&] {
      return factors_.array(name,
                            [bytes = rows_.row_bytes(kUnitBytes)](Tile /*tile*/) { return bytes; });
    });
  }
  /// Rows of f32 for those of matrices' type, and back.
  BufferId widened(BufferId rows) {
    if (!statement_.halves()) return rows;
    const BufferId made = complex_rows("inputs of factors");
    add([code = statement_.code("training_widen"), rows, made,
         bytes = statement_.description().array(rows).bytes](Tile tile, Calls& calls) {
      if (bytes(tile) > 0)
        calls.add_by_size(code.all_over({Place{rows}, Place{made}}, bytes(tile)));
    });
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
  /// Calls of code that takes the real parts of a column and a number each.
  CallsOf column_calls(const char* name, BufferId array, std::uint32_t stack,
                       BufferId numbers) const {
    return [code = statement_.code(name), its = columns_of_, stack, array, numbers](Tile tile,
                                                                                    Calls& calls) {
      if (!its.on(stack, tile)) return;
      const butterfly::Geometry& geometry = its.rows.geometry;
      calls.add_by_size(
          code.all({Place{array, its.offset(stack, tile, 0)}, Place{numbers}, 1U, geometry.rows(),
                    word(geometry.units(tile).size() * kUnitBytes / kWordBytes)}));
    };
  }

  const Columns columns_of_;
  BufferId x_{};    ///< the transform of this turn's x and c
  Arrays spectra_;  ///< of c, by stack, on all tiles
};

/// y = S T G Pi T B x + b: T is a Hadamard transform that keeps norms, its own inverse.
class FastfoodLayer : public TransformLayer {
 public:
  FastfoodLayer(training::Statement& statement, const LayerContext& context,
                const ButterflyPlan& plan)
      : TransformLayer(statement, context, plan, twiddle, twiddle) {
    const std::uint64_t n = features();
    for (std::uint32_t s = 0; s < stacks(); ++s) {
      for (const std::uint32_t diagonal : {kB, kG, kS})
        diagonals_.push_back(make_numbers(diagonal == kG ? rows_.last() : rows_.first(),
                                          (kDiagonals * s + diagonal) * n, n));
      places_.push_back(permutation_of(context.linear, context.number, s));
    }
  }

  void add_tensors(const std::string& name) const override {
    TransformLayer::add_tensors(name);
    std::vector<std::uint32_t> all;
    for (const auto& places : places_) all.insert(all.end(), places.begin(), places.end());
    program::Tensor tensor{fmt::format("permutation_{}", context_.number),
                           program::Role::weights,
                           program::Type::u32,
                           {all.size()}};
    tensor.given = [all](std::uint64_t first, std::span<std::byte> into) {
      std::memcpy(into.data(), all.data() + first, into.size());
    };
    statement_.description().tensor(std::move(tensor));
  }

 protected:
  Arrays multiply(BufferId x) override {
    inputs_[kB] = Arrays(stacks(), x);
    const Arrays rows = make_rows("inputs of factors");
    scale(inputs_[kB], kB, rows);
    transform(rows, false);
    inputs_[kG] = make_rows("inputs of factors");
    permute(rows, inputs_[kG], false);
    inputs_[kS] = rows;
    scale(inputs_[kG], kG, rows);
    transform(rows, true);
    Arrays results = make_rows("inputs of factors");
    scale(rows, kS, results);
    return results;
  }

  BufferId multiply_back(const Arrays& gradients, bool wanted) override {
    learn(gradients, kS);
    scale(gradients, kS, gradients);
    transform(gradients, false);
    learn(gradients, kG);
    scale(gradients, kG, gradients);
    const Arrays placed = make_rows("gradient of factors");
    permute(gradients, placed, true);
    transform(placed, true);
    learn(placed, kB);
    if (!wanted) return {};
    scale(placed, kB, placed);
    add_stacks(placed, statement_.type());
    return placed.front();
  }

 private:
  enum : std::uint32_t { kB, kG, kS };

  static Twiddle twiddle(std::uint32_t /*feature*/, std::uint32_t /*stride*/) {
    constexpr double kRoot = std::numbers::sqrt2 / 2;
    return {kRoot, kRoot, kRoot, -kRoot};
  }

  [[nodiscard]] Arrays make_rows(std::string_view name) {
    return of_stacks([&] { return row_array(name); });
  }
  void scale(const Arrays& from, std::uint32_t diagonal, const Arrays& to) {
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add(row_calls(
          "training_scale_rows",
          {Place{from[s]}, Place{diagonals_[kDiagonals * s + diagonal].applied}, Place{to[s]}}));
  }
  /// Gradients of a diagonal out of what comes back to it.
  void learn(const Arrays& gradients, std::uint32_t diagonal) {
    for (std::uint32_t s = 0; s < stacks(); ++s)
      add_sums(diagonals_[kDiagonals * s + diagonal], "training_row_products",
               {Place{gradients[s]}, Place{inputs_[diagonal][s]}});
  }

  /// Pi: each row takes the one of its place, or gives itself there.
  void permute(const Arrays& from, const Arrays& to, bool back) {
    std::vector<std::vector<std::uint32_t>> places = places_;
    for (std::uint32_t s = 0; back && s < stacks(); ++s)
      for (std::uint32_t i = 0; i < features(); ++i) places[s][places_[s][i]] = i;
    exchange("permutation", [from, to, places, geometry = rows_.geometry, rows = rows_.last()](
                                Tile tile, Pulls& pulls) {
      const std::uint32_t part = geometry.feature_part(tile);
      const std::uint32_t bytes = word(geometry.bytes(tile) / geometry.rows());
      for (std::size_t s = 0; s < from.size(); ++s)
        for (std::uint32_t row = 0; row < geometry.rows(); ++row) {
          const auto holder = rows.holder(places[s][rows.feature(part, row)]);
          pulls.push_back({{to[s], row * bytes},
                           tile - part + holder.tile,
                           {from[s], holder.row * bytes},
                           bytes});
        }
    });
  }

  std::vector<std::vector<std::uint32_t>> places_;  ///< by stack
  Arrays inputs_[kDiagonals];                       ///< of each diagonal, by stack
};

}  // namespace

std::unique_ptr<Layer> make_transform(training::Statement& statement, const LayerContext& context,
                                      const ButterflyPlan& plan) {
  if (context.linear.circulant()) return std::make_unique<CirculantLayer>(statement, context, plan);
  return std::make_unique<FastfoodLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
