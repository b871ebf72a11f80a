#include "kernels/mlp/pixelfly_gamma.h"
#include "kernels/sparse/tensors.h"
#include "kernels/training/results.h"
#include "sim/plan/lower.h"

namespace tessera::mlp {

using kernels::EvenStorage;
using program::Place;
using sparse::BlockMatrix;
using spmm_static::DenseRows;
using spmm_static::Partition;

namespace {

using Buffers = std::vector<BufferId>;

constexpr std::uint64_t kAll = ~std::uint64_t{0};  ///< columns

/// A layer of pixelfly.
class PixelflyLayer : public Layer {
 public:
  PixelflyLayer(Assembly& assembly, const LayerContext& context, const PixelflyPlan& plan)
      : assembly_(assembly),
        context_(context),
        plan_(plan),
        sparse_(code_, assembly.program(), assembly.machine().tile.contexts),
        w_(plan.gradients.dw),
        v_(*plan.gradients.dv) {
    const std::vector<double> values =
        initial_parameters(context.seed, context.number, context.linear);
    fill(w_, values);
    fill(v_, values);
    if (context.linear.layer.gamma) gamma_.emplace(assembly, sparse_, context, w_, first_of_u());
  }

  void forward(const Matrix& x, const Matrix& z) override {
    sparse_.add_to(assembly_.sequence(), assembly_.measured());
    const Partition& outer = plan_.forward.partition;
    x_ = stored(outer.x.front().storage, "x in blocks");
    clear_behind(x, outer.x.front().storage, x_);
    if (gamma_) w_.copies = gamma_->multiply();
    const Values weights = make_values(outer);
    const Values factor = make_values(plan_.z.partition);
    const Taking w{w_, weights, true, 0, kAll};
    const Taking v{v_, factor, false, 0, kAll};
    if (!w.lies()) add_turned(assembly_, {w});
    program::Exchange exchange{"x and low rank", {}};
    add_blocks(exchange, x, outer.x.front().storage, x_, outer.shape.x_depth(), true);
    if (w.lies()) add_copies(exchange, w);
    add_copies(exchange, v);
    assembly_.add_step(std::move(exchange));
    z_ = stored(plan_.z.partition.y_storage(), "low rank");
    multiply(plan_.z, plan_.z_of, factor, "low rank ", {x_}, z_);
    const Buffers y = stored(outer.y_storage(), "y in blocks");
    multiply(plan_.forward, plan_.forward_of, weights, "", {x_, z_}, y);
    take(y, outer, z);
  }

  std::optional<Matrix> backward(const Matrix& x, const Matrix& gradient, bool wanted) override {
    sparse_.add_to(assembly_.sequence(), assembly_.measured());
    const DenseRows& rows = plan_.back.partition.x.front();
    const Buffers dy = stored(rows.storage, "gradient in blocks");
    clear_behind(gradient, rows.storage, dy);
    const Values factor = make_values(plan_.t.partition);
    const Values weights = make_values(plan_.back.partition);
    std::vector<Taking> taken{{w_, factor, false, first_of_u(), kAll}};
    if (wanted) taken.push_back({w_, weights, false, 0, first_of_u()});
    if (wanted) add_turned(assembly_, {{v_, weights, true, 0, kAll, first_of_t()}});
    const bool lies = taken.front().lies();
    if (!lies) add_turned(assembly_, taken);
    program::Exchange exchange{"gradient and low rank", {}};
    add_blocks(exchange, gradient, rows.storage, dy, plan_.shape.x_depth(), true);
    for (const Taking& taking : taken)
      if (lies) add_copies(exchange, taking);
    assembly_.add_step(std::move(exchange));
    const Buffers t = stored(plan_.t.partition.y_storage(), "low rank of the gradient");
    multiply(plan_.t, plan_.t_of, factor, "low rank back ", {dy}, t);
    std::optional<Matrix> back;
    if (wanted) {
      const Buffers dx = stored(plan_.back.partition.y_storage(), "dx in blocks");
      multiply(plan_.back, plan_.back_of, weights, "back ", {dy, t}, dx);
      back = assembly_.matrix(x.rows, x.columns, "gradient of activations");
      take(dx, plan_.back.partition, *back);
    }
    state([&](const sparse::Statement& statement, const auto& array) {
      pixelfly::state_products(statement, plan_.gradients,
                               {array(x_), array(z_), array(dy), array(t), array(w_.gradients()),
                                array(v_.gradients())});
    });
    if (gamma_) gamma_->add_gradients();
    return back;
  }

  [[nodiscard]] std::vector<training::Stretch> stretches() const override {
    std::vector<training::Stretch> all = w_.stretches;
    all.insert(all.end(), v_.stretches.begin(), v_.stretches.end());
    if (gamma_ && gamma_->parameter()) all.push_back(*gamma_->parameter());
    return all;
  }

  [[nodiscard]] std::uint32_t tiles() const override {
    return std::max(w_.storage.tiles(), v_.storage.tiles());
  }

  void add_tensors(program::Program& program, const std::string& name,
                   const training::Replicas& copies) const override {
    const AtRest::Masters w = w_.masters(copies);
    const AtRest::Masters v = v_.masters(copies);
    std::vector<Place> places;
    for_parameters([&](const AtRest& of, std::uint64_t row, std::uint64_t column) {
      places.push_back(of.place(row, column, &of == &w_ ? w : v));
    });
    program.add_tensor(training::weights_at(name, w_.stretches.front().master_type(), places));
    sparse::add_pattern(
        program,
        {fmt::format("mask_{}", context_.number), program::Role::weights, program::Type::u32},
        plan_.mask);
    if (!gamma_ || !gamma_->parameter()) return;
    const std::vector<Place> gamma = copies.master_places(*gamma_->parameter());
    program.add_tensor(training::weights_at(fmt::format("weights_{}_gamma", context_.number),
                                            program::Type::f32, std::span(gamma).first(1)));
  }

 private:
  /// Calls take(matrix, row, column) for every parameter in order.
  template <class Take>
  void for_parameters(const Take& take) const {
    const Linear& linear = context_.linear;
    const BlockMatrix& s = plan_.mask;
    for (std::uint32_t row = 0; row < s.block_rows(); ++row)
      for (std::uint64_t e = s.row_begin[row]; e < s.row_begin[row + 1]; ++e)
        for (std::uint32_t n = 0; n < s.block * s.block; ++n)
          take(w_, std::uint64_t{row} * s.block + n / s.block,
               std::uint64_t{s.column[e]} * s.block + n % s.block);
    for (std::uint32_t i = 0; i < linear.outputs; ++i)
      for (std::uint32_t q = 0; q < linear.layer.rank; ++q) take(w_, i, first_of_u() + q);
    for (std::uint32_t j = 0; j < linear.inputs; ++j)
      for (std::uint32_t q = 0; q < linear.layer.rank; ++q) take(v_, j, q);
  }
  [[nodiscard]] std::uint64_t first_of_u() const { return plan_.forward.partition.x.back().first; }

  void fill(AtRest& of, const std::vector<double>& values) {
    const auto all = std::make_shared<std::vector<double>>(of.storage.bytes() / of.element_bytes);
    std::size_t at = 0;
    for_parameters([&](const AtRest& in, std::uint64_t row, std::uint64_t column) {
      if (&in == &of) (*all)[in.byte(row, column) / of.element_bytes] = values[at];
      ++at;
    });
    const training::StretchMaker make(assembly_, context_.learning);
    for (std::uint32_t t = 0; t < of.storage.tiles(); ++t)
      of.stretches.push_back(make.stretch(
          t, of.storage.bytes_on(t) / of.element_bytes,
          [all, first = of.storage.begin(t) / of.element_bytes](std::uint64_t i) {
            return (*all)[first + i];
          },
          assembly_.type()));
  }

  /// On all tiles: products name results by tile.
  [[nodiscard]] Buffers stored(const EvenStorage& storage, std::string_view name) {
    Buffers buffers = sparse_.stored(storage, name);
    buffers.resize(assembly_.machine().tiles, buffers.back());
    return buffers;
  }
  [[nodiscard]] Values make_values(const Partition& partition) {
    return {partition, sparse_.stored(partition.value_storage(), "w")};
  }

  void multiply(const spmm_static::Plan& plan, const BlockMatrix& w, const Values& values,
                const char* name, const std::vector<Buffers>& x, const Buffers& results) {
    state([&](const sparse::Statement& statement, const auto& array) {
      spmm_static::Product product(statement, plan.partition, w, name);
      product.take_values(array(values.buffers));
      std::vector<BufferId> rows;
      for (const Buffers& each : x) rows.push_back(array(each));
      product.add_steps(rows, array(results));
    });
  }
  /// Adds steps that `make` states of arrays, which lie in buffers by tile: array(buffers).
  template <class Make>
  void state(const Make& make) {
    plan::Description description(assembly_.machine().tiles);
    description.measure(assembly_.measured());
    plan::Bound bound;
    make(sparse::Statement{description, code_, sparse_.contexts()}, [&](const Buffers& buffers) {
      const BufferId array = description.array({"bound", {}});
      bound.emplace(array, buffers);
      return array;
    });
    plan::lower_into(description, bound, assembly_.program(), assembly_.sequence());
  }

  [[nodiscard]] std::uint64_t first_of_t() const { return plan_.back.partition.x.back().first; }

  /// Blocks hold more rows than the matrix has columns.
  void clear_behind(const Matrix& matrix, const EvenStorage& storage, const Buffers& buffers) {
    if (storage.bytes() > matrix.padded_bytes())
      assembly_.clear({buffers.begin(), buffers.begin() + storage.tiles()});
  }

  /// A matrix by samples to [chunk of `depth` columns][sample][column of the chunk], or back.
  static void add_blocks(program::Exchange& exchange, const Matrix& matrix,
                         const EvenStorage& storage, const Buffers& buffers, std::uint32_t depth,
                         bool into) {
    const std::uint64_t samples = matrix.padded_rows;
    const std::uint64_t chunk = depth * matrix.element_bytes();
    const std::uint64_t pitch = matrix.pitch * matrix.element_bytes();
    for (std::uint64_t at = 0; at < pitch && at * samples < storage.bytes(); at += chunk) {
      for (std::uint64_t s = 0; s < samples; ++s) {
        for (const auto& piece : matrix.lies.stored.pieces(s, at, std::min(at + chunk, pitch))) {
          const Place place{matrix.lies.buffers[piece.tile], piece.offset};
          const std::uint64_t first = at * samples + s * chunk + piece.at;
          for (const auto& held : storage.pieces(first, first + piece.bytes)) {
            const Place block{buffers[held.tile], held.offset};
            const Place row{place.buffer, place.offset + held.at};
            exchange.copies.push_back(into ? program::Copy{row, held.bytes, {block}}
                                           : program::Copy{block, held.bytes, {row}});
          }
        }
      }
    }
  }
  void take(const Buffers& from, const Partition& partition, const Matrix& to) {
    const EvenStorage storage = partition.y_storage();
    if (storage.bytes() < to.padded_bytes()) assembly_.clear(to.lies.buffers);
    program::Exchange exchange{"rows", {}};
    add_blocks(exchange, to, storage, from, partition.shape.block, false);
    assembly_.add_step(std::move(exchange));
  }

  Assembly& assembly_;
  LayerContext context_;
  const PixelflyPlan& plan_;
  sparse::TileCode code_;
  sparse::Assembly sparse_;
  AtRest w_, v_;
  std::optional<PixelflyGamma> gamma_;
  Buffers x_, z_;  ///< of this turn
};

}  // namespace

std::unique_ptr<Layer> make_pixelfly(Assembly& assembly, const LayerContext& context,
                                     const PixelflyPlan& plan) {
  return std::make_unique<PixelflyLayer>(assembly, context, plan);
}

}  // namespace tessera::mlp
