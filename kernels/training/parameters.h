#pragma once

#include <optional>

#include "kernels/training/statement.h"
#include "sim/data/element.h"

namespace tessera::training {

struct Learning;

/// Parameters of a layer on one tile, with what training keeps of them: `count` of them, whole
/// words, zeros where there are none.
struct Stretch {
  BufferId weights{};  ///< what products take, of matrices' type
  BufferId
      masters{};  ///< f32, what gradients change and f16 weights are rounded from; of f32 weights
  BufferId gradient{};         ///< if trained, as all that follows
  BufferId first{}, second{};  ///< moments; of sgd one
  std::uint64_t count = 0;
  std::uint64_t begin = 0;  ///< the first of those meant, where it is a part; all that is kept
                            ///< apart from weights is of that part
  program::Type type = program::Type::f32;       ///< of weights
  program::Type gradients = program::Type::f32;  ///< of the gradient

  [[nodiscard]] Place at(BufferId buffer, program::Type of) const {
    return {buffer, word(begin * data::element_bytes(of))};
  }
  [[nodiscard]] Place gradient_place() const { return at(gradient, gradients); }
  [[nodiscard]] Place weights_place() const { return at(weights, type); }
  /// Of masters or moments.
  [[nodiscard]] Place kept_place(BufferId buffer) const {
    return buffer == weights ? weights_place() : Place{buffer};
  }
  /// The part that one of several copies of the network updates; none for few parameters.
  [[nodiscard]] std::optional<Stretch> share(std::uint32_t copies, std::uint32_t copy) const;
  [[nodiscard]] std::uint64_t gradient_bytes() const {
    return count * data::element_bytes(gradients);
  }
};

/// Parameters of a layer in arrays. Each copy of the layer has the same weights; moments, and
/// masters apart from weights, a tile has of its copy's share alone.
struct Parameters {
  BufferId weights{}, masters{}, gradient{}, first{}, second{};
  std::function<std::uint64_t(Tile)> count;  ///< on a tile of a copy: whole words; 0: none there
  program::Type type = program::Type::f32;   ///< of weights
  program::Type gradients = program::Type::f32;  ///< of the gradient
  plan::Copies copies;

  [[nodiscard]] program::Type master_type() const {
    return masters != weights ? program::Type::f32 : type;
  }
  /// What the copy that `tile` of the machine is in updates there.
  [[nodiscard]] std::optional<Stretch> share(Tile tile) const;
  /// The same of another copy, `copy`, on its tile in that place.
  [[nodiscard]] std::optional<Stretch> share(Tile tile, std::uint32_t copy) const;
};

/// The tensor of parameters, where they are kept after a run: number_of(tile) gives, for each
/// parameter of a copy's tile in order, its number in the tensor, or kNoNumber.
constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};
void add_tensor(plan::Description& description, const program::Tensor& tensor,
                const Parameters& parameters,
                std::function<std::vector<std::uint64_t>(Tile)> number_of);

/// Makes parameters of one layer; nothing is trained without `learning`.
class ParameterMaker {
 public:
  /// A tile's parameters before training, in order; called after the description is lowered.
  using Values = std::function<std::vector<double>(Tile tile)>;
  using Count = std::function<std::uint64_t(Tile tile)>;

  ParameterMaker(Statement& statement, const Learning* learning, plan::Copies copies)
      : statement_(statement), learning_(learning), copies_(copies) {}

  /// Parameters that nothing holds yet, with room for gradients.
  [[nodiscard]] Parameters make(const Count& count, const Values& values, program::Type gradients);
  /// Those of a matrix, which holds weights; their gradients will lie like it.
  [[nodiscard]] Parameters around(const MatrixArray& weights, const Values& values);
  /// Numbers that no product takes, as angles: f32 whatever matrices are.
  [[nodiscard]] Parameters numbers(const Count& count, const Values& values);

 private:
  [[nodiscard]] Parameters of(const Count& count, program::Type type,
                              program::Type gradients) const;
  void add_gradient(Parameters& parameters);
  /// Adds moments, and masters if weights are f16.
  void keep(Parameters& parameters, const Values& values);
  /// f32 numbers of each copy's share; none: zeros.
  [[nodiscard]] BufferId kept(const Parameters& of, std::string_view name, const Values& values);

  Statement& statement_;
  const Learning* learning_;
  plan::Copies copies_;
};

// Copies of what is trained lie on groups of tiles, each with its part of a batch (plan::Copies).
// What they tell each other is stated as steps of all tiles.

/// States that each copy sums the gradients of its shares, its own first and then the others' in
/// order (reduce-scatter). What a copy's tiles add up among themselves they have done.
void add_sums(Statement& statement, const std::vector<Parameters>& parameters);
/// States that all copies take the weights of all shares (all-gather).
void add_weights(Statement& statement, const std::vector<Parameters>& parameters);
/// States that the copies' losses are added up, as cross_entropy() gives them: on tile 0.
BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies);

}  // namespace tessera::training
