#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/butterfly/storage.h"
#include "kernels/butterfly/twiddles.h"
#include "kernels/codelet.h"
#include "kernels/gemm/vertices.h"
#include "sim/data/dense_operand.h"
#include "sim/plan/description.h"

namespace tessera::butterfly {

/// The operands. X (for grad_input Yg) has a row per feature, and two columns per complex number:
/// the real and the imaginary part.
struct Operands {
  data::DenseOperand x;
  data::DenseOperand gradient;  ///< Yg, for grad_twiddles
  Twiddles twiddles;
};

/// The tile code of all passes. Outlives descriptions.
struct Codes {
  elf::KernelCode butterfly{"butterfly"};
  elf::KernelCode gemm{"gemm"};  ///< products of blocks, and sums
  elf::KernelCode transposition{"sparse/code"};
};

/// Calls of the tile code as functions of a description. `code` outlives the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, const Problem& problem,
            std::uint32_t contexts, std::uint32_t workers_n)
      : code_(code),
        description_(description),
        problem_(problem),
        contexts_(contexts),
        workers_n_(workers_n) {}

  /// Sizes: units. Operands: twiddles, rows in, rows out (the same or others). `adjoint`: F^H for
  /// twiddles as F has them: one factor, real numbers.
  const plan::Function& pass(const RowPass& pass, bool adjoint = false);
  /// The outer products of two rows of a gradient with two of x for every group of a pass of one
  /// factor, summed over their columns: four f32 numbers a group (of complex ones eight), for each
  /// part of the columns an array of `array_bytes`. Sizes: units. Operands: sums, gradient, x.
  const plan::Function& products(const RowPass& pass, std::uint64_t array_bytes);
  /// Gradients of angles from such sums, given their cosines and sines. Sizes: pairs. Operands:
  /// sums, angles, result.
  const plan::Function& angles();

 private:
  /// Bytes of the first operand: all, per group, and per part of the columns.
  struct FirstOperand {
    std::uint64_t bytes, group_bytes, array_bytes;
  };
  /// A function of sizes units and operands first, rows in, rows out.
  const plan::Function& of_rows(const std::string& what, const std::string& codelet,
                                const RowPass& pass, const FirstOperand& first);
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return kernels::Codelet::of(code_, description_, name, contexts_);
  }
  /// Tile code's name for the problem's numbers: of complex ones it may see the parts alone.
  [[nodiscard]] std::string number_name() const;

  const elf::KernelCode& code_;
  plan::Description& description_;
  Problem problem_;
  std::uint32_t contexts_, workers_n_;
};

using CallsOf = std::function<void(Tile, Calls&)>;
/// Calls of a pass's code on a tile's units. `first`: its twiddles, or the sums of products.
CallsOf unit_calls(const Geometry& geometry, const plan::Function& code, Place first, BufferId in,
                   BufferId out);
/// Calls that add up the sums of the parts of a tile's columns, one behind the other.
CallsOf part_calls(const GradientLayout& layout, const Geometry& geometry,
                   const plan::Function& adding, BufferId sums, BufferId to);
/// Calls that make gradients of the angles of a tile's share, whose cosines and sines are `turns`.
CallsOf angle_calls(const GradientLayout& layout, const plan::Function& angles, BufferId sums,
                    BufferId turns, BufferId to);

/// States what all passes have in common: rows of a tile, how they and twiddles come there and
/// where results go, calls between two exchanges, swaps. Functions of steps keep geometry() as it
/// was when they were stated.
class Statement {
 public:
  using Bytes = std::function<std::uint64_t(Tile)>;
  using Contents = std::function<void(Tile, std::span<std::byte>)>;
  using Values = data::DenseOperand Operands::*;
  /// Writes the twiddles of some groups of a pass for a part of the features.
  using Groups = std::function<void(std::uint32_t part, Interval groups, std::span<std::byte>)>;

  /// Without operands the description is good for estimates alone.
  Statement(plan::Description& description, const Geometry& geometry, const MachineConfig& machine,
            const Codes& codes, const Operands* operands);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }  ///< the round's
  [[nodiscard]] const Operands* operands() const { return operands_; }
  [[nodiscard]] const Codes& codes() const { return codes_; }
  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  [[nodiscard]] plan::Description& description() { return description_; }
  [[nodiscard]] Functions& functions() { return functions_; }
  [[nodiscard]] gemm::Functions& dense() { return dense_; }

  /// Steps are those of a round from here on.
  void begin_round(std::uint32_t number) { geometry_.number = number; }

  /// On the tiles of the plan.
  BufferId array(std::string_view name, const Bytes& bytes, bool keep = false,
                 Contents contents = {});
  /// Arrays for the rows of a tile, undefined, `times` as large.
  BufferId empty_rows(std::string_view name, bool keep = false, std::uint32_t times = 1);
  /// Rows of `values` as they lie in `rows`; in layout blocked the next inputs bring them.
  BufferId given_rows(Values values, std::string_view name, const Rows& rows, bool keep);
  /// Twiddles of a pass, so many bytes a tile: on every tile, or brought by the next inputs.
  BufferId twiddles(const RowPass& pass, std::uint64_t bytes, const Groups& fill);
  /// The exchange that brings what was given and is not there yet.
  void add_inputs();
  /// Arrays that finished rows of each round come to; none in layout planned.
  void add_results();
  /// The round's rows are finished; in layout blocked they are brought to its result.
  void finish_rows(BufferId array, const Rows& rows);

  /// Calls of every tile of the plan, in one compute set with those before it.
  void add(CallsOf calls) { set_.push_back(std::move(calls)); }
  /// An exchange, after all calls that were added before it.
  void add_exchange(std::string name, Tile tiles, std::function<void(Tile, Pulls&)> pulls,
                    Bytes sends = {});
  void add_swap(const RowPass& pass, const std::vector<BufferId>& arrays);
  /// Sums over columns, in an array of every tile with the same features: each adds up a share of
  /// those of all, in `result` or, if that is `all`, in place.
  struct Shares {
    std::function<Interval(Tile)> share;  ///< bytes
    BufferId all, result;
  };
  /// `least`: bytes of what a tile receives.
  void add_shares(const std::vector<Shares>& sums, std::uint64_t least = 0);
  /// After all that is added.
  void finish(std::string name = "factors");

 private:
  using PullsOf = std::function<void(Tile, Pulls&)>;

  [[nodiscard]] bool blocked() const { return geometry_.problem.layout == Layout::blocked; }
  BufferId stored(const EvenStorage& storage, std::uint64_t each, std::string_view name,
                  const std::function<void(std::uint64_t first, std::span<std::byte>)>& fill);
  /// Bytes of stored rows on the fullest tile in any round.
  [[nodiscard]] std::uint64_t row_bytes() const;

  plan::Description& description_;
  Geometry geometry_;
  std::uint32_t machine_tiles_, contexts_;
  const Codes& codes_;
  const Operands* operands_;
  Functions functions_;
  gemm::Functions dense_;
  std::vector<CallsOf> set_;
  std::vector<PullsOf> inputs_;
  std::vector<BufferId> results_;  ///< by round
};

/// The program that carries a plan out, with the tensor of its result. Without operands it is good
/// for estimates alone. All arguments but `geometry` and `machine` outlive it.
plan::Description describe_program(const Geometry& geometry, const MachineConfig& machine,
                                   const Codes& codes, const Operands* operands);

/// The tiles that stand for all others: the fullest, and the one without a pair that takes the same
/// twiddles.
std::vector<Tile> representatives(const Geometry& geometry);

/// How factors are applied and what their twiddles' gradients are made of: twiddles of numbers on
/// packed words, twiddles of blocks as dense products.
class Factors {
 public:
  /// The products of one factor: `gradient` comes back to its results, `x` went in.
  struct Products {
    const RowPass& pass;
    std::uint32_t stage;
    const GradientLayout& layout;
    BufferId sums, gradient, x;
  };

  virtual ~Factors() = default;
  /// The twiddles of F or F^H.
  virtual BufferId twiddles(const RowPass& pass, bool adjoint) = 0;
  /// True if `in` and `out` of apply() may be the same.
  [[nodiscard]] virtual bool in_place() const = 0;
  /// Arrays that apply() needs in a round, or in all passes of a gradient.
  virtual void begin_round() = 0;
  virtual void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) = 0;
  virtual void add_products(const Products& products) = 0;
};

/// Those of the problem. `statement` outlives them.
std::unique_ptr<Factors> make_factors(Statement& statement);

/// The steps of pass grad_twiddles.
void state_gradient(Statement& statement);

}  // namespace tessera::butterfly
