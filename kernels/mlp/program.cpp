#include <fmt/format.h>

#include "kernels/mlp/mlp.h"
#include "kernels/training/course.h"
#include "kernels/training/loss.h"
#include "kernels/training/parameters.h"
#include "sim/plan/lower.h"

namespace tessera::mlp {

using training::Batches;

/// States the program: turns of training, then turns of testing.
class NetworkStatement {
 public:
  NetworkStatement(const Mlp& mlp, const NetworkPlan& plan, plan::Description& description)
      : mlp_(mlp),
        options_(mlp.options_),
        plan_(plan),
        copies_{mlp.machine_.tiles, mlp.options_.replicas},
        description_(description),
        statement_(description, mlp.machine_, mlp.code_, plan.padding, mlp.options_.dtype) {}

  /// Returns the tiles that represent all others.
  std::vector<Tile> state() {
    description_.expect(mlp_.skips_.moments());
    description_.in_copies(copies_, [this] { add_layers(); });
    make_batch();
    add_turns(mlp_.turns_.steps, {mlp_.turns_.training, options_.train, false});
    if (mlp_.turns_.test_steps > 0)
      add_turns(mlp_.turns_.test_steps, {mlp_.turns_.testing, false, true});
    for (std::size_t i = 0; i < layers_.size(); ++i)
      layers_[i]->add_tensors(fmt::format("weights_{}", i));
    add_tensors();
    return statement_.representatives();
  }

 private:
  struct Turn {
    Batches batches;
    bool trains, tests;
  };

  void add_layers() {
    for (std::size_t i = 0; i < mlp_.linears_.size(); ++i) {
      const training::ParameterMaker maker(
          statement_, options_.train ? &options_.learning : nullptr, copies_,
          std::make_shared<const std::vector<double>>(
              initial_parameters(options_.seed, i, mlp_.linears_[i])));
      layers_.push_back(make_layer(
          statement_, {mlp_.linears_[i], i, width(i), maker, mlp_.factor_code_}, plan_.maps[i]));
      rate_tiles_ = std::max(rate_tiles_, layers_.back()->tiles());
    }
    if (copies_.count > 1) rate_tiles_ = copies_.tiles;
    if (options_.train) rate_ = training::rate_array(statement_, options_.learning, rate_tiles_);
    // The loss is some tiles' too.
    if (options_.halves()) scaling_.emplace(statement_, options_.scaling, copies_, mlp_.skips_);
  }

  [[nodiscard]] std::uint32_t width(std::size_t i) const {
    return result_columns(mlp_.linears_, i);
  }

  /// Makes the arrays of the batch: fed each turn, or on each copy's tiles from the beginning.
  void make_batch() {
    x_ = statement_.shape(mlp_.samples(), mlp_.linears_.front().columns());
    const Batches& first = mlp_.turns_.training;
    x_->array = statement_.batch_array("batch", pixels(first), copies_, options_.fed(), true);
    labels_ = statement_.batch_array("labels", labels(first), copies_, options_.fed(), false);
  }

  void add_turns(std::uint32_t times, const Turn& turn) {
    description_.measure(true);
    if (!turn.batches.fed) return description_.repeat(times, [&] { add_turn(turn); });
    const char* const name = turn.tests ? "test batch" : "batch";
    const auto batch = [x = pixels(turn.batches).pieces(x_->array),
                        labels = labels(turn.batches).pieces(labels_)](Tile tile,
                                                                       plan::HostPieces& pieces) {
      x(tile, pieces);
      labels(tile, pieces);
    };
    if (options_.feed != Feed::external)
      return description_.fed_turns(
          times,
          copies_.spread(
              plan::Host{name, program::HostTransfer::Direction::read, copies_.tiles, batch}),
          {x_->array, labels_}, plan_.loads == kernels::Loads::beside, [&] { add_turn(turn); });
    description_.measure(!turn.tests);
    const training::OuterBatches outside(copies_, turn.batches, times, batch);
    description_.rounds(
        outside.rounds(description_, name, {x_->array, labels_}, plan_.loads),
        [&](bool /*first*/) { add_turn(turn); }, [&] { description_.measure(!turn.tests); });
    description_.measure(true);
  }

  void add_turn(const Turn& turn) {
    BufferId totals{};
    std::vector<Parameters> changed;
    description_.in_copies(copies_, [&] {
      description_.measure(!turn.tests);
      add_forward();
      std::optional<MatrixArray> gradient;
      if (turn.trains)
        gradient = statement_.matrix(mlp_.samples(), width(layers_.size() - 1), "gradient");
      totals = training::cross_entropy(statement_, results_.back(),
                                       {options_.data.classes, options_.batch}, labels_,
                                       gradient ? &*gradient : nullptr,
                                       scaling_ ? std::optional(scaling_->state()) : std::nullopt);
      if (turn.trains) changed = add_backward(*gradient);
    });
    if (!changed.empty()) add_update(changed);
    if (copies_.count > 1) totals = training::add_totals(statement_, totals, copies_);
    description_.measure(true);
    training::tell(description_, turn.tests ? training::kTestResults : training::kTrainingResults,
                   {totals});
    if (mlp_.scaled() && !turn.tests) scaling_->tell();
  }

  /// Updates parameters after all gradients are known: each copy updates its share and sends it to
  /// the others.
  void add_update(const std::vector<Parameters>& changed) {
    if (copies_.count > 1) training::add_sums(statement_, changed);
    if (scaling_)
      scaling_->update(options_.learning, rate_, rate_tiles_, changed);
    else
      training::update(statement_, options_.learning, rate_, changed);
    if (copies_.count > 1) training::add_weights(statement_, changed);
  }

  [[nodiscard]] Batches of_copy(const Batches& batches) const {
    return {batches.first, batches.samples, mlp_.samples()};
  }
  [[nodiscard]] training::Batch pixels(const Batches& batches) const {
    return training::Statement::batch(
        *x_, [&mlp = mlp_, of = of_copy(batches)](std::uint64_t number, std::uint64_t row,
                                                  std::uint64_t column) {
          return mlp.input(of.sample(number, row), column);
        });
  }
  [[nodiscard]] training::Batch labels(const Batches& batches) const {
    return training::label_batch(
        statement_, mlp_.samples(),
        [&data = mlp_.data_, of = of_copy(batches)](std::uint64_t number, std::uint32_t row) {
          return data.label(of.sample(number, row));
        });
  }

  [[nodiscard]] bool ones_behind(std::size_t i) const {
    return i + 1 < layers_.size() && mlp_.linears_[i + 1].takes_ones();
  }
  [[nodiscard]] const MatrixArray& x_of(std::size_t i) const {
    return i == 0 ? *x_ : results_[i - 1];
  }

  void add_forward() {
    sums_.clear();
    results_.clear();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Activation activation = mlp_.linears_[i].activation;
      sums_.push_back(statement_.matrix(mlp_.samples(), width(i), "sums"));
      layers_[i]->forward(x_of(i), sums_[i]);
      results_.push_back(activation == Activation::gelu
                             ? statement_.matrix(mlp_.samples(), width(i), "activations")
                             : sums_[i]);  // ReLU's slope follows from its result
      statement_.activate(activation, sums_[i], results_[i], ones_behind(i));
    }
  }

  /// Backward pass from the gradient of the last map's result. Returns the parameters that are not
  /// updated yet.
  std::vector<Parameters> add_backward(MatrixArray gradient) {
    if (!scaling_) training::schedule(statement_, options_.learning, rate_, rate_tiles_);
    std::vector<Parameters> later;
    if (const Activation last = mlp_.linears_.back().activation; last != Activation::none) {
      const MatrixArray sums =
          statement_.matrix(gradient.rows, gradient.columns, "gradient of sums");
      statement_.slope(last, sums_.back(), gradient, sums, false);
      gradient = sums;
    }
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const std::optional<MatrixArray> back = layers_[i]->backward(x_of(i), gradient, i > 0);
      if (back) {
        const Activation activation = mlp_.linears_[i - 1].activation;
        gradient = activation == Activation::none
                       ? *back
                       : statement_.matrix(back->rows, back->columns, "gradient of sums");
        statement_.slope(activation, sums_[i - 1], *back, gradient, ones_behind(i - 1));
      }
      const std::vector<Parameters> its = layers_[i]->parameters();
      if (scaling_ || copies_.count > 1)
        later.insert(later.end(), its.begin(), its.end());
      else
        training::update(statement_, options_.learning, rate_, its);
    }
    return later;
  }

  /// Adds the tensors of images, labels and reported results.
  void add_tensors() {
    const Data& data = mlp_.data_;
    program::Tensor images{
        "images", program::Role::input, program::Type::f32, {mlp_.turns_.samples(), data.inputs()}};
    images.given = data::elements_by(program::Type::f32, [&data](std::uint64_t i) {
      return data.pixel(i / data.inputs(), i % data.inputs());
    });
    description_.tensor(std::move(images));
    training::add_tensors(description_, mlp_.turns_, mlp_.scaled(),
                          [&data](std::uint64_t sample) { return data.label(sample); });
  }

  const Mlp& mlp_;
  const Options& options_;
  const NetworkPlan& plan_;
  plan::Copies copies_;
  plan::Description& description_;
  training::Statement statement_;
  std::optional<MatrixArray> x_;  ///< the batch
  BufferId labels_{}, rate_{};
  Tile rate_tiles_ = 0;  ///< tiles of a copy that hold the rate
  std::vector<std::unique_ptr<Layer>> layers_;
  std::optional<training::Scaling> scaling_;  ///< f16 loss scaling
  std::vector<MatrixArray> sums_, results_;  ///< this turn's, by layer, before and after activation
};

plan::Described Mlp::describe(const NetworkPlan& plan) const {
  plan::Described made(all_tiles_);
  made.tiles = NetworkStatement(*this, plan, made.description).state();
  return made;
}

program::Program Mlp::lowered() const { return plan::lower(describe(plan_).description); }

}  // namespace tessera::mlp
