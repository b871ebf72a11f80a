#include "kernels/convnet/plan.h"

#include <algorithm>
#include <optional>

#include "kernels/convnet/published.h"
#include "sim/base/errors.h"
#include "sim/config/nearest.h"
#include "sim/machine/nodes.h"

namespace tessera::convnet {
namespace {

/// Whether no element of a tensor can be below zero.
bool is_nonnegative(const Network& network, std::uint32_t number) {
  const Layer& layer = network.layers[number];
  if (layer.op == Operator::input) return false;
  if (layer.relu) return true;
  const bool keeps_signs = layer.op == Operator::max_pool || layer.op == Operator::average_pool ||
                           layer.op == Operator::concatenate;
  return keeps_signs && std::ranges::all_of(layer.inputs, [&](std::uint32_t input) {
           return is_nonnegative(network, input);
         });
}

/// Refuses what cores have no code for.
void require_known(const Network& network) {
  for (const Layer& layer : network.layers) {
    const auto refuse = [&](std::string_view found) {
      throw UserError(fmt::format("network {}: layer {}: {}", network.name, layer.name, found));
    };
    const Window& window = layer.window;
    if (layer.op == Operator::depthwise_convolution)
      refuse("found depthwise_convolution, which cores have no code for");
    if (layer.op == Operator::max_pool &&
        window.top + window.left + window.bottom + window.right > 0 &&
        !is_nonnegative(network, layer.inputs[0]))
      refuse(
          "found padding around a tensor that may be negative, allowed behind ReLU: the DMA pads "
          "with zeros, which would win");
  }
}

constexpr config::Names<Rules, 2> kRules{
    {{"fastest", Rules::fastest}, {"published", Rules::published}}};
constexpr config::Names<Order, 3> kOrders{
    {{"rows", Order::rows}, {"weights", Order::weights}, {"inputs", Order::inputs}}};

}  // namespace

void describe(config::Fields& fields, LayerPlan& plan) {
  Mapping& mapping = plan.mapping;
  fields.field({"layer", "name of a layer", "", true}, plan.layer);
  fields.field({"rows", "output rows that a core works on at a time"}, mapping.rows,
               {1, kMostExtent});
  fields.field({"group", "blocks of 8 output channels whose weights a core holds at a time"},
               mapping.group, {1, kMostExtent});
  fields.field({"parts", "parts of the input blocks of a convolution that weights come in"},
               mapping.parts, {1, kMostExtent});
  fields.field({"order",
                "rows: all weights for each tile of rows; weights: all rows for each of weights; "
                "inputs: for "
                "each tile of results both come part by part of the input blocks"},
               mapping.order, kOrders);
  fields.field({"row_buffers", "tiles of rows that a core has room for"}, mapping.row_buffers,
               {1, 2});
  fields.field({"weight_buffers", "tiles of weights that it has room for"}, mapping.weight_buffers,
               {1, 2});
  fields.field({"pieces",
                "pieces that a tile of weights comes in: one is sent to the cores while the next "
                "is brought from DDR; more of them where memory tiles have no room for two"},
               mapping.pieces, {1, kMostExtent});
  fields.field({"adds", "whether the addition of a convolution's results is made with it"},
               mapping.adds);
}

void describe(config::Fields& fields, BandPlan& plan) {
  fields.field({"first", "name of the first of consecutive layers", "", true}, plan.first);
  fields.field({"last", "name of the last one, whose rows are divided", "", true}, plan.last);
  fields.field({"bands",
                "bands of its rows: layer by layer one is computed, then the next, so that what is "
                "between the layers stays in memory tiles"},
               plan.bands, {2, kMostExtent});
}

void describe(config::Fields& fields, PinnedPlan& plan) {
  fields.field(
      {"rules",
       "fastest: of all mappings that fit; published: the paper's, layer by layer, without "
       "weights ahead of their layer"},
      plan.rules, kRules);
  fields.list({"layers",
               "mappings of layers, LAYER#1, LAYER#2, ... those of bands; those of the others are "
               "found by the rules"},
              plan.layers);
  fields.list({"bands",
               "layers that are computed band by band, in order; where neither these nor layers "
               "are given they are searched"},
              plan.bands);
}

Planner::Planner(const BandedNetwork& of, const PinnedPlan& pinned, MachineCosts& costs)
    : Planner(of, pinned, costs.machine(), std::make_shared<LayerCosts>(costs)) {}

Planner::Planner(const BandedNetwork& of, const PinnedPlan& pinned, const MachineConfig& machine,
                 std::shared_ptr<LayerCosts> costs)
    : machine_(machine),
      network_name_(of.network.name),
      pinned_(pinned),
      array_(array_of(machine_)),
      costs_(std::move(costs)),
      calls_(costs_->calls),
      core_capacity_(arrays::data_bytes(machine_.tile)) {
  if (pinned.rules == Rules::published) array_.column_multiple = kPublishedColumns;
  const Network& network = of.network;
  require_known(network);
  require_layers(network);
  const Plan plan{&network, &of.weights, nullptr, array_, {}, {}, 0, 0};
  const std::uint64_t room = arrays::data_bytes(tile_of(machine_, array_.first_memory));
  if (!fit(plan, room)) {  // as tiles of rows and results are the fastest
    staged_limit_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(room / 2, UINT32_MAX));
    fit(plan, room);
  }
  if (placement_.bytes > room)
    throw UserError(fmt::format(
        "network {}: layer {}: tensors, rows and weights need {} bytes of a memory tile, which has "
        "{} (machine.nodes[0].tile.sram_kib = {})",
        network.name, network.layers[placement_.fullest_layer].name, placement_.bytes, room,
        machine_.nodes[0].tile.sram_kib));
  load_ = moved_whole(kLoad, placement_.views.front());
  store_ = moved_whole(kStore, placement_.views.back());
}

/// Maps all layers and places tensors, in DDR as many as have to; false if there is no room.
bool Planner::fit(const Plan& plan, std::uint64_t room) {
  layers_.clear();
  made_.clear();
  outside_.clear();
  piece_limit_ = UINT32_MAX;
  do {
    map_layers(plan);
    place(plan);
  } while (placement_.bytes > room && (spill() || cut_weights()));
  return placement_.bytes <= room;
}

/// Bytes of a memory tile that a layer's tiles take on their way from and to DDR.
Staging Planner::staging(const LayerShape& shape, const Ddr& ddr) {
  Staging staging;
  if (ddr.loads) staging.rows = shape.tensors() * shape.staged_row_bytes();
  if (ddr.adds) staging.operands = shape.staged_result_bytes();
  if (ddr.stores) staging.results = shape.staged_result_bytes();
  return staging;
}

std::uint64_t Planner::cycles() const {
  std::uint64_t sum = load_ + store_;
  for (const Priced& layer : layers_) sum += layer.cycles;
  return sum;
}

/// Refuses mappings of layers that there are not, or that have one already.
void Planner::require_layers(const Network& network) const {
  std::vector<std::string> computed;
  for (const Layer& layer : network.layers)
    if (is_computed(layer)) computed.push_back(layer.name);
  for (const LayerPlan& plan : pinned_.layers) {
    const auto refuse = [&](const std::string& allowed) {
      throw KeyError(fmt::format("workload.plan.layers[{}].layer", &plan - pinned_.layers.data()),
                     fmt::format("found \"{}\", allowed {}", plan.layer, allowed));
    };
    if (std::ranges::count(computed, plan.layer) == 0)
      refuse(fmt::format("a layer of network {} that cores compute{}", network.name,
                         config::did_you_mean(plan.layer, computed)));
    if (pin_of(plan.layer) != &plan) refuse("each layer once");
  }
}

bool Planner::outside(std::uint32_t layer) const {
  return !outside_.empty() && outside_[placement_.views[layer].held];
}

/// The fastest mapping of each layer, as tensors lie now.
void Planner::map_layers(const Plan& plan) {
  const Network& network = *plan.network;
  layers_.resize(network.layers.size());
  made_.resize(network.layers.size());
  ring_bytes_ = core_bytes_ = 0;
  for (std::uint32_t number = 0; number < network.layers.size(); ++number) {
    if (!computes(network, number)) continue;
    LayerShape shape = shape_of(plan, number);
    const Ddr ddr = ddr_of(network, number);
    if (outside_.empty() || ddr.loads || ddr.adds || ddr.stores || piece_limit_ != UINT32_MAX)
      layers_[number] = best(shape, ddr, layers_[number].mapping.adds);
    if (outside_.empty()) make_addition(number, plan);
    limit_pieces(shape, layers_[number], ddr);
    ring_bytes_ = std::max(ring_bytes_, shape.piece(0).size());
    core_bytes_ = std::max(core_bytes_, shape.core_layout().bytes());
  }
  ring_bytes_ = round_up(ring_bytes_, kAlign);
}

/// Makes the addition of a convolution's results with it, if that is pinned or not slower.
void Planner::make_addition(std::uint32_t number, const Plan& plan) {
  const Network& network = *plan.network;
  LayerShape shape = shape_of(plan, number);
  const std::optional<std::uint32_t> addition = network.addition_of(number);
  if (const LayerPlan* const pin = pin_of(shape.layer().name)) {
    if (!pin->mapping.adds) return;
    const auto key = [&](const LayerPlan& of, const char* field) {
      return fmt::format("workload.plan.layers[{}].{}", &of - pinned_.layers.data(), field);
    };
    if (!addition)
      throw KeyError(key(*pin, "adds"),
                     "found true, allowed of a convolution whose results one addition alone takes, "
                     "as the last of its operands that is made");
    if (const LayerPlan* const other = pin_of(network.layers[*addition].name))
      throw KeyError(key(*other, "layer"),
                     fmt::format("found {}, allowed other layers: {} makes this addition (adds)",
                                 other->layer, pin->layer));
    made_[*addition] = true;
    return;
  }
  if (!addition || pinned_.rules == Rules::published ||
      pin_of(network.layers[*addition].name) != nullptr)
    return;
  const std::optional<Priced> with = search(shape, {}, true);
  if (!with) return;
  LayerShape alone = shape_of(plan, *addition);
  if (with->cycles > layers_[number].cycles + best(alone, {}, false).cycles) return;
  layers_[number] = *with;
  made_[*addition] = true;
}

Planner::Ddr Planner::ddr_of(const Network& network, std::uint32_t number) const {
  const auto outside = [this](std::uint32_t layer) { return this->outside(layer); };
  Ddr ddr{std::ranges::any_of(network.layers[number].inputs, outside), false, outside(number)};
  if (!layers_[number].mapping.adds) return ddr;
  for (const std::uint32_t input : network.layers[*network.addition_of(number)].inputs)
    ddr.adds = ddr.adds || (input != number && outside(input));
  return ddr;
}

void Planner::place(const Plan& plan) {
  const Network& network = *plan.network;
  std::vector<Staging> staging(network.layers.size());
  std::vector<bool> adds(network.layers.size());
  for (std::uint32_t number = 0; number < network.layers.size(); ++number) {
    if (!computes(network, number)) continue;
    LayerShape shape = shape_of(plan, number);
    shape.mapping = layers_[number].mapping;
    adds[number] = shape.mapping.adds;
    staging[number] = this->staging(shape, ddr_of(network, number));
  }
  Plan ring = plan;
  ring.ring_bytes = ring_bytes_;
  placement_ = place_tensors(network, array_, adds, ring_end(ring), outside_, staging);
}

/// Moves the largest tensor of the fullest layer to DDR; false if there is none left.
bool Planner::spill() {
  outside_.resize(placement_.held.size());
  const std::uint32_t image = placement_.views.front().held;
  const std::uint32_t last = placement_.views.back().held;
  std::optional<std::uint32_t> largest;
  for (std::uint32_t i = 0; i < placement_.held.size(); ++i) {
    const Range& life = placement_.lives[i];
    const bool lives =
        life.begin <= placement_.fullest_layer && placement_.fullest_layer < life.end;
    // A sum that takes the image's place has none of its own.
    if (!lives || outside_[i] || (i == image && i == last)) continue;
    if (!largest || placement_.held[i].bytes() > placement_.held[*largest].bytes()) largest = i;
  }
  if (largest) outside_[*largest] = true;
  return largest.has_value();
}

/// Halves what pieces of weights may take in a memory tile; false if they are as small as can be.
bool Planner::cut_weights() {
  const std::uint32_t half = std::min(piece_limit_, ring_bytes_) / 2 / kAlign * kAlign;
  if (half == 0) return false;
  piece_limit_ = half;
  return true;
}

/// Pieces of at most the limit that the weights of a layer come in.
std::uint32_t Planner::pieces(const LayerShape& shape) const {
  return std::max(shape.mapping.pieces, ceil_div(shape.weight_bytes(), piece_limit_));
}

/// Gives a layer the mapping, and has its weights come in such pieces, pinned or not.
void Planner::limit_pieces(LayerShape& shape, Priced& priced, const Ddr& ddr) {
  shape.mapping = priced.mapping;
  shape.mapping.pieces = pieces(shape);
  if (shape.mapping != priced.mapping) priced = price(shape, ddr);
}

}  // namespace tessera::convnet
