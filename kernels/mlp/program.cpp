#include <fmt/format.h>

#include "kernels/mlp/mlp.h"
#include "kernels/training/replicas.h"

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
        program_(mlp.all_tiles_),
        assembly_(program_, mlp.machine_, mlp.options_.dtype) {}

  program::Program build() {
    add_layers();
    const bool feeds = options_.feed == Feed::host;
    batch_ = make_batch(feeds);
    add_turns(mlp_.steps(), Turn{feeds, options_.train, 0});
    if (mlp_.test_steps() > 0)
      add_turns(mlp_.test_steps(), Turn{true, false, options_.data.samples});
    training::Replicas replicas(program_, mlp_.machine_.tiles, options_.replicas);
    finish(replicas);
    for (std::size_t i = 0; i < layers_.size(); ++i)
      layers_[i]->add_tensors(program_, fmt::format("weights_{}", i), replicas);
    mlp_.add_tensors(program_);
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
    if (options_.train) rates_ = assembly_.rates(options_.learning, tiles);
    // The loss is some tiles' too.
    if (options_.halves()) scaling_.emplace(assembly_, options_.scaling, mlp_.machine_.tiles);
  }

  [[nodiscard]] std::uint32_t width(std::size_t i) const {
    return result_columns(mlp_.linears_, i);
  }
  Batch make_batch(bool fed) {
    const Mlp& mlp = mlp_;
    const auto pixel = [&mlp](std::uint64_t row, std::uint64_t column) {
      return mlp.input(row, column);
    };
    const auto label = [&mlp](std::uint32_t sample) { return mlp.data_.label(sample); };
    const std::uint32_t columns = mlp.linears_.front().columns();
    if (fed)
      return {assembly_.matrix(mlp_.samples(), columns, "batch"), assembly_.labels(mlp_.samples())};
    return {assembly_.matrix(mlp_.samples(), columns, "batch", {pixel, true}),
            assembly_.labels(mlp_.samples(), label)};
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
    const bool testing = turn.first_sample > 0;
    assembly_.add_to(body, !testing);
    if (turn.fed) body.steps.push_back({feed(turn)});
    add_forward();
    Assembly::Loss loss{options_.data.classes, batch_->labels, options_.batch};
    if (scaling_) loss.scales = scaling_->states();
    std::optional<Matrix> gradient;
    if (turn.trains)
      gradient = assembly_.matrix(mlp_.samples(), width(layers_.size() - 1), "gradient");
    Ending ending{testing,
                  assembly_.cross_entropy(results_.back(), loss, gradient ? &*gradient : nullptr)};
    if (turn.trains) add_backward(std::move(*gradient), ending);
    program_.main().steps.push_back({program::Repeat{times, std::move(body)}});
    endings_.push_back(std::move(ending));
  }

  /// Copies of all, and what they tell each other and the host.
  void finish(training::Replicas& replicas) {
    const std::uint32_t copies = options_.replicas;
    if (copies > 1) {
      const HostTransfer given = feed({true, false, 0});
      replicas.replicate([&](BufferId first, std::uint32_t copy) {
        auto masters = replicas.masters(endings_.front().stretches, first, copy);
        if (masters != nullptr || options_.feed == Feed::host) return masters;
        return contents_of(given, first, copy);
      });
    }
    for (std::size_t i = 0; i < endings_.size(); ++i) {
      Ending& ending = endings_[i];
      auto& steps = std::get<program::Repeat>(program_.main().steps[i].action).body.steps;
      if (copies > 1 && !ending.stretches.empty()) {
        program::Sequence shared;
        add_shared_update(replicas, ending.stretches, shared);
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(ending.reduced_at),
                     std::make_move_iterator(shared.steps.begin()),
                     std::make_move_iterator(shared.steps.end()));
      }
      if (copies > 1)
        ending.totals = replicas.add_totals(assembly_, ending.totals, steps, !ending.testing);
      steps.push_back({told(ending.totals, ending.testing)});
      if (scaling_ && options_.train && !ending.testing) steps.push_back({told_scales()});
    }
  }

  /// Each copy updates its share of the parameters and tells the others.
  void add_shared_update(const training::Replicas& replicas,
                         const std::vector<training::Stretch>& stretches,
                         program::Sequence& steps) {
    assembly_.add_to(steps);
    replicas.add_sums(assembly_, stretches);
    const Assembly::Rates rates{replicas.all(rates_.buffers)};
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
  static std::function<void(std::span<std::byte>)> contents_of(const HostTransfer& batch,
                                                               BufferId buffer,
                                                               std::uint32_t copy) {
    for (const program::HostPiece& piece : batch.pieces)
      if (piece.place.buffer == buffer)
        return [give = piece.contents, bytes = piece.bytes, copy](std::span<std::byte> into) {
          give(into.first(bytes), copy);
        };
    return nullptr;
  }

  /// The next batch, in order of the samples, from the first one again behind the last.
  HostTransfer feed(const Turn& turn) {
    const Mlp& mlp = mlp_;
    HostTransfer transfer{
        turn.first_sample > 0 ? "test batch" : "batch", HostTransfer::Direction::read, {}};
    const std::uint32_t samples =
        turn.first_sample > 0 ? options_.data.test_samples : options_.data.samples;
    const auto sample = [first = turn.first_sample, samples, batch = mlp_.samples()](
                            std::uint64_t number, std::uint64_t row) {
      return first + (number * batch + row) % samples;
    };
    assembly_.add_feed(
        transfer, batch_->x,
        [&mlp, sample](std::uint64_t number, std::uint64_t row, std::uint64_t column) {
          return mlp.input(sample(number, row), column);
        });
    assembly_.add_feed(transfer, batch_->labels, mlp_.samples(),
                       [&mlp, sample](std::uint64_t number, std::uint32_t row) {
                         return mlp.data_.label(sample(number, row));
                       });
    return transfer;
  }

  static HostTransfer told(BufferId totals, bool testing) {
    constexpr std::uint32_t kBytes = 8;
    return {std::string(testing ? training::kTestResults : training::kTrainingResults),
            HostTransfer::Direction::write,
            {{{totals}, kBytes}}};
  }

  [[nodiscard]] HostTransfer told_scales() const {
    constexpr std::uint32_t kBytes = 8;
    return {std::string(training::kScales),
            HostTransfer::Direction::write,
            {{scaling_->told(), kBytes}}};
  }

  [[nodiscard]] bool ones_behind(std::size_t i) const {
    return i + 1 < layers_.size() && mlp_.linears_[i + 1].takes_ones();
  }

  void add_forward() {
    sums_.clear();
    results_.clear();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Linear& linear = mlp_.linears_[i];
      const Matrix& x = i == 0 ? batch_->x : results_[i - 1];
      sums_.push_back(assembly_.matrix(mlp_.samples(), width(i), "sums"));
      layers_[i]->forward(x, sums_[i]);
      results_.push_back(linear.activation == Activation::gelu
                             ? assembly_.matrix(mlp_.samples(), width(i), "activations")
                             : sums_[i]);  // of ReLU its result says as much of its slope
      assembly_.activate(linear.activation, sums_[i], results_[i], ones_behind(i));
    }
  }

  /// From the gradient of the last map's result to all parameters.
  void add_backward(Matrix gradient, Ending& ending) {
    if (!scaling_) assembly_.schedule(options_.learning, rates_);
    const bool shared = options_.replicas > 1;
    std::vector<training::Stretch>& all = ending.stretches;
    if (const Activation last = mlp_.linears_.back().activation; last != Activation::none) {
      const Matrix sums = assembly_.matrix(gradient.rows, gradient.columns, "gradient of sums");
      assembly_.slope(last, sums_.back(), gradient, sums, false);
      gradient = sums;
    }
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const Matrix& x = i == 0 ? batch_->x : results_[i - 1];
      const std::optional<Matrix> back = layers_[i]->backward(x, gradient, i > 0);
      if (back) {
        const Activation activation = mlp_.linears_[i - 1].activation;
        gradient = activation == Activation::none
                       ? *back
                       : assembly_.matrix(x.rows, x.columns, "gradient of sums");
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

  const Mlp& mlp_;
  const Options& options_;
  program::Program program_;
  Assembly assembly_;
  std::optional<Batch> batch_;
  std::vector<std::unique_ptr<Layer>> layers_;
  Assembly::Rates rates_;
  std::optional<training::Scaling> scaling_;  ///< of f16
  std::vector<Ending> endings_;               ///< of the main sequence's loops
  std::vector<Matrix> sums_,
      results_;  ///< of the layers of this turn, before and after activation
};

program::Program Mlp::build() const { return ProgramBuilder(*this).build(); }

}  // namespace tessera::mlp
