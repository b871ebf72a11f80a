#include "kernels/mlp/pixelfly_weights.h"
#include "kernels/sparse/tensors.h"

namespace tessera::mlp {

using spmm_static::Partition;

namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};  ///< columns

/// A matrix by samples, and its blocked copy: an array of [chunk of `depth` columns][sample][column
/// of the chunk].
struct Blocks {
  MatrixArray matrix;
  EvenStorage storage;
  BufferId array;
  std::uint64_t depth;

  [[nodiscard]] std::uint64_t chunk() const { return depth * matrix.element_bytes(); }
  /// Pulls a tile's part of the blocked copy from the matrix.
  void pull(Tile tile, Pulls& pulls) const {
    const std::uint64_t first = storage.begin(tile);
    const std::uint64_t end = first + storage.bytes_on(tile);
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      next = std::min(end, (at / chunk() + 1) * chunk());
      const std::uint64_t sample = at / chunk() % matrix.padded_rows;
      const std::uint64_t column = at / chunk() / matrix.padded_rows * chunk() + at % chunk();
      const std::uint64_t last = std::min(column + next - at, matrix.row_bytes());
      if (column >= last) continue;
      kernels::pull(pulls, {array, word(at - first)}, matrix.array,
                    matrix.stored.pieces(sample, column, last));
    }
  }
  /// Pulls a tile's part of the matrix from the blocked copy.
  void pull_rows(Tile tile, Pulls& pulls) const {
    const std::uint64_t first = matrix.stored.begin(tile);
    const std::uint64_t end = first + matrix.stored.bytes_on(tile);
    for (std::uint64_t at = first, next = 0; at < end; at = next) {
      const std::uint64_t sample = at / matrix.row_bytes();
      const std::uint64_t column = at % matrix.row_bytes();
      const std::uint64_t row_end = (sample + 1) * matrix.row_bytes();
      next = std::min({end, at + chunk() - column % chunk(), row_end});
      const std::uint64_t from =
          (column / chunk() * matrix.padded_rows + sample) * chunk() + column % chunk();
      if (from < storage.bytes())
        kernels::pull(pulls, {matrix.array, word(at - first)}, storage, array, from,
                      from + next - at);
    }
  }
};

class PixelflyLayer : public Layer {
 public:
  PixelflyLayer(training::Statement& statement, const LayerContext& context,
                const PixelflyPlan& plan)
      : statement_(statement),
        sparse_(statement.sparse()),
        context_(context),
        plan_(plan),
        w_rest_(std::make_shared<const StoredLayout>(plan.gradients.dw)),
        v_rest_(std::make_shared<const StoredLayout>(*plan.gradients.dv)) {
    w_ = make_parameters(w_rest_);
    v_ = make_parameters(v_rest_);
    if (context.linear.layer.gamma) gamma_.emplace(statement, context, w_rest_, first_of_u());
  }

  void forward(const MatrixArray& x, const MatrixArray& z) override {
    const Partition& outer = plan_.forward.partition;
    const Blocks blocks = given(x, outer.x.front().storage, "x in blocks");
    x_ = blocks.array;
    taken_ = gamma_ ? gamma_->multiply(w_.weights) : w_.weights;
    const auto weights = values_of(outer);
    const auto factor = values_of(plan_.z.partition);
    const StoredOperand w{w_rest_, taken_, weights, true, 0, kAll};
    const StoredOperand v{v_rest_, v_.weights, factor, false, 0, kAll};
    if (!w.lies()) add_turned(statement_, {w});
    exchange("x and low rank", blocks, w.lies() ? std::vector{w, v} : std::vector{v});
    z_ = sparse_.stored(plan_.z.partition.y_storage(), "low rank");
    multiply(plan_.z, plan_.z_of, *factor, "low rank ", {x_}, z_);
    const BufferId y = sparse_.stored(outer.y_storage(), "y in blocks");
    multiply(plan_.forward, plan_.forward_of, *weights, "", {x_, z_}, y);
    take(y, outer, z);
  }

  std::optional<MatrixArray> backward(const MatrixArray& x, const MatrixArray& gradient,
                                      bool wanted) override {
    const spmm_static::DenseRows& rows = plan_.back.partition.x.front();
    const Blocks dy = given(gradient, rows.storage, "gradient in blocks");
    const auto factor = values_of(plan_.t.partition);
    const auto weights = values_of(plan_.back.partition);
    std::vector<StoredOperand> taken{{w_rest_, taken_, factor, false, first_of_u(), kAll}};
    if (wanted) taken.push_back({w_rest_, taken_, weights, false, 0, first_of_u()});
    if (wanted)
      add_turned(statement_, {{v_rest_, v_.weights, weights, true, 0, kAll, first_of_t()}});
    const bool lies = taken.front().lies();
    if (!lies) add_turned(statement_, taken);
    exchange("gradient and low rank", dy, lies ? taken : std::vector<StoredOperand>());
    const BufferId t = sparse_.stored(plan_.t.partition.y_storage(), "low rank of the gradient");
    multiply(plan_.t, plan_.t_of, *factor, "low rank back ", {dy.array}, t);
    std::optional<MatrixArray> back;
    if (wanted) {
      const BufferId dx = sparse_.stored(plan_.back.partition.y_storage(), "dx in blocks");
      multiply(plan_.back, plan_.back_of, *weights, "back ", {dy.array, t}, dx);
      back = statement_.matrix(x.rows, x.columns, "gradient of activations");
      take(dx, plan_.back.partition, *back);
    }
    statement_.stand_for_others(pixelfly::state_products(
        sparse_, plan_.gradients, {x_, z_, dy.array, t, w_.gradient, v_.gradient}));
    if (gamma_) gamma_->add_gradients(w_);
    return back;
  }

  [[nodiscard]] std::vector<Parameters> parameters() const override {
    std::vector<Parameters> all{w_, v_};
    if (gamma_ && gamma_->parameter()) all.push_back(*gamma_->parameter());
    return all;
  }
  [[nodiscard]] Tile tiles() const override {
    return std::max(w_rest_->storage.tiles(), v_rest_->storage.tiles());
  }

  void add_tensors(const std::string& name) const override {
    plan::Description& d = statement_.description();
    const std::uint64_t count = pixelfly_order(context_.linear, plan_.mask).end;
    for (const Parameters* its : {&w_, &v_})
      training::add_tensor(d, {name, program::Role::weights, its->master_type(), {count}}, *its);
    sparse::add_pattern(
        d,
        {fmt::format("mask_{}", context_.number), program::Role::weights, program::Type::u32, {}},
        plan_.mask);
    if (gamma_ && gamma_->parameter())
      training::add_tensor(d, {name + "_gamma", program::Role::weights, program::Type::f32, {1}},
                           *gamma_->parameter(), count);
  }

 private:
  /// Calls take(weights at rest, row, column) for every parameter in order.
  template <class Take>
  void for_parameters(const Take& take) const {
    const Linear& linear = context_.linear;
    for_elements(plan_.mask, [&](std::size_t, std::uint64_t row, std::uint64_t column) {
      take(*w_rest_, row, column);
    });
    for (std::uint32_t i = 0; i < linear.outputs; ++i)
      for (std::uint32_t q = 0; q < linear.layer.rank; ++q) take(*w_rest_, i, first_of_u() + q);
    for (std::uint32_t j = 0; j < linear.inputs; ++j)
      for (std::uint32_t q = 0; q < linear.layer.rank; ++q) take(*v_rest_, j, q);
  }
  [[nodiscard]] std::uint64_t first_of_u() const { return plan_.forward.partition.x.back().first; }
  [[nodiscard]] std::uint64_t first_of_t() const { return plan_.back.partition.x.back().first; }

  Parameters make_parameters(const std::shared_ptr<const StoredLayout>& rest) {
    const auto all = std::make_shared<std::vector<std::uint64_t>>(
        rest->storage.bytes() / rest->element_bytes, training::kNoNumber);
    std::uint64_t number = 0;
    for_parameters([&](const StoredLayout& in, std::uint64_t row, std::uint64_t column) {
      if (&in == rest.get()) (*all)[in.element(row, column)] = number;
      ++number;
    });
    const auto numbers = [rest, all](Tile tile) -> std::vector<std::uint64_t> {
      const auto first = all->begin() + static_cast<std::ptrdiff_t>(rest->storage.begin(tile) /
                                                                    rest->element_bytes);
      return {first, first + static_cast<std::ptrdiff_t>(rest->elements_on(tile))};
    };
    return context_.maker.make([rest](Tile tile) { return rest->elements_on(tile); }, numbers,
                               statement_.type());
  }

  [[nodiscard]] std::shared_ptr<const Values> values_of(const Partition& partition) {
    return std::make_shared<const Values>(partition,
                                          sparse_.stored(partition.value_storage(), "w"));
  }
  void multiply(const spmm_static::Plan& plan, const sparse::BlockMatrix& w, const Values& values,
                const char* name, const std::vector<BufferId>& x, BufferId results) {
    spmm_static::Product product(sparse_, plan.partition, w, name);
    product.take_values(values.array);
    product.add_steps(x, results);
    statement_.stand_for_others(product.representatives());
  }

  /// Makes a blocked copy for a matrix. Rows beyond the matrix's columns are cleared.
  Blocks given(const MatrixArray& matrix, const EvenStorage& storage, std::string_view name) {
    const BufferId array = sparse_.stored(storage, name);
    if (storage.bytes() > matrix.padded_bytes())
      statement_.compute("clear", {statement_.clearing(array)});
    return {matrix, storage, array, plan_.shape.x_depth()};
  }
  void exchange(const char* name, const Blocks& blocks,
                const std::vector<StoredOperand>& operands) {
    statement_.description().exchange(name, statement_.machine().tiles,
                                      [blocks, operands](Tile tile, Pulls& pulls) {
                                        blocks.pull(tile, pulls);
                                        for (const StoredOperand& taking : operands)
                                          pull_copies(taking, tile, pulls);
                                      });
  }
  void take(BufferId from, const Partition& partition, const MatrixArray& to) {
    const Blocks blocks{to, partition.y_storage(), from, partition.shape.block};
    if (blocks.storage.bytes() < to.padded_bytes())
      statement_.compute("clear", {statement_.clearing(to.array)});
    statement_.description().exchange(
        "rows", statement_.machine().tiles,
        [blocks](Tile tile, Pulls& pulls) { blocks.pull_rows(tile, pulls); });
  }

  training::Statement& statement_;
  sparse::Statement sparse_;
  LayerContext context_;
  const PixelflyPlan& plan_;
  std::shared_ptr<const StoredLayout> w_rest_, v_rest_;
  Parameters w_, v_;
  std::optional<PixelflyGamma> gamma_;
  BufferId x_{}, z_{}, taken_{};  ///< this turn's x, z, and weights that products use
};

}  // namespace

std::unique_ptr<Layer> make_pixelfly(training::Statement& statement, const LayerContext& context,
                                     const PixelflyPlan& plan) {
  return std::make_unique<PixelflyLayer>(statement, context, plan);
}

}  // namespace tessera::mlp
