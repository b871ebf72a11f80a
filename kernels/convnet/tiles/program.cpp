#include "kernels/convnet/tiles/program.h"

#include <algorithm>

#include "kernels/gemm/vertices.h"

namespace tessera::convnet::tiles {

using gemm::kPair;
using plan::Description;
using program::Type;

namespace {

constexpr std::uint64_t kLeastBytes = 16;  // least bytes of an array passed to tile code

std::uint64_t bias_bytes(const Geometry& g, const Cell& cell) {
  return g.shape().kind == Kind::maxima ? 0 : g.share(cell).size() * group_channels(g.block()) * 4;
}

/// Makes a step's function: calls use(cell, into) on tiles that have a cell of layer g.
template <class Use>
auto on_cells(const std::shared_ptr<const Geometry>& g, Use use) {
  return [g, use = std::move(use)](Tile tile, auto& into) {
    if (g->works(tile)) use(g->cell(tile), into);
  };
}

/// State that the description's functions keep.
struct DescriptionState {
  std::shared_ptr<const Problem> problem;
  Geometries geometries;
  Functions functions;
};

class Statement {
 public:
  Statement(const std::shared_ptr<const Problem>& problem, const Geometries& geometries,
            Description& description)
      : description_(description),
        kept_(std::make_shared<DescriptionState>(DescriptionState{
            problem, geometries, {problem->code, description, problem->contexts}})),
        results_(geometries.size()) {}

  /// The array of a layer's results.
  void add_results(std::uint32_t number) {
    results_[number] = array(number, "results", &Geometry::result_bytes, {}, true);
  }
  void add_layer(std::uint32_t number) {
    const LayerShape& shape = kept_->geometries[number]->shape();
    description_.stage(name_of(number));
    Arrays a{};
    a.result = results_[number];
    a.lists = array(
        number, "lists", Functions::list_bytes,
        [](const FloatModel&, const Geometry& g, const Cell& cell, std::span<std::byte> into) {
          Functions::fill_lists(g, cell, into);
        },
        false, program::Category::arguments);
    a.x = array(number, "x", &Geometry::x_bytes, shape.given ? Fill(fill_image) : Fill());
    if (!shape.given || !shape.addend.empty()) add_inputs(number, a.x);
    if (!shape.has_sums()) return add_pooling(number, a);
    a.w = array(number, "weights", &Geometry::w_bytes, fill_weights);
    a.bias = array(number, "bias", bias_bytes, fill_bias);
    a.y = array(number, "sums", &Geometry::y_bytes);
    add_sums(number, a);
    if (kept_->geometries[number]->split().inputs > 1) add_parts(number, a);
  }
  /// Declares a layer's results as channels of a tensor, from `first` on.
  void add_tensor(std::uint32_t number, const std::string& name, const Shape& shape,
                  std::uint64_t first) {
    const std::uint32_t channels = kept_->problem->model.network.layers[number].output.channels;
    description_.tensor(
        {{name, program::Role::result, Type::f16, {shape.height, shape.width, shape.channels}},
         results_[number],
         on_cells(kept_->geometries[number],
                  [g = kept_->geometries[number], shape, first, channels](const Cell& cell,
                                                                          program::Runs& runs) {
                    const Interval rows = g->rows(cell), columns = g->columns(cell),
                                   share = g->share(cell);
                    std::uint64_t at = 0;
                    for (std::uint64_t chunk = share.begin * g->chunks_of_group();
                         chunk < share.end * g->chunks_of_group(); ++chunk)
                      for (std::uint64_t row = rows.begin; row < rows.end; ++row)
                        for (std::uint64_t column = columns.begin; column < columns.end; ++column) {
                          const std::uint64_t channel = chunk * g->block().depth;
                          if (channel < channels)
                            runs.add(
                                {at,
                                 (row * shape.width + column) * shape.channels + first + channel,
                                 std::min<std::uint64_t>(g->block().depth, channels - channel), 1});
                          at += g->block().depth;
                        }
                  }),
         [g = kept_->geometries[number]](Tile tile) -> std::uint64_t {
           return g->works(tile) ? g->result_bytes(g->cell(tile)) : 0;
         }});
  }
  /// Declares the network's results, also of concatenated layers; returns the first channel after
  /// them.
  std::uint64_t add_side_by_side(std::uint32_t number, const std::string& name, const Shape& shape,
                                 std::uint64_t first) {
    const Layer& layer = kept_->problem->model.network.layers[number];
    if (layer.op != Operator::concatenate) {
      add_tensor(number, name, shape, first);
      return first + layer.output.channels;
    }
    for (const std::uint32_t input : layer.inputs)
      first = add_side_by_side(input, name, shape, first);
    return first;
  }

 private:
  struct Arrays {
    BufferId lists, x, w, y, bias, result;
  };
  using Bytes = std::function<std::uint64_t(const Geometry&, const Cell&)>;
  using Fill =
      std::function<void(const FloatModel&, const Geometry&, const Cell&, std::span<std::byte>)>;

  [[nodiscard]] Tile tiles() const { return kept_->problem->tiles; }
  [[nodiscard]] const std::string& name_of(std::uint32_t number) const {
    return kept_->problem->model.network.layers[number].name;
  }

  BufferId array(std::uint32_t number, std::string_view name, const Bytes& bytes,
                 const Fill& fill = {}, bool keep = false,
                 program::Category category = program::Category::tensors) {
    plan::Array array{name,
                      [g = kept_->geometries[number], bytes](Tile tile) -> std::uint64_t {
                        if (!g->works(tile)) return 0;
                        return std::max(bytes(*g, g->cell(tile)), kLeastBytes);
                      },
                      keep};
    if (fill)
      array.contents = [k = kept_, g = kept_->geometries[number], bytes, fill](
                           Tile tile, std::span<std::byte> into) {
        fill(k->problem->model, *g, g->cell(tile), into.first(bytes(*g, g->cell(tile))));
      };
    array.category = category;
    return description_.array(std::move(array));
  }

  /// An array of padding rows: zeros, or the lowest value for maxima.
  BufferId padding(bool lowest) {
    std::optional<BufferId>& held = lowest ? lowest_ : zeros_;
    if (held) return *held;
    std::uint64_t bytes = 0;
    for (const auto& g : kept_->geometries)
      if (g) bytes = std::max(bytes, g->pitch({}) * g->block().x_bytes());
    held = description_.array({"padding", [bytes](Tile /*tile*/) { return bytes; }, false,
                               [lowest](Tile /*tile*/, std::span<std::byte> into) {
                                 for (std::size_t i = 0; i < into.size(); ++i)
                                   into[i] = lowest && i % 2 == 1 ? std::byte{0xfc} : std::byte{};
                               }});
    return *held;
  }
  void add_inputs(std::uint32_t number, BufferId x) {
    const auto& g = kept_->geometries[number];
    const Inputs inputs{results_, x, padding(g->shape().kind == Kind::maxima)};
    description_.exchange(name_of(number), tiles(),
                          on_cells(g, [k = kept_, g, inputs](const Cell& cell, Pulls& pulls) {
                            pull_inputs(k->geometries, *g, inputs, cell, pulls);
                          }));
  }
  void add_pooling(std::uint32_t number, const Arrays& a) {
    const auto& g = kept_->geometries[number];
    const plan::Function& pooling = kept_->functions.pooling(*g);
    description_.compute(
        name_of(number), tiles(), on_cells(g, [=, &pooling](const Cell& cell, Calls& calls) {
          calls.add(pooling, Functions::pooling_sizes(*g, cell), {{a.lists}, {a.x}, {a.result}});
        }));
  }
  void add_sums(std::uint32_t number, const Arrays& a) {
    const auto& g = kept_->geometries[number];
    const plan::Function& sums = kept_->functions.sums(g->block());
    const plan::Function& results = kept_->functions.results(g->block());
    description_.compute(
        name_of(number), tiles(),
        on_cells(g, [=, &sums, &results, k = kept_](const Cell& cell, Calls& calls) {
          const Place operands[] = {{a.lists}, {a.w}, {a.x}, {a.y}};
          calls.add(k->functions.sums(*g, cell, operands), sums, k->functions.sums_sizes(*g, cell));
          if (g->split().inputs > 1) return;
          const Place ends[] = {{a.y}, {a.bias}, {a.result}};
          calls.add(k->functions.results(*g, cell, ends), results,
                    Functions::results_sizes(*g, cell));
        }));
  }
  /// Adds the sums of parts of the input channels: each tile that shares sums adds its own groups.
  void add_parts(std::uint32_t number, const Arrays& a) {
    const auto& g = kept_->geometries[number];
    const BufferId received = array(number, "parts", [](const Geometry& of, const Cell& cell) {
      return of.share_bytes(cell).size() * (of.split().inputs - 1);
    });
    const std::string name = name_of(number) + " parts";
    description_.exchange(name, tiles(), on_cells(g, [=](const Cell& to, Pulls& pulls) {
                            const Interval share = g->share_bytes(to);
                            if (share.size() == 0) return;
                            Cell from = to;
                            std::uint64_t at = 0;
                            for (from.input = 0; from.input < g->split().inputs; ++from.input) {
                              if (from.input == to.input) continue;
                              pulls.push_back({{received, word(at)},
                                               g->tile(from),
                                               {a.y, word(share.begin)},
                                               word(share.size())});
                              at += share.size();
                            }
                          }));
    gemm::Functions product(kept_->problem->product_code, description_, kept_->problem->contexts);
    const plan::Function& adding = product.adding(Type::f32);
    const plan::Function& results = kept_->functions.results(g->block());
    description_.compute(
        name, tiles(),
        on_cells(g, [=, &adding, &results, k = kept_](const Cell& cell, Calls& calls) {
          const Interval share = g->share_bytes(cell);
          if (share.size() == 0) return;
          const Place own{a.y, word(share.begin)};
          calls.add(adding, {share.size() / kPair, g->split().inputs - 1}, {own, {received}, own});
          const Place ends[] = {own, {a.bias}, {a.result}};
          calls.add(k->functions.results(*g, cell, ends), results,
                    Functions::results_sizes(*g, cell));
        }));
  }

  Description& description_;
  std::shared_ptr<DescriptionState> kept_;
  std::vector<BufferId> results_;
  std::optional<BufferId> zeros_, lowest_;
};

}  // namespace

Description describe_network(const std::shared_ptr<const Problem>& problem,
                             const Geometries& geometries) {
  Description description(problem->tiles);
  Statement statement(problem, geometries, description);
  const Network& network = problem->model.network;
  for (std::uint32_t i = 0; i < geometries.size(); ++i) {
    if (!geometries[i]) continue;
    statement.add_results(i);
    statement.add_layer(i);
    statement.add_tensor(i, tensor_name(network, i), network.layers[i].output, 0);
  }
  const auto last = static_cast<std::uint32_t>(network.layers.size() - 1);
  if (!geometries[last])
    statement.add_side_by_side(last, tensor_name(network, last), network.layers[last].output, 0);
  return description;
}

Description describe_layer(const std::shared_ptr<const Problem>& problem,
                           const Geometries& geometries, std::uint32_t number) {
  Description description(problem->tiles);
  Geometries used(geometries.size());
  used[number] = geometries[number];
  const LayerShape& shape = geometries[number]->shape();
  const auto use = [&](const std::vector<Source>& operand) {
    for (const Source& source : operand) used[source.layer] = geometries[source.layer];
  };
  if (!shape.given) std::ranges::for_each(shape.operands, use);
  use(shape.addend);
  Statement statement(problem, used, description);
  for (std::uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) statement.add_results(i);
  statement.add_layer(number);
  return description;
}

std::string tensor_name(const Network& network, std::uint32_t number) {
  return number + 1 == network.layers.size() ? "Y" : network.layers[number].name;
}

std::uint64_t call_cycles(const Problem& problem, const Geometry& g, Description& shell,
                          plan::Pricing& pricing) {
  Functions functions(problem.code, shell, problem.contexts);
  const Cell fullest{};
  if (!g.shape().has_sums())
    return pricing.call(shell, functions.pooling(g), Functions::pooling_sizes(g, fullest));
  const std::uint64_t sums =
      pricing.call(shell, functions.sums(g.block()), functions.sums_sizes(g, fullest));
  const std::uint64_t results =
      pricing.call(shell, functions.results(g.block()), Functions::results_sizes(g, fullest));
  if (g.split().inputs == 1) return sums + results;
  gemm::Functions product(problem.product_code, shell, problem.contexts);
  return sums + results +
         pricing.call(shell, product.adding(Type::f32),
                      {g.share_bytes(fullest).size() / kPair, g.split().inputs - 1});
}

std::uint64_t held_bytes(const Geometry& g, const Cell& cell) {
  return g.w_bytes(cell) + bias_bytes(g, cell) + Functions::list_bytes(g, cell) +
         g.result_bytes(cell);
}

}  // namespace tessera::convnet::tiles
