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

/// Operands. X (for grad_input Yg) has a row per feature; a complex number takes two columns, real
/// and imaginary part.
struct Operands {
  data::DenseOperand x;
  data::DenseOperand gradient;  ///< Yg, for grad_twiddles
  Twiddles twiddles;
};

/// Tile code of all passes; must outlive descriptions.
struct Codes {
  elf::KernelCode butterfly{"butterfly"};
  elf::KernelCode gemm{"gemm"};  ///< block products, and sums
  elf::KernelCode transposition{"sparse/code"};
};

/// Tile code as functions of a description. `code` must outlive the description.
class Functions {
 public:
  Functions(const elf::KernelCode& code, plan::Description& description, const Problem& problem,
            std::uint32_t contexts, std::uint32_t workers_n)
      : code_(code),
        description_(description),
        problem_(problem),
        contexts_(contexts),
        workers_n_(workers_n) {}

  /// Function of a pass. Sizes: units. Operands: twiddles, input rows, output rows (may be the
  /// same). `adjoint`: applies F^H with the twiddles of F, for one factor of real numbers.
  const plan::Function& pass(const RowPass& pass, bool adjoint = false);
  /// Outer products of two gradient rows with two rows of x for every group of a pass of one
  /// factor, summed over columns: four f32 numbers per group (complex: eight), in an array of
  /// `array_bytes` for each part of the columns. Sizes: units. Operands: sums, gradient, x.
  const plan::Function& products(const RowPass& pass, std::uint64_t array_bytes);
  /// Gradients of angles from these sums and the cosines and sines. Sizes: pairs. Operands: sums,
  /// angles, result.
  const plan::Function& angles();

 private:
  /// Bytes of the first operand: in total, per group, and per part of the columns.
  struct FirstOperand {
    std::uint64_t bytes, group_bytes, array_bytes;
  };
  /// A function with size units and operands first, input rows, output rows.
  const plan::Function& of_rows(const std::string& what, const std::string& codelet,
                                const RowPass& pass, const FirstOperand& first);
  [[nodiscard]] kernels::Codelet codelet(const std::string& name) const {
    return kernels::Codelet::of(code_, description_, name, contexts_);
  }
  /// Name of the number type in tile code, which may treat the parts of complex numbers separately.
  [[nodiscard]] std::string number_name() const;

  const elf::KernelCode& code_;
  plan::Description& description_;
  Problem problem_;
  std::uint32_t contexts_, workers_n_;
};

using CallsOf = std::function<void(Tile, Calls&)>;
/// Calls of a pass's code on a tile's units. `first`: the twiddles, or the sums of products.
CallsOf unit_calls(const Geometry& geometry, const plan::Function& code, Place first, BufferId in,
                   BufferId out);
/// Calls that add the sums of all parts of a tile's columns.
CallsOf part_calls(const GradientLayout& layout, const Geometry& geometry,
                   const plan::Function& adding, BufferId sums, BufferId to);
/// Calls that compute the gradients of the angles of a tile's share; `turns` holds their cosines
/// and sines.
CallsOf angle_calls(const GradientLayout& layout, const plan::Function& angles, BufferId sums,
                    BufferId turns, BufferId to);

/// States what all passes share: rows of a tile, the loads of rows and twiddles, the stores of
/// results, calls between two exchanges, and swaps. Functions of steps keep geometry() as of their
/// statement.
class Statement {
 public:
  using Bytes = std::function<std::uint64_t(Tile)>;
  using Contents = std::function<void(Tile, std::span<std::byte>)>;
  using Values = data::DenseOperand Operands::*;
  /// Writes the twiddles of `groups` of a pass for feature part `part`.
  using Groups = std::function<void(std::uint32_t part, Interval groups, std::span<std::byte>)>;

  /// Without operands the description only serves estimates.
  Statement(plan::Description& description, const Geometry& geometry, const MachineConfig& machine,
            const Codes& codes, const Operands* operands);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }  ///< geometry of the round
  [[nodiscard]] const Operands* operands() const { return operands_; }
  [[nodiscard]] const Codes& codes() const { return codes_; }
  [[nodiscard]] std::uint32_t contexts() const { return contexts_; }
  [[nodiscard]] plan::Description& description() { return description_; }
  [[nodiscard]] Functions& functions() { return functions_; }
  [[nodiscard]] gemm::Functions& dense() { return dense_; }

  /// The following steps belong to round `number`.
  void begin_round(std::uint32_t number) { geometry_.number = number; }

  /// Adds an array on the tiles of the plan.
  BufferId array(std::string_view name, const Bytes& bytes, bool keep = false,
                 Contents contents = {});
  /// Adds an uninitialised array for the rows of a tile, `times` as large.
  BufferId empty_rows(std::string_view name, bool keep = false, std::uint32_t times = 1);
  /// Adds rows of `values` in the order of `rows`; in layout blocked the next inputs load them.
  BufferId given_rows(Values values, std::string_view name, const Rows& rows, bool keep);
  /// Adds twiddles of a pass, `bytes` per tile: stored on every tile, or loaded by the next inputs.
  BufferId twiddles(const RowPass& pass, std::uint64_t bytes, const Groups& fill);
  /// Adds the exchange that loads the inputs not yet loaded.
  void add_inputs();
  /// Adds the arrays for each round's results; none in layout planned.
  void add_results();
  /// Ends the round's rows; in layout blocked they are moved to its result.
  void finish_rows(BufferId array, const Rows& rows);

  /// Adds calls of every tile of the plan to the current compute set.
  void add(CallsOf calls) { set_.push_back(std::move(calls)); }
  /// Adds an exchange after all calls added so far.
  void add_exchange(std::string name, Tile tiles, std::function<void(Tile, Pulls&)> pulls,
                    Bytes sends = {});
  void add_swap(const RowPass& pass, const std::vector<BufferId>& arrays);
  /// Sums over columns, in an array on every tile with the same features: each tile adds its share
  /// of all, in `result` or, if that is `all`, in place.
  struct Shares {
    std::function<Interval(Tile)> share;  ///< bytes
    BufferId all, result;
  };
  /// Adds the shares; `least`: minimum bytes of the array that receives them.
  void add_shares(const std::vector<Shares>& sums, std::uint64_t least = 0);
  /// Ends the statement.
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

/// The program of a plan, with its result's tensor. Without operands it only serves estimates. All
/// arguments but `geometry` and `machine` must outlive it.
plan::Description describe_program(const Geometry& geometry, const MachineConfig& machine,
                                   const Codes& codes, const Operands* operands);

/// Representative tiles: the fullest, and one without a partner that receives the same twiddles.
std::vector<Tile> representatives(const Geometry& geometry);

/// Application of factors and gradients of their twiddles: scalar twiddles on packed words, or
/// block twiddles as dense products.
class Factors {
 public:
  /// Products of one factor: `gradient` of its results, `x` its input.
  struct Products {
    const RowPass& pass;
    std::uint32_t stage;
    const GradientLayout& layout;
    BufferId sums, gradient, x;
  };

  virtual ~Factors() = default;
  /// Adds the twiddles of F or F^H.
  virtual BufferId twiddles(const RowPass& pass, bool adjoint) = 0;
  /// True if `in` and `out` of apply() may be the same.
  [[nodiscard]] virtual bool in_place() const = 0;
  /// Adds the arrays that apply() needs in a round, or in all passes of a gradient.
  virtual void begin_round() = 0;
  virtual void apply(const RowPass& pass, BufferId twiddles, BufferId in, BufferId out) = 0;
  virtual void add_products(const Products& products) = 0;
};

/// The factors of the problem. `statement` must outlive them.
std::unique_ptr<Factors> make_factors(Statement& statement);

/// States the steps of pass grad_twiddles.
void state_gradient(Statement& statement);

}  // namespace tessera::butterfly
