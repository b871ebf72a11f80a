#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "kernels/training/statement.h"
#include "sim/data/element.h"

namespace tessera::training {

struct Learning;

/// Arrays of a layer's parameters, with their training state.
struct ParameterArrays {
  BufferId weights{};   ///< operands of products, in matrices' type
  BufferId masters{};   ///< f32, changed by gradients; rounded to f16 weights, or the f32 weights
  BufferId gradient{};  ///< only if trained, as are the moments
  BufferId first{}, second{};                    ///< moments; SGD has one
  program::Type type = program::Type::f32;       ///< type of weights
  program::Type gradients = program::Type::f32;  ///< type of the gradient
};

/// Parameters on one tile: `count` elements, whole words, padded with zeros.
struct Stretch : ParameterArrays {
  std::uint64_t count = 0;
  std::uint64_t begin = 0;  ///< first parameter, if this is a share of a tile's; arrays of
                            ///< masters (apart from weights) and moments hold the share only

  [[nodiscard]] Place at(BufferId buffer, program::Type of) const {
    return {buffer, word(begin * data::element_bytes(of))};
  }
  [[nodiscard]] Place gradient_place() const { return at(gradient, gradients); }
  [[nodiscard]] Place weights_place() const { return at(weights, type); }
  /// Place of masters or moments.
  [[nodiscard]] Place kept_place(BufferId buffer) const {
    return buffer == weights ? weights_place() : Place{buffer};
  }
  /// The share that one of several network copies updates; nullopt if there are too few parameters.
  [[nodiscard]] std::optional<Stretch> share(std::uint32_t copies, std::uint32_t copy) const;
  [[nodiscard]] std::uint64_t gradient_bytes() const {
    return count * data::element_bytes(gradients);
  }
};

/// The numbers in their layer of the parameters on a tile of a copy, in order; kNoNumber: padding.
using Numbering = std::function<std::vector<std::uint64_t>(Tile)>;
constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};

/// Arrays of a layer's parameters. Each copy of the layer has the same weights; moments, and
/// masters apart from weights, exist on a tile only for its copy's share.
struct Parameters : ParameterArrays {
  std::function<std::uint64_t(Tile)> count;  ///< on a tile of a copy, in whole words; 0: none
  Numbering numbers;                         ///< empty: not needed
  plan::Copies copies;

  [[nodiscard]] program::Type master_type() const {
    return masters != weights ? program::Type::f32 : type;
  }
  /// The share of the parameters on `tile` of the machine that its copy updates.
  [[nodiscard]] std::optional<Stretch> share(Tile tile) const;
  /// The share of copy `copy`, on its tile that corresponds to `tile`.
  [[nodiscard]] std::optional<Stretch> share(Tile tile, std::uint32_t copy) const;
};

/// Declares the tensor of parameters (masters) after a run. Its first element is the layer's
/// parameter number `first`.
void add_tensor(plan::Description& description, const program::Tensor& tensor,
                const Parameters& parameters, std::uint64_t first = 0);

/// Creates the parameters of one layer; without `learning` they are not trained.
class ParameterMaker {
 public:
  using Count = std::function<std::uint64_t(Tile tile)>;
  /// The layer's parameters before training, by number.
  using Initial = std::shared_ptr<const std::vector<double>>;

  ParameterMaker(Statement& statement, const Learning* learning, plan::Copies copies,
                 Initial initial)
      : statement_(statement), learning_(learning), copies_(copies), initial_(std::move(initial)) {}

  /// Parameters with an array for gradients.
  [[nodiscard]] Parameters make(const Count& count, const Numbering& numbers,
                                program::Type gradients) const;
  /// Parameters that are no operands of products, e.g. angles: f32 for all types of matrices.
  [[nodiscard]] Parameters apart(const Count& count, const Numbering& numbers) const;
  /// Parameters of a matrix. Without `numbers` they use its array; else `weights` gets theirs.
  /// Gradients must have the layout of the matrix.
  [[nodiscard]] Parameters around(MatrixArray& weights, const Numbering& numbers = {}) const;

 private:
  [[nodiscard]] Parameters of(const Count& count, const Numbering& numbers, program::Type type,
                              program::Type gradients) const;
  /// Adds all arrays.
  [[nodiscard]] Parameters made(Parameters of) const;
  void add_weights(Parameters& parameters) const;
  /// Adds moments, and masters if weights are f16.
  void keep(Parameters& parameters) const;
  /// An f32 array for each copy's share: initial parameters if `filled`, else zeros.
  [[nodiscard]] BufferId kept(const Parameters& of, std::string_view name, bool filled) const;

  Statement& statement_;
  const Learning* learning_;
  plan::Copies copies_;
  Initial initial_;
};

// Data parallelism: copies of the network lie on groups of tiles, each with its part of a batch
// (plan::Copies). Exchanges between copies are steps of all tiles.

/// Adds a reduce-scatter: each copy sums the gradients of its shares, its own first and then the
/// others' in order. Sums among a copy's own tiles must be complete.
void add_sums(Statement& statement, const std::vector<Parameters>& parameters);
/// Adds an all-gather: all copies pull the updated weights of all shares.
void add_weights(Statement& statement, const std::vector<Parameters>& parameters);
/// Adds up the copies' results of cross_entropy() on tile 0.
BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies);

}  // namespace tessera::training
