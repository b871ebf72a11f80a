#include "kernels/convnet/plan.h"

#include <algorithm>

#include "sim/base/errors.h"
#include "sim/config/nearest.h"

namespace tessera::convnet {
namespace {

/// True if no element of a tensor can be negative.
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

constexpr config::Names<Rules, 2> kRules{
    {{"fastest", Rules::fastest}, {"published", Rules::published}}};
constexpr config::Names<Order, 3> kOrders{
    {{"rows", Order::rows}, {"weights", Order::weights}, {"inputs", Order::inputs}}};

}  // namespace

void require_known(const Network& network) {
  for (const Layer& layer : network.layers) {
    const auto refuse = [&](std::string_view found) {
      throw UserError("network {}: layer {}: {}", network.name, layer.name, found);
    };
    const Window& window = layer.window;
    if (layer.op == Operator::depthwise_convolution)
      refuse(
          "found depthwise_convolution (also a normalisation that follows no Conv): cores have no "
          "code for it, tiles with an exchange have (machine bow, dtype f16)");
    if (layer.op == Operator::max_pool &&
        window.top + window.left + window.bottom + window.right > 0 &&
        !is_nonnegative(network, layer.inputs[0]))
      refuse(
          "found padding around a tensor that may be negative, allowed after ReLU: the DMA pads "
          "with zeros, which would win");
  }
}

void describe(config::Fields& fields, LayerPlan& plan) {
  Mapping& mapping = plan.mapping;
  fields.field({"layer", "name of a layer", "", true}, plan.layer);
  fields.field({"rows", "output rows that a core computes at a time"}, mapping.rows,
               {1, kMostExtent});
  fields.field(
      {"group",
       "groups of output channels (8 for i8, 4 for others) whose weights a core holds at a time"},
      mapping.group, {1, kMostExtent});
  fields.field({"parts", "parts of a convolution's input channels in which weights arrive"},
               mapping.parts, {1, kMostExtent});
  fields.field({"order",
                "loop order: rows: all weights for each tile of rows; weights: all rows for each "
                "tile of weights; inputs: rows and weights arrive by parts of the input channels, "
                "for each tile of results"},
               mapping.order, kOrders);
  fields.field({"row_buffers", "buffers of a core for tiles of rows"}, mapping.row_buffers, {1, 2});
  fields.field({"weight_buffers", "buffers of a core for tiles of weights"}, mapping.weight_buffers,
               {1, 2});
  fields.field({"pieces",
                "pieces of a tile of weights: one is sent to the cores while the next arrives from "
                "DDR; more pieces if memory tiles have no room for two whole tiles"},
               mapping.pieces, {1, kMostExtent});
  fields.field({"core_rows", "rows of cores that share a layer's output channels; 0: all"},
               mapping.core_rows, {0, kMostExtent});
  fields.field({"columns", "columns of the array that share a layer's tensor; 0: all"},
               plan.columns, {0, kMostExtent});
  fields.field({"adds", "whether a residual addition is fused into the convolution before it"},
               mapping.adds);
  fields.field({"zeros",
                "whether pruned weight blocks are stored, moved and computed as zeros, where that "
                "is faster than skipping them"},
               mapping.zeros);
}

void describe(config::Fields& fields, BandPlan& plan) {
  fields.field({"first", "name of the first of consecutive layers", "", true}, plan.first);
  fields.field({"last", "name of the last layer, whose rows are divided into bands", "", true},
               plan.last);
  fields.field({"bands",
                "number of bands: each band passes through all layers before the next begins, so "
                "that values between layers stay in memory tiles"},
               plan.bands, {2, kMostExtent});
}

void describe(config::Fields& fields, PinnedPlan& plan) {
  fields.field({"rules",
                "fastest: the fastest of all mappings that fit; published: the paper's rules, "
                "layer by layer, without loading a layer's weights during the layer before"},
               plan.rules, kRules);
  fields.field(
      {"image_columns", "number of array columns that share an image; 0: found by the rules"},
      plan.image_columns, {0, kMostExtent});
  fields.list({"layers",
               "mappings of layers (LAYER#1, LAYER#2, ... for those of bands); the rules find "
               "those not given"},
              plan.layers);
  fields.list({"bands",
               "groups of layers computed band by band (depth first), in order; if neither bands "
               "nor layers are given, both are searched"},
              plan.bands);
}

Planner::Planner(const BandedNetwork& of, const PinnedPlan& pinned, const MachineConfig& machine,
                 std::shared_ptr<LayerCosts> costs, const CoreLimits& limits)
    : machine_(machine),
      pinned_(pinned),
      costs_(std::move(costs)),
      calls_(costs_->calls),
      core_capacity_(arrays::data_bytes(machine_.tile)),
      groups_(split_alike(of.network)) {
  const Network& network = of.network;
  const bool published = pinned.rules == Rules::published;
  plan_.network = &network;
  plan_.weights = &of.weights;
  plan_.image = of.image;
  plan_.array = array_of(machine_);
  limits_ = {std::min(limits.rows, plan_.array.rows), std::min(limits.columns, plan_.array.columns),
             limits.item_cycles};
  if (published) plan_.array.column_multiple = kPublishedColumns;
  plan_.weights_ahead = !published;
  require_layers();
  const std::uint64_t room = arrays::data_bytes(tile_of(machine_, plan_.array.first_memory));
  if (!fit(room)) {  // with the fastest tiles of rows and results
    staged_limit_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(room / 2, UINT32_MAX));
    fit(room);
  }
  const Placement& placement = plan_.placement;
  if (placement.bytes > room)
    throw UserError(
        "network {}: layer {}: tensors, rows and weights need {} bytes of a memory tile, which has "
        "{} (machine.nodes[0].tile.sram_kib = {})",
        network.name, network.layers[placement.fullest_layer].name, placement.bytes, room,
        machine_.nodes[0].tile.sram_kib);
  load_ = moved_whole(kLoad, placement.of(0));
  store_ = moved_whole(kStore, placement.held[placement.views.back().held]);
}

/// Resets the plan: no layer mapped, no tensor placed.
void Planner::begin() {
  plan_.layers.assign(plan_.network->layers.size(), {});
  plan_.made.assign(plan_.network->layers.size(), false);
  plan_.placement = {};
  piece_limit_ = UINT32_MAX;
  split();
}

/// Maps all layers and places tensors: all in memory tiles, split over the fastest numbers of
/// columns, or else as few in DDR as possible, all split over the maximum number of columns; false
/// if they do not fit.
bool Planner::fit(std::uint64_t room) {
  begin();
  if (pinned_.rules == Rules::fastest && staged_limit_ == UINT32_MAX) {
    map_layers();
    narrow();
    map_layers();
    plan_.placement = place_tensors(plan_);
    if (plan_.placement.bytes <= room) return true;
    begin();
  }
  if (!place(room)) return false;
  place_again(room);
  return true;
}

/// Maps all layers, moving tensors to DDR until they fit, then with smaller pieces of weights;
/// false if they do not fit.
bool Planner::place(std::uint64_t room) {
  do {
    map_layers();
    plan_.placement = place_tensors(plan_);
  } while (plan_.placement.bytes > room && (spill() || cut_weights()));
  return plan_.placement.bytes <= room;
}

/// Places tensors again with the found mappings fixed: their smaller tiles may leave room for
/// tensors that are now in DDR.
void Planner::place_again(std::uint64_t room) {
  const Plan found = plan_;
  plan_.placement = {};
  piece_limit_ = UINT32_MAX;
  keeps_mappings_ = true;
  if (!place(room)) plan_ = found;
  keeps_mappings_ = false;
}

std::uint64_t Planner::cycles() const {
  std::uint64_t sum = load_ + store_;
  for (const Priced& layer : plan_.layers) sum += layer.cycles;
  return sum;
}

/// Throws KeyError for pinned mappings of unknown layers and for duplicates.
void Planner::require_layers() const {
  std::vector<std::string> computed;
  for (const Layer& layer : plan_.network->layers)
    if (is_computed(layer)) computed.push_back(layer.name);
  for (const LayerPlan& plan : pinned_.layers) {
    const auto refuse = [&](const std::string& allowed) {
      throw KeyError(fmt::format("workload.plan.layers[{}].layer", &plan - pinned_.layers.data()),
                     "found \"{}\", allowed {}", plan.layer, allowed);
    };
    if (std::ranges::count(computed, plan.layer) == 0)
      refuse(fmt::format("a layer of network {} that cores compute{}", plan_.network->name,
                         config::did_you_mean(plan.layer, computed)));
    if (pin_of(plan.layer) != &plan) refuse("each layer once");
  }
}

/// Finds the fastest mapping of each layer for the current placement.
void Planner::map_layers() {
  const bool first = plan_.placement.held.empty();
  plan_.ring_bytes = plan_.ring_rows = plan_.core_bytes = 0;
  for (std::uint32_t number = 0; number < plan_.layers.size(); ++number) {
    if (!plan_.computes(number)) continue;
    LayerShape shape = shape_of(plan_, number);
    Priced& layer = plan_.layers[number];
    if (first || shape.ddr.loads || shape.ddr.adds || shape.ddr.stores ||
        piece_limit_ != UINT32_MAX)
      layer = keeps_mappings_ ? price(shape) : best(shape);
    if (first && !keeps_mappings_) make_addition(number);
    limit_pieces(shape, layer);
    plan_.ring_bytes = std::max(plan_.ring_bytes, shape.piece(0).size());
    if (shape.has_weights()) plan_.ring_rows = std::max(plan_.ring_rows, shape.working_rows());
    plan_.core_bytes = std::max(plan_.core_bytes, shape.core_layout().bytes());
  }
  plan_.ring_bytes = round_up(plan_.ring_bytes, kAlign);
}

/// Fuses the addition of a convolution's results with it, if that is pinned or not slower.
void Planner::make_addition(std::uint32_t number) {
  const Network& network = *plan_.network;
  const std::optional<std::uint32_t> addition = network.addition_of(number);
  const LayerPlan* const other = addition ? pin_of(network.layers[*addition].name) : nullptr;
  if (const LayerPlan* const pin = pin_of(network.layers[number].name)) {
    if (!pin->mapping.adds) return;
    const auto key = [&](const LayerPlan& of, const char* field) {
      return fmt::format("workload.plan.layers[{}].{}", &of - pinned_.layers.data(), field);
    };
    if (!addition)
      throw KeyError(key(*pin, "adds"),
                     "found true, allowed for a convolution whose only user is an addition, as its "
                     "last computed operand");
    if (other != nullptr)
      throw KeyError(key(*other, "layer"),
                     "found {}, allowed other layers: {} includes this addition (adds)",
                     other->layer, pin->layer);
    plan_.made[*addition] = true;
    return;
  }
  if (!addition || pinned_.rules == Rules::published || other != nullptr) return;
  LayerShape both = shape_of(plan_, number);
  both.mapping.adds = true;
  const std::optional<Priced> with = search(both);
  if (!with) return;
  LayerShape alone = shape_of(plan_, *addition);
  const std::optional<Priced> apart = fastest(alone);
  if (apart && with->cycles > plan_.layers[number].cycles + apart->cycles) return;
  plan_.layers[number] = *with;
  plan_.made[*addition] = true;
}

/// Moves the largest tensor of the fullest layer to DDR; false if there is none left.
bool Planner::spill() {
  Placement& placement = plan_.placement;
  const std::uint32_t image = placement.views.front().held;
  const std::uint32_t last = placement.views.back().held;
  Held* largest = nullptr;
  for (std::uint32_t i = 0; i < placement.held.size(); ++i) {
    const Range& life = placement.lives[i];
    Held& held = placement.held[i];
    const bool lives = life.begin <= placement.fullest_layer && placement.fullest_layer < life.end;
    // A result that replaces the image in place has no memory of its own.
    if (!lives || held.outside || (i == image && i == last)) continue;
    if (largest == nullptr || held.bytes() > largest->bytes()) largest = &held;
  }
  if (largest != nullptr) largest->outside = true;
  return largest != nullptr;
}

/// Halves the limit on pieces of weights in a memory tile; false if it is already minimal.
bool Planner::cut_weights() {
  const std::uint32_t half = std::min(piece_limit_, plan_.ring_bytes) / 2 / kAlign * kAlign;
  if (half == 0) return false;
  piece_limit_ = half;
  return true;
}

/// Number of pieces of a layer's tiles of weights, each at most the limit.
std::uint32_t Planner::pieces(const LayerShape& shape) const {
  return std::max(shape.mapping.pieces, ceil_div(shape.weight_bytes(), piece_limit_));
}

/// Sets a layer's mapping, with weights in such pieces even if the mapping is pinned.
void Planner::limit_pieces(LayerShape& shape, Priced& priced) {
  shape.mapping = priced.mapping;
  shape.mapping.pieces = pieces(shape);
  if (shape.mapping != priced.mapping) priced = price(shape);
}

}  // namespace tessera::convnet
