#include <algorithm>
#include <array>
#include <numbers>

#include "kernels/fft/reference.h"
#include "kernels/mlp/plain_map.h"

namespace tessera::mlp {

namespace {

using fft::Complex;
using Spectrum = std::vector<Complex>;

/// A factor's references to its map, and the index of its first parameter.
struct FactorLink {
  Arithmetic& round;
  const Vector &parameters, &weights;
  Vector& gradients;
  std::size_t first;
};

/// A factor of a stack's map from N numbers to N. With parameters, of features or of pairs of
/// features, it keeps the sample's inputs.
class Factor {
 public:
  Factor(const FactorLink& own, std::size_t learned)
      : own_(own), of_inputs_(learned), of_gradients_(learned), learns_(learned > 0) {}
  Factor(const Factor&) = delete;
  Factor& operator=(const Factor&) = delete;
  virtual ~Factor() = default;
  /// Called after parameters change.
  virtual void refresh() {}
  virtual Vector forward(Vector x) {
    if (learns_) inputs_ = x;
    return apply(std::move(x), false);
  }
  /// Adds to gradients and returns the gradient of x, if `wanted`. Follows forward() of the same x.
  virtual Vector backward(Vector gradient, bool /*wanted*/) {
    if (learns_) {
      of_inputs_.add(inputs_);
      of_gradients_.add(gradient);
      learn(inputs_, gradient);
    }
    return apply(std::move(gradient), true);
  }
  /// Called when the gradients of a copy's samples are complete; `root`: of the number of samples.
  virtual void finish(double root) {
    if (learns_) finish(of_inputs_.taken(), of_gradients_.taken(), root);
  }

 protected:
  virtual Vector apply(Vector values, bool /*back*/) { return values; }
  virtual void learn(const Vector& /*x*/, const Vector& /*gradient*/) {}
  /// Perturbs gradients, which are sums of products of vectors of these norms.
  virtual void finish(const Vector& /*x*/, const Vector& /*gradient*/, double /*root*/) {}

  FactorLink own_;

 private:
  Vector inputs_;
  Squares of_inputs_, of_gradients_;
  bool learns_;
};

/// Feature i becomes feature places[i].
class Permutation : public Factor {
 public:
  Permutation(const FactorLink& own, std::vector<std::uint32_t> places)
      : Factor(own, 0), places_(std::move(places)) {}

 private:
  Vector apply(Vector values, bool back) override {
    Vector all(values.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      all[back ? places_[i] : i] = values[back ? i : places_[i]];
    return all;
  }
  std::vector<std::uint32_t> places_;
};

class Diagonal : public Factor {
 public:
  using Factor::Factor;

 private:
  Vector apply(Vector values, bool /*back*/) override {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = own_.round.once(values[i] * own_.weights[own_.first + i]);
    return values;
  }
  void learn(const Vector& x, const Vector& gradient) override {
    for (std::size_t i = 0; i < x.size(); ++i) own_.gradients[own_.first + i] += gradient[i] * x[i];
  }
  void finish(const Vector& x, const Vector& gradient, double root) override {
    for (std::size_t i = 0; i < x.size(); ++i) {
      double& its = own_.gradients[own_.first + i];
      its = own_.round.sum(its, x[i] * gradient[i], root);
    }
  }
};

/// Number of parameters per pair: none for an orthonormal Hadamard transform, else a butterfly's.
enum class Each : std::uint8_t { none = 0, angle = 1, elements = 4 };

/// Multiplies pairs of features, `stride` apart, by their twiddles.
class Pairs : public Factor {
 public:
  Pairs(const FactorLink& own, std::size_t features, std::size_t stride, Each each)
      : Factor(own, each == Each::none ? 0 : features),
        stride_(stride),
        each_(each),
        twiddles_(each == Each::none ? 1 : features / 2) {
    const double w = own.round(std::numbers::sqrt2 / 2);
    if (each == Each::none) twiddles_.front() = {w, w, w, -w};
    if (each == Each::angle) turns_.resize(features / 2);
  }

  void refresh() override {
    Arithmetic& round = own_.round;
    for (std::size_t i = 0; i < twiddles_.size() && each_ == Each::elements; ++i)
      std::copy_n(&own_.weights[own_.first + 4 * i], 4, twiddles_[i].begin());
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const double angle = own_.parameters[own_.first + i];
      const double size = 1 + std::abs(angle);  // reduced to an eighth of a turn in f32
      Turn& its = turns_[i];
      its.cosine = round.single(round.near(std::cos(angle), size));
      its.sine = round.single(round.near(std::sin(angle), size));
      const double c = round(its.cosine);
      const double s = round(its.sine);
      twiddles_[i] = {c, -s, s, c};
    }
  }

 private:
  struct Turn {
    double cosine, sine;  ///< of an angle, in f32
  };
  /// Calls take(number of the pair, first feature, second feature).
  template <class Take>
  void for_pairs(std::size_t features, const Take& take) const {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < features; begin += 2 * stride_)
      for (std::size_t f = begin; f < begin + stride_; ++f) take(number++, f, f + stride_);
  }

  Vector apply(Vector values, bool back) override {
    const Arithmetic& round = own_.round;
    const std::size_t step = each_ == Each::none ? 0 : 1;
    for_pairs(values.size(), [&](std::size_t pair, std::size_t first, std::size_t second) {
      const std::array<double, 4>& w = twiddles_[step * pair];
      const double a = values[first];
      const double b = values[second];
      values[first] = round.once(round(w[0] * a) + w[back ? 2 : 1] * b);
      values[second] = round.once(round(w[back ? 1 : 2] * a) + w[3] * b);
    });
    return values;
  }
  void learn(const Vector& x, const Vector& gradient) override {
    double* g = &own_.gradients[own_.first];
    for_pairs(x.size(), [&](std::size_t pair, std::size_t first, std::size_t second) {
      const double a = x[first], b = x[second];
      const double p = gradient[first], q = gradient[second];
      if (each_ == Each::angle) {
        *g++ += turns_[pair].cosine * (q * a - p * b) - turns_[pair].sine * (p * a + q * b);
      } else {
        for (const double product : {p * a, p * b, q * a, q * b}) *g++ += product;
      }
    });
  }
  void finish(const Vector& x, const Vector& gradient, double root) override {
    double* g = &own_.gradients[own_.first];
    const auto sum = [&](double norms, double of) { *g = own_.round.sum(*g, norms, of), ++g; };
    for_pairs(x.size(), [&](std::size_t, std::size_t first, std::size_t second) {
      const double a = x[first], b = x[second];
      const double p = gradient[first], q = gradient[second];
      if (each_ == Each::angle)
        sum(std::hypot(p, q) * std::hypot(a, b), 2 * root);
      else
        for (const double norms : {p * a, p * b, q * a, q * b}) sum(norms, root);
    });
  }

  std::size_t stride_;
  Each each_;
  std::vector<std::array<double, 4>> twiddles_;  ///< by pair; one if without parameters
  std::vector<Turn> turns_;                      ///< by pair, for angles
};

double norm(const Vector& values) { return std::sqrt(norm_squared(values)); }

/// W[i, j] = c[(i - j) mod N], c its first column.
class Circulant : public Factor {
 public:
  /// `shared`: an earlier factor with the same inputs, or null.
  Circulant(const FactorLink& own, std::size_t features, const Circulant* shared)
      : Factor(own, 0),
        shared_(shared),
        roots_(fft::roots(features, -1)),
        spread_(4 * std::sqrt(std::log2(features) / static_cast<double>(features))),
        products_(features) {}

  void refresh() override {
    const auto first = own_.parameters.begin() + static_cast<std::ptrdiff_t>(own_.first);
    const Vector column(first, first + static_cast<std::ptrdiff_t>(features()));
    column_norm_ = norm(column);
    column_ = spectrum(column);
  }
  Vector forward(Vector x) override {
    in_ = shared_ != nullptr ? shared_->in_ : spectrum(x);
    norm_ = norm(x);
    Vector product = near(folded(column_, in_), column_norm_ * norm_);
    own_.round.all(product);
    return product;
  }
  Vector backward(Vector gradient, bool wanted) override {
    const Spectrum back = spectrum(gradient);
    for (std::size_t f = 0; f < features(); ++f) products_[f] += back[f] * std::conj(in_[f]);
    const double its = norm(gradient);
    squares_in_ += norm_ * norm_;
    squares_back_ += its * its;
    if (!wanted) return {};
    Spectrum turned = column_;
    for (Complex& each : turned) each = std::conj(each);
    return near(folded(std::move(turned), back), column_norm_ * its);
  }
  void finish(double root) override {
    const Vector found = folded(products_, Spectrum(features(), 1.0));
    const double norms = std::sqrt(squares_in_ * squares_back_);
    for (std::size_t i = 0; i < features(); ++i)
      own_.gradients[own_.first + i] +=
          own_.round.near(found[i], spread_ * norms + root / 3 * std::abs(found[i]));
    products_.assign(features(), 0.0);
    squares_in_ = squares_back_ = 0;
  }

 private:
  [[nodiscard]] std::size_t features() const { return products_.size(); }
  [[nodiscard]] Spectrum spectrum(const Vector& values) const {
    Spectrum all(values.begin(), values.end());
    fft::transform(all.data(), features(), 1, roots_);
    return all;
  }
  /// The real numbers with spectrum a b, by a forward transform of the conjugate.
  [[nodiscard]] Vector folded(Spectrum a, const Spectrum& b) const {
    for (std::size_t f = 0; f < features(); ++f)
      a[f] = std::conj(a[f] * b[f]) / static_cast<double>(features());
    fft::transform(a.data(), features(), 1, roots_);
    Vector all(features());
    for (std::size_t i = 0; i < features(); ++i) all[i] = a[i].real();
    return all;
  }
  /// Perturbs values by the transforms' errors and rounds to f32.
  [[nodiscard]] Vector near(Vector values, double norms) const {
    for (double& each : values) each = own_.round.single(own_.round.near(each, spread_ * norms));
    return values;
  }

  const Circulant* shared_;
  std::vector<Complex> roots_;
  /// Error that f32 transforms leave in each number, also in zeros, in units of u times the norms
  /// of the folded vectors: three transforms of log2 N stages round each number about five times a
  /// stage (its twiddle, products, sums), at random, and a number's share is 1 over the root of N.
  double spread_;
  Spectrum column_;    ///< spectrum of the first column of W
  Spectrum in_;        ///< spectrum of the sample
  Spectrum products_;  ///< products of gradients and conjugate inputs, over samples
  double column_norm_ = 0, norm_ = 0;
  double squares_in_ = 0, squares_back_ = 0;
};

/// y = x W + b where W is a stack of square maps of N numbers, each a product of factors. Inputs
/// are padded with zeros to N; the stacks' results, concatenated and cut, are the outputs. b
/// follows the stacks' parameters; gradients are f32.
class PlainFactors : public PlainMap {
 public:
  PlainFactors(const Linear& linear, std::size_t product, Vector initial,
               const Arithmetic& arithmetic)
      : PlainMap(std::move(initial), arithmetic),
        outputs_(linear.outputs),
        features_(linear.factors(1).features),
        stacks_(linear.stacks()),
        sums_in_f32_(linear.circulant()),
        of_bias_(outputs_) {
    const std::size_t each = (parameters.size() - outputs_) / stacks_.size();
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      if (linear.circulant())
        add<Circulant>(s, own(each * s), features_,
                       s == 0 ? nullptr : static_cast<Circulant*>(stacks_[0][0].get()));
      else if (linear.transforms())
        add_fastfood(s, permutation_of(linear, product, static_cast<std::uint32_t>(s)));
      else
        add_butterfly(s, linear);
    }
    PlainFactors::refresh();
  }

  void refresh() override {
    PlainMap::refresh();
    for_factors([](Factor& factor) { factor.refresh(); });
  }

  Vector forward(const Vector& x) override {
    const double* const bias = &weights[weights.size() - outputs_];
    Vector y;
    for (const Stack& stack : stacks_) {
      Vector values = padded(x, 0);
      for (const auto& factor : stack) values = factor->forward(std::move(values));
      for (std::size_t i = 0; i < features_ && y.size() < outputs_; ++i)
        y.push_back(round.once(values[i] + bias[y.size()]));
    }
    return y;
  }

  Vector backward(const Vector& x, const Vector& gradient, bool wanted) override {
    Vector further(x.size());
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      Vector back = padded(gradient, s);
      for (std::size_t i = stacks_[s].size(); i-- > 0;)
        back = stacks_[s][i]->backward(std::move(back), wanted || i > 0);
      for (std::size_t i = 0; i < further.size() && wanted; ++i)
        further[i] =
            sums_in_f32_ ? round.single(further[i] + back[i]) : round.once(further[i] + back[i]);
    }
    if (sums_in_f32_) round.all(further);
    double* const bias = &gradients[gradients.size() - outputs_];
    for (std::size_t i = 0; i < outputs_; ++i) bias[i] += gradient[i];
    of_bias_.add(gradient);
    return further;
  }

  void finish_gradients(std::uint32_t samples) override {
    const double root = std::sqrt(samples);
    for_factors([&](Factor& factor) { factor.finish(root); });
    const Vector norms = of_bias_.taken();
    double* const bias = &gradients[gradients.size() - outputs_];
    for (std::size_t i = 0; i < outputs_; ++i) bias[i] = round.sum(bias[i], norms[i] * root, root);
    round_gradients();
  }
  void round_gradients() override {
    for (double& each : gradients) each = round.single(each);
  }

 private:
  using Stack = std::vector<std::unique_ptr<Factor>>;

  [[nodiscard]] FactorLink own(std::size_t first) {
    return {round, parameters, weights, gradients, first};
  }
  template <class Kind, class... Of>
  void add(std::size_t stack, Of&&... of) {
    stacks_[stack].push_back(std::make_unique<Kind>(std::forward<Of>(of)...));
  }
  /// Adds factors of pairs 1, 2, 4, ... features apart.
  void add_butterfly(std::size_t s, const Linear& linear) {
    const bool rotates = linear.layer.parameters == butterfly::Parameters::rotation;
    const Each each = rotates ? Each::angle : Each::elements;
    const std::size_t stages = linear.factors(1).stages();
    for (std::size_t stage = 0; stage < stages; ++stage)
      add<Pairs>(s, own((s * stages + stage) * features_ / 2 * static_cast<std::size_t>(each)),
                 features_, std::size_t{1} << stage, each);
  }
  /// S H G Pi H B, each H by its factors: pairs 1, 2, 4, ... features apart, the second H in the
  /// opposite order, as the machine rounds.
  void add_fastfood(std::size_t s, std::vector<std::uint32_t> places) {
    add<Diagonal>(s, own(kDiagonals * s * features_), features_);
    for (std::size_t i = 1; i < features_; i *= 2) add<Pairs>(s, own(0), features_, i, Each::none);
    add<Permutation>(s, own(0), std::move(places));
    add<Diagonal>(s, own((kDiagonals * s + 1) * features_), features_);
    for (std::size_t i = features_ / 2; i > 0; i /= 2)
      add<Pairs>(s, own(0), features_, i, Each::none);
    add<Diagonal>(s, own((kDiagonals * s + 2) * features_), features_);
  }
  template <class Take>
  void for_factors(const Take& take) {
    for (const Stack& stack : stacks_)
      for (const auto& factor : stack) take(*factor);
  }
  /// A stack's part of `values`, padded with zeros.
  [[nodiscard]] Vector padded(const Vector& values, std::size_t stack) const {
    Vector all(features_);
    for (std::size_t i = 0; i < features_ && stack * features_ + i < values.size(); ++i)
      all[i] = values[stack * features_ + i];
    return all;
  }

  std::size_t outputs_, features_;
  std::vector<Stack> stacks_;
  bool sums_in_f32_;  ///< inputs' gradients are summed over stacks in f32
  Squares of_bias_;
};

}  // namespace

std::unique_ptr<PlainMap> plain_factors(const Linear& linear, std::size_t product, Vector initial,
                                        const Arithmetic& arithmetic) {
  return std::make_unique<PlainFactors>(linear, product, std::move(initial), arithmetic);
}

}  // namespace tessera::mlp
