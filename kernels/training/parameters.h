#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "kernels/training/statement.h"
#include "sim/data/element.h"

namespace tessera::training {

struct Learning;

/// Parameters of a layer on one tile, with what training keeps of them: `count` of them, whole
/// words, zeros where there are none.
struct Stretch {
  BufferId weights{};   ///< operands of products, in matrices' type
  BufferId masters{};   ///< f32, changed by gradients; rounded to f16 weights, or the f32 weights
  BufferId gradient{};  ///< if trained, as all that follows
  BufferId first{}, second{};  ///< moments; of sgd one
  std::uint64_t count = 0;
  std::uint64_t begin = 0;  ///< the first of those meant, where it is a part; all that is kept
                            ///< apart from weights is of that part
  program::Type type = program::Type::f32;       ///< type of weights
  program::Type gradients = program::Type::f32;  ///< type of the gradient

  [[nodiscard]] Place at(BufferId buffer, program::Type of) const {
    return {buffer, word(begin * data::element_bytes(of))};
  }
  [[nodiscard]] Place gradient_place() const { return at(gradient, gradients); }
  [[nodiscard]] Place weights_place() const { return at(weights, type); }
  /// Place of masters or moments.
  [[nodiscard]] Place kept_place(BufferId buffer) const {
    return buffer == weights ? weights_place() : Place{buffer};
  }
  /// The part that one of several copies of the network updates; none for few parameters.
  [[nodiscard]] std::optional<Stretch> share(std::uint32_t copies, std::uint32_t copy) const;
  [[nodiscard]] std::uint64_t gradient_bytes() const {
    return count * data::element_bytes(gradients);
  }
};

/// The parameters that a tile of a copy has, in order: their numbers in their layer, or kNoNumber.
using Numbering = std::function<std::vector<std::uint64_t>(Tile)>;
constexpr std::uint64_t kNoNumber = ~std::uint64_t{0};

/// Parameters of a layer in arrays. Each copy of the layer has the same weights; moments, and
/// masters apart from weights, a tile has of its copy's share alone.
struct Parameters {
  BufferId weights{}, masters{}, gradient{}, first{}, second{};
  std::function<std::uint64_t(Tile)> count;  ///< on a tile of a copy: whole words; 0: none there
  Numbering numbers;                         ///< none: nobody asks which ones these are
  program::Type type = program::Type::f32;   ///< type of weights
  program::Type gradients = program::Type::f32;  ///< type of the gradient
  plan::Copies copies;

  [[nodiscard]] program::Type master_type() const {
    return masters != weights ? program::Type::f32 : type;
  }
  /// The share on `tile` of the machine that the tile's copy updates.
  [[nodiscard]] std::optional<Stretch> share(Tile tile) const;
  /// The share of another copy, `copy`, on its tile in that place.
  [[nodiscard]] std::optional<Stretch> share(Tile tile, std::uint32_t copy) const;
};

/// States the tensor of parameters where they are kept after a run: it begins with the layer's
/// parameter `first`.
void add_tensor(plan::Description& description, const program::Tensor& tensor,
                const Parameters& parameters, std::uint64_t first = 0);

/// Makes parameters of one layer; nothing is trained without `learning`.
class ParameterMaker {
 public:
  using Count = std::function<std::uint64_t(Tile tile)>;
  /// The layer's parameters before training, by number.
  using Initial = std::shared_ptr<const std::vector<double>>;

  ParameterMaker(Statement& statement, const Learning* learning, plan::Copies copies,
                 Initial initial)
      : statement_(statement), learning_(learning), copies_(copies), initial_(std::move(initial)) {}

  /// Parameters with room for gradients.
  [[nodiscard]] Parameters make(const Count& count, const Numbering& numbers,
                                program::Type gradients) const;
  /// Parameters that no product takes, as angles: f32 whatever matrices are.
  [[nodiscard]] Parameters apart(const Count& count, const Numbering& numbers) const;
  /// Parameters of a matrix, which lies in an array if they have no numbers, else comes to lie in
  /// theirs; their gradients will lie like it.
  [[nodiscard]] Parameters around(MatrixArray& weights, const Numbering& numbers = {}) const;

 private:
  [[nodiscard]] Parameters of(const Count& count, const Numbering& numbers, program::Type type,
                              program::Type gradients) const;
  /// Adds all arrays.
  [[nodiscard]] Parameters made(Parameters of) const;
  void add_weights(Parameters& parameters) const;
  /// Adds moments, and masters if weights are f16.
  void keep(Parameters& parameters) const;
  /// f32 numbers of each copy's share: what they are before training, or zeros.
  [[nodiscard]] BufferId kept(const Parameters& of, std::string_view name, bool filled) const;

  Statement& statement_;
  const Learning* learning_;
  plan::Copies copies_;
  Initial initial_;
};

// Copies of what is trained lie on groups of tiles, each with its part of a batch (plan::Copies).
// Their exchanges are stated as steps of all tiles.

/// States that each copy sums the gradients of its shares, its own first and then the others' in
/// order (reduce-scatter). What a copy's tiles add up among themselves they have done.
void add_sums(Statement& statement, const std::vector<Parameters>& parameters);
/// States that all copies take the weights of all shares (all-gather).
void add_weights(Statement& statement, const std::vector<Parameters>& parameters);
/// States that the copies' losses are added up, as cross_entropy() gives them: on tile 0.
BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies);

}  // namespace tessera::training
