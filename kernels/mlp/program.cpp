#include "kernels/mlp/mlp.h"

namespace tessera::mlp {

using program::BufferId;
using program::HostTransfer;
using training::Assembly;
using training::Matrix;

/// Puts the program together: turns of training, then turns of testing.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const Mlp& mlp)
      : mlp_(mlp),
        options_(mlp.options_),
        program_(mlp.machine_.tiles),
        assembly_(program_, mlp.machine_) {}

  program::Program build() {
    add_weights();
    const bool feeds = options_.feed == Feed::host;
    batch_ = make_batch(feeds);
    add_turns(mlp_.steps(), Turn{feeds, options_.train, 0});
    if (mlp_.test_steps() > 0)
      add_turns(mlp_.test_steps(), Turn{true, false, options_.data.samples});
    return std::move(program_);
  }

 private:
  struct Turn {
    bool fed;
    bool trains;
    std::uint32_t first_sample;
  };
  struct Batch {
    Matrix x;
    std::vector<BufferId> labels;
  };

  void add_weights() {
    for (std::size_t i = 0; i < mlp_.linears_.size(); ++i) {
      const Linear& linear = mlp_.linears_[i];
      const auto fill = [&linear, i, seed = options_.seed](std::uint64_t row,
                                                           std::uint64_t column) {
        return column < linear.outputs ? initial_weight(seed, i, linear, row, column) : 0.0;
      };
      weights_.push_back(assembly_.matrix(linear.rows(), width(i), "weights", {fill, true}));
      if (!options_.train) continue;
      moments_.push_back(assembly_.moments(options_.learning, weights_[i]));
    }
    if (options_.train) rates_ = assembly_.rates(options_.learning, most_tiles());
  }

  [[nodiscard]] std::uint32_t width(std::size_t i) const {
    return result_columns(mlp_.linears_, i);
  }
  [[nodiscard]] std::uint32_t most_tiles() const {
    std::uint32_t most = 0;
    for (const Matrix& weights : weights_) most = std::max(most, weights.tiles());
    return most;
  }

  Batch make_batch(bool fed) {
    const Mlp& mlp = mlp_;
    const auto pixel = [&mlp](std::uint64_t row, std::uint64_t column) {
      return column < mlp.data_.inputs() ? mlp.data_.pixel(row, column) : 1.0;
    };
    const auto label = [&mlp](std::uint32_t sample) { return mlp.data_.label(sample); };
    const std::uint32_t columns = mlp.linears_.front().rows();
    if (fed)
      return {assembly_.matrix(options_.batch, columns, "batch"), assembly_.labels(options_.batch)};
    return {assembly_.matrix(options_.batch, columns, "batch", {pixel, true}),
            assembly_.labels(options_.batch, label)};
  }

  void add_turns(std::uint32_t times, const Turn& turn) {
    program::Sequence body;
    assembly_.add_to(body, turn.first_sample == 0);
    if (turn.fed) body.steps.push_back({feed(turn)});
    add_forward();
    const Assembly::Loss loss{options_.data.classes, batch_->labels};
    const bool testing = turn.first_sample > 0;
    if (turn.trains) {
      Matrix gradient = assembly_.matrix(options_.batch, width(weights_.size() - 1), "gradient");
      const BufferId totals = assembly_.cross_entropy(results_.back(), loss, &gradient);
      add_backward(std::move(gradient));
      body.steps.push_back({told(totals, testing)});
    } else {
      body.steps.push_back(
          {told(assembly_.cross_entropy(results_.back(), loss, nullptr), testing)});
    }
    program_.main().steps.push_back({program::Repeat{times, std::move(body)}});
  }

  /// The next batch, in order of the samples, from the first one again behind the last.
  HostTransfer feed(const Turn& turn) {
    const Mlp& mlp = mlp_;
    HostTransfer transfer{
        turn.first_sample > 0 ? "test batch" : "batch", HostTransfer::Direction::read, {}};
    const std::uint32_t samples =
        turn.first_sample > 0 ? options_.data.test_samples : options_.data.samples;
    const auto sample = [first = turn.first_sample, samples, batch = options_.batch](
                            std::uint64_t number, std::uint64_t row) {
      return first + (number * batch + row) % samples;
    };
    assembly_.add_feed(
        transfer, batch_->x,
        [&mlp, sample](std::uint64_t number, std::uint64_t row, std::uint64_t column) {
          return column < mlp.data_.inputs() ? mlp.data_.pixel(sample(number, row), column) : 1.0;
        });
    assembly_.add_feed(transfer, batch_->labels, options_.batch,
                       [&mlp, sample](std::uint64_t number, std::uint32_t row) {
                         return mlp.data_.label(sample(number, row));
                       });
    return transfer;
  }

  static HostTransfer told(BufferId totals, bool testing) {
    constexpr std::uint32_t kBytes = 8;
    return {std::string(testing ? kTestResults : kTrainingResults),
            HostTransfer::Direction::write,
            {{{totals}, kBytes}}};
  }

  [[nodiscard]] bool ones_behind(std::size_t i) const {
    return width(i) > mlp_.linears_[i].outputs;
  }

  void add_forward() {
    sums_.clear();
    results_.clear();
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const Linear& linear = mlp_.linears_[i];
      const Matrix& x = i == 0 ? batch_->x : results_[i - 1];
      sums_.push_back(assembly_.matrix(options_.batch, width(i), "sums"));
      assembly_.product(mlp_.plans_[i].forward.geometry, x, weights_[i], sums_[i]);
      results_.push_back(linear.activation == Activation::none
                             ? sums_[i]
                             : assembly_.matrix(options_.batch, width(i), "activations"));
      assembly_.activate(linear.activation, sums_[i], results_[i], ones_behind(i));
    }
  }

  /// From the gradient of the last product's result to all weights.
  void add_backward(Matrix gradient) {
    assembly_.schedule(options_.learning, rates_);
    for (std::size_t i = weights_.size(); i-- > 0;) {
      const Matrix& x = i == 0 ? batch_->x : results_[i - 1];
      const Matrix x_turned = assembly_.matrix(x.columns, x.rows, "activations transposed");
      assembly_.transpose(x, x_turned);
      const Matrix change =
          assembly_.matrix(weights_[i].rows, weights_[i].columns, "weight gradients");
      assembly_.product(mlp_.plans_[i].weight_gradient.geometry, x_turned, gradient, change);
      if (i > 0) {
        const Matrix turned =
            assembly_.matrix(weights_[i].columns, weights_[i].rows, "weights transposed");
        assembly_.transpose(weights_[i], turned);
        const Matrix back = assembly_.matrix(x.rows, x.columns, "gradient of activations");
        assembly_.product(mlp_.plans_[i].input_gradient->geometry, gradient, turned, back);
        const Activation activation = mlp_.linears_[i - 1].activation;
        gradient = activation == Activation::none
                       ? back
                       : assembly_.matrix(x.rows, x.columns, "gradient of sums");
        assembly_.slope(activation, sums_[i - 1], back, gradient, ones_behind(i - 1));
      }
      assembly_.update(options_.learning, rates_, weights_[i], change, moments_[i]);
    }
  }

  const Mlp& mlp_;
  const Options& options_;
  program::Program program_;
  Assembly assembly_;
  std::optional<Batch> batch_;
  std::vector<Matrix> weights_;
  std::vector<Assembly::Moments> moments_;
  Assembly::Rates rates_;
  std::vector<Matrix> sums_,
      results_;  ///< of the products of this turn, before and after activation
};

program::Program Mlp::build() const { return ProgramBuilder(*this).build(); }

}  // namespace tessera::mlp
