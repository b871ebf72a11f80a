#include <fmt/format.h>

#include "kernels/mlp/mlp.h"
#include "kernels/training/replicas.h"

namespace tessera::mlp {

using program::BufferId;
using program::HostTransfer;
using training::Assembly;
using training::Batches;
using training::Matrix;

/// Puts the program together: turns of training, then turns of testing.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const Mlp& mlp)
      : mlp_(mlp),
        options_(mlp.options_),
        program_(mlp.all_tiles_),
        assembly_(program_, mlp.machine_, mlp.options_.dtype) {}

  program::Program build() {
    add_layers();
    make_batch();
    add_turns(mlp_.turns_.steps, {mlp_.turns_.training, options_.train, false});
    if (mlp_.turns_.test_steps > 0)
      add_turns(mlp_.turns_.test_steps, {mlp_.turns_.testing, false, true});
    training::Replicas replicas(program_, mlp_.machine_.tiles, options_.replicas);
    finish(replicas);
    for (std::size_t i = 0; i < layers_.size(); ++i)
      layers_[i]->add_tensors(program_, fmt::format("weights_{}", i), replicas);
    add_tensors();
    return std::move(program_);
  }

 private:
  struct Turn {
    Batches batches;
    bool trains, tests;
  };

  void add_layers() {
    std::uint32_t tiles = 0;
    for (std::size_t i = 0; i < mlp_.linears_.size(); ++i) {
      layers_.push_back(make_layer(assembly_,
                                   {mlp_.linears_[i], i, width(i), options_.seed,
                                    options_.train ? &options_.learning : nullptr},
                                   mlp_.plans_[i]));
      tiles = std::max(tiles, layers_.back()->tiles());
    }
    if (options_.replicas > 1) tiles = mlp_.machine_.tiles;
    if (options_.train) rates_ = training::rates(assembly_, options_.learning, tiles);
    // The loss is some tiles' too.
    if (options_.halves()) scaling_.emplace(assembly_, options_.scaling, mlp_.machine_.tiles);
  }

  [[nodiscard]] std::uint32_t width(std::size_t i) const {
    return result_columns(mlp_.linears_, i);
  }
  void make_batch() {
    const Mlp& mlp = mlp_;
    const std::uint32_t columns = mlp.linears_.front().columns();
    if (options_.fed()) {
      x_ = assembly_.matrix(mlp.samples(), columns, "batch");
      labels_ = assembly_.labels(mlp.samples());
      return;
    }
    const auto pixel = [&mlp](std::uint64_t row, std::uint64_t column) {
      return mlp.input(row, column);
    };
    x_ = assembly_.matrix(mlp.samples(), columns, "batch", pixel, true);
    labels_ = assembly_.labels(mlp.samples(),
                               [&mlp](std::uint32_t sample) { return mlp.data_.label(sample); });
  }

  /// What follows when there are all copies.
  struct Ending {
    bool testing;
    BufferId totals;
    std::size_t reduced_at = 0;                     ///< step before which gradients are added up
    std::vector<training::Stretch> stretches = {};  ///< none: not trained
  };

  void add_turns(std::uint32_t times, const Turn& turn) {
    program::Sequence body;
    assembly_.add_to(body, !turn.tests);
    if (turn.batches.fed) body.steps.push_back({feed(turn)});
    add_forward();
    std::optional<Matrix> gradient;
    if (turn.trains)
      gradient = assembly_.matrix(mlp_.samples(), width(layers_.size() - 1), "gradient");
    Ending ending{turn.tests,
                  assembly_.cross_entropy(results_.back(), {options_.data.classes, options_.batch},
                                          labels_, gradient ? &*gradient : nullptr,
                                          scaling_ ? scaling_->states() : std::vector<BufferId>())};
    if (turn.trains) add_backward(std::move(*gradient), ending);
    program_.main().steps.push_back({program::Repeat{times, std::move(body)}});
    endings_.push_back(std::move(ending));
  }

  /// Copies of all, and what they tell each other and the host.
  void finish(training::Replicas& replicas) {
    const std::uint32_t copies = options_.replicas;
    if (copies > 1) {
      const HostTransfer given = feed({mlp_.turns_.training, options_.train, false});
      replicas.replicate([&](BufferId first, std::uint32_t copy) {
        auto masters = replicas.masters(endings_.front().stretches, first, copy);
        return masters != nullptr || options_.fed() ? masters : contents_of(given, first, copy);
      });
    }
    for (std::size_t i = 0; i < endings_.size(); ++i) {
      Ending& ending = endings_[i];
      auto& body = std::get<program::Repeat>(program_.main().steps[i].action).body;
      if (copies > 1 && !ending.stretches.empty()) {
        program::Sequence shared;
        add_shared_update(replicas, ending.stretches, shared);
        body.steps.insert(body.steps.begin() + static_cast<std::ptrdiff_t>(ending.reduced_at),
                          std::make_move_iterator(shared.steps.begin()),
                          std::make_move_iterator(shared.steps.end()));
      }
      assembly_.add_to(body, !ending.testing);
      if (copies > 1) ending.totals = replicas.add_totals(assembly_, ending.totals);
      assembly_.add_to(body);
      assembly_.add_step(training::telling(ending.testing, {ending.totals}));
      if (mlp_.scaled() && !ending.testing) assembly_.add_step(scaling_->telling());
    }
  }

  /// Each copy updates its share of the parameters and tells the others.
  void add_shared_update(const training::Replicas& replicas,
                         const std::vector<training::Stretch>& stretches,
                         program::Sequence& steps) {
    assembly_.add_to(steps);
    replicas.add_sums(assembly_, stretches);
    const std::vector<BufferId> rates = replicas.all(rates_);
    const std::vector<training::Stretch> shares = replicas.shares(stretches);
    if (scaling_) {
      training::Scaling all = *scaling_;
      all.spread(replicas.all(scaling_->states()));
      all.update(options_.learning, rates, shares);
    } else {
      training::update(assembly_, options_.learning, rates, shares);
    }
    replicas.add_weights(assembly_, stretches);
  }

  /// The batch that lies on a further copy's tiles from the beginning, if that is what `buffer`
  /// holds.
  static training::Contents contents_of(const HostTransfer& batch, BufferId buffer,
                                        std::uint32_t copy) {
    for (const program::HostPiece& piece : batch.pieces)
      if (piece.place.buffer == buffer)
        return [give = piece.contents, bytes = piece.bytes, copy](std::span<std::byte> into) {
          give(into.first(bytes), copy);
        };
    return nullptr;
  }

  /// The next batch of a copy.
  HostTransfer feed(const Turn& turn) {
    const Mlp& mlp = mlp_;
    HostTransfer transfer{turn.tests ? "test batch" : "batch", HostTransfer::Direction::read, {}};
    const Batches of{turn.batches.first, turn.batches.samples, mlp.samples()};
    assembly_.add_feed(transfer, *x_,
                       [&mlp, of](std::uint64_t number, std::uint64_t row, std::uint64_t column) {
                         return mlp.input(of.sample(number, row), column);
                       });
    assembly_.add_feed(transfer, labels_, mlp.samples(),
                       [&mlp, of](std::uint64_t number, std::uint32_t row) {
                         return mlp.data_.label(of.sample(number, row));
                       });
    return transfer;
  }

  [[nodiscard]] bool ones_behind(std::size_t i) const {
    return i + 1 < layers_.size() && mlp_.linears_[i + 1].takes_ones();
  }
  [[nodiscard]] const Matrix& x_of(std::size_t i) const { return i == 0 ? *x_ : results_[i - 1]; }

  void add_forward() {
    sums_.clear();
    results_.clear();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Activation activation = mlp_.linears_[i].activation;
      sums_.push_back(assembly_.matrix(mlp_.samples(), width(i), "sums"));
      layers_[i]->forward(x_of(i), sums_[i]);
      results_.push_back(activation == Activation::gelu
                             ? assembly_.matrix(mlp_.samples(), width(i), "activations")
                             : sums_[i]);  // of ReLU its result says as much of its slope
      assembly_.activate(activation, sums_[i], results_[i], ones_behind(i));
    }
  }

  /// From the gradient of the last map's result to all parameters.
  void add_backward(Matrix gradient, Ending& ending) {
    if (!scaling_) training::schedule(assembly_, options_.learning, rates_);
    const bool shared = options_.replicas > 1;
    std::vector<training::Stretch>& all = ending.stretches;
    if (const Activation last = mlp_.linears_.back().activation; last != Activation::none) {
      const Matrix sums = assembly_.matrix(gradient.rows, gradient.columns, "gradient of sums");
      assembly_.slope(last, sums_.back(), gradient, sums, false);
      gradient = sums;
    }
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const std::optional<Matrix> back = layers_[i]->backward(x_of(i), gradient, i > 0);
      if (back) {
        const Activation activation = mlp_.linears_[i - 1].activation;
        gradient = activation == Activation::none
                       ? *back
                       : assembly_.matrix(back->rows, back->columns, "gradient of sums");
        assembly_.slope(activation, sums_[i - 1], *back, gradient, ones_behind(i - 1));
      }
      const std::vector<training::Stretch> stretches = layers_[i]->stretches();
      if (scaling_ || shared)
        all.insert(all.end(), stretches.begin(), stretches.end());
      else
        training::update(assembly_, options_.learning, rates_, stretches);
    }
    ending.reduced_at = assembly_.sequence().steps.size();
    if (scaling_ && !shared) scaling_->update(options_.learning, rates_, all);
  }

  /// Images, labels and what the host is told.
  void add_tensors() {
    const Data& data = mlp_.data_;
    program::Tensor images{
        "images", program::Role::input, program::Type::f32, {mlp_.turns_.samples(), data.inputs()}};
    images.given = [&data](std::uint64_t first, std::span<std::byte> into) {
      for (std::size_t i = 0; i < into.size() / training::kElementBytes; ++i)
        data::store_element(program::Type::f32, into, i,
                            data.pixel((first + i) / data.inputs(), (first + i) % data.inputs()));
    };
    program_.add_tensor(std::move(images));
    training::add_tensors(program_, mlp_.turns_, mlp_.scaled(),
                          [&data](std::uint64_t sample) { return data.label(sample); });
  }

  const Mlp& mlp_;
  const Options& options_;
  program::Program program_;
  Assembly assembly_;
  std::optional<Matrix> x_;  ///< the batch
  std::vector<BufferId> labels_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<BufferId> rates_;
  std::optional<training::Scaling> scaling_;  ///< of f16
  std::vector<Ending> endings_;               ///< of the main sequence's loops
  std::vector<Matrix> sums_,
      results_;  ///< of the layers of this turn, before and after activation
};

program::Program Mlp::build() const { return ProgramBuilder(*this).build(); }

}  // namespace tessera::mlp
