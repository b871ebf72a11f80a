#include "kernels/convnet/plan.h"

#include <algorithm>
#include <optional>

#include "kernels/convnet/published.h"
#include "sim/base/counted.h"
#include "sim/base/errors.h"
#include "sim/config/nearest.h"
#include "sim/machine/nodes.h"

namespace tessera::convnet {
namespace {

/// What is left for tensors, wherever they and the stacks begin behind what is aligned less.
std::uint64_t data_bytes(const TileConfig& tile) {
  const std::uint64_t taken = 2 * kAlign + tile.supervisor_stack_bytes +
                              std::uint64_t{tile.contexts} * tile.worker_stack_bytes;
  return sram_bytes(tile) - std::min(sram_bytes(tile), taken);
}

/// The smallest numbers that part `all` into each possible number of parts, the largest first.
std::vector<std::uint32_t> part_sizes(std::uint32_t all) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t parts = 1; parts <= all; ++parts) {
    const std::uint32_t size = (all + parts - 1) / parts;
    if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
  }
  return sizes;
}

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

Planner::Planner(const Network& network, const std::vector<LayerWeights>& weights,
                 const PinnedPlan& pinned, MachineCosts& costs)
    : Planner(network, weights, pinned, costs.machine(), std::make_shared<LayerCosts>(costs)) {}

Planner::Planner(const Network& network, const std::vector<LayerWeights>& weights,
                 const PinnedPlan& pinned, const MachineConfig& machine,
                 std::shared_ptr<LayerCosts> costs)
    : machine_(machine),
      network_name_(network.name),
      pinned_(pinned),
      array_(array_of(machine_)),
      costs_(std::move(costs)),
      calls_(costs_->calls),
      core_capacity_(data_bytes(machine_.tile)) {
  if (pinned.rules == Rules::published) array_.column_multiple = kPublishedColumns;
  require_known(network);
  require_layers(network);
  const Plan plan{&network, &weights, nullptr, array_, {}, {}, 0, 0};
  const std::uint64_t room = data_bytes(tile_of(machine_, array_.first_memory));
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
Staging Planner::staging(const LayerShape& shape, const Mapping& mapping, const Ddr& ddr) const {
  Staging staging;
  if (ddr.loads) staging.rows = shape.tensors() * shape.staged_row_bytes(mapping);
  if (ddr.adds) staging.operands = shape.staged_result_bytes(mapping);
  if (ddr.stores) staging.results = shape.staged_result_bytes(mapping);
  return staging;
}

std::uint64_t Planner::cycles() const {
  std::uint64_t sum = load_ + store_;
  for (const Priced& layer : layers_) sum += layer.cycles;
  return sum;
}

/// What the columns' slices of a tensor take from or to DDR, all at once; nothing if it lies there.
std::uint64_t Planner::moved_whole(const char* name, const View& view) const {
  const Held& held = placement_.held[view.held];
  if (held.outside) return 0;
  const StreamConfig& kind = machine_.fabric.streams[*stream_number(machine_, name)];
  const std::uint32_t ports =
      std::string_view(name) == kLoad ? kind.send_ports : kind.receive_ports;
  std::uint64_t longest = 0, all = 0, control = 0;
  for (std::uint32_t column = 0; column < array_.columns; ++column) {
    const std::uint64_t positions = std::uint64_t{held.slice(column).size()} * held.height;
    if (positions == 0) continue;
    const std::uint64_t cycles = stream(name, positions * held.blocks * kBlock);
    longest = std::max(longest, cycles);
    all += cycles;
    control += calls_.transfer();
  }
  return control + (ports == 0 ? longest : std::max(longest, ceil_div(all, std::uint64_t{ports})));
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
    const LayerShape shape = shape_of(plan, number);
    const Ddr ddr = ddr_of(network, number);
    if (outside_.empty() || ddr.loads || ddr.adds || ddr.stores || piece_limit_ != UINT32_MAX)
      layers_[number] = best(shape, ddr, layers_[number].mapping.adds);
    if (outside_.empty()) make_addition(number, plan);
    limit_pieces(shape, layers_[number], ddr);
    ring_bytes_ = std::max(ring_bytes_, shape.piece(layers_[number].mapping, 0).size());
    core_bytes_ = std::max(core_bytes_, shape.core_bytes(layers_[number].mapping));
  }
  ring_bytes_ = round_up(ring_bytes_, kAlign);
}

/// Makes the addition of a convolution's results with it, if that is pinned or not slower.
void Planner::make_addition(std::uint32_t number, const Plan& plan) {
  const Network& network = *plan.network;
  const LayerShape shape = shape_of(plan, number);
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
  if (!with ||
      with->cycles > layers_[number].cycles + best(shape_of(plan, *addition), {}, false).cycles)
    return;
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
    const LayerShape shape = shape_of(plan, number);
    const Mapping& mapping = layers_[number].mapping;
    const Ddr ddr = ddr_of(network, number);
    adds[number] = mapping.adds;
    staging[number] = this->staging(shape, mapping, ddr);
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
std::uint32_t Planner::pieces(const LayerShape& shape, const Mapping& mapping) const {
  return std::max(mapping.pieces, ceil_div(shape.weight_bytes(mapping), piece_limit_));
}

/// Has the weights of a layer come in such pieces, pinned or not.
void Planner::limit_pieces(const LayerShape& shape, Priced& priced, const Ddr& ddr) {
  Mapping mapping = priced.mapping;
  mapping.pieces = pieces(shape, mapping);
  if (mapping.pieces != priced.mapping.pieces) priced = price(busy(shape, mapping, ddr), mapping);
}

std::uint64_t Planner::stream(const char* name, std::uint64_t bytes) const {
  const StreamConfig& kind = machine_.fabric.streams[*stream_number(machine_, name)];
  return stream_cycles(kind, bytes) + machine_.fabric.fixed_cycles;
}

/// What the memory tile takes that gives or gets most of its neighbours' columns.
std::uint64_t Planner::halo(const LayerShape& shape) const {
  const Layer& layer = shape.layer();
  if (!layer.has_window()) return 0;
  const std::uint64_t column_bytes =
      std::uint64_t{layer.input.height} * padded_channels(layer.input.channels);
  std::vector<std::uint64_t> given(array_.columns), taken(array_.columns);
  for (std::uint32_t column = 0; column < array_.columns; ++column)
    for (const Piece& piece : shape.column(column).pieces()) {
      if (piece.from != Piece::From::halo) continue;
      for (std::uint32_t owner = 0; owner < array_.columns; ++owner) {
        const Range slice = part_of(layer.input.width, array_.columns, owner);
        const std::uint32_t begin = std::max(slice.begin, piece.source_column);
        const std::uint32_t end = std::min(slice.end, piece.source_column + piece.count);
        if (owner == column || begin >= end) continue;
        const std::uint64_t cycles = stream(kHalo, (end - begin) * column_bytes);
        given[owner] += cycles;
        taken[column] += cycles;
      }
    }
  const std::uint64_t most = std::max(std::ranges::max(given), std::ranges::max(taken));
  return most == 0 ? 0 : most + calls_.transfer();
}

/// What each resource is busy for in all, whatever the buffers.
Planner::Busy Planner::busy(const LayerShape& shape, const Mapping& mapping, const Ddr& ddr) {
  Busy all = moved(shape, mapping, ddr);
  all.parts.compute += calls_.layer(shape, mapping);
  return all;
}

/// The same without a core's calls but those of transfers.
Planner::Busy Planner::moved(const LayerShape& shape, const Mapping& mapping,
                             const Ddr& ddr) const {
  const std::vector<Item> items = items_of(shape, mapping);
  const std::uint64_t row_tiles =
      static_cast<std::uint64_t>(std::ranges::count(items, true, &Item::new_rows));
  const std::uint64_t weight_tiles =
      shape.has_weights()
          ? static_cast<std::uint64_t>(std::ranges::count(items, true, &Item::new_weights))
          : 0;
  const std::uint64_t result_tiles =
      static_cast<std::uint64_t>(std::ranges::count(items, true, &Item::ends));
  const std::uint32_t width = shape.column(0).sent();
  const std::uint64_t rows = stream(kActivations, shape.row_bytes(mapping));
  // A memory tile brings and sends the weights of all its rows of cores that have some.
  const std::uint32_t piece = shape.piece(mapping, 0).size();
  const std::uint64_t each =
      shape.pieces(mapping) * std::max(stream(kWeights, piece), stream(kLoadWeights, piece));
  const std::uint32_t working = ceil_div(shape.output_blocks(), shape.most_blocks());
  const std::uint64_t weights = shape.has_weights() ? ceil_div(working, array_.columns) * each : 0;
  const std::uint64_t result_bytes =
      std::uint64_t{std::min(array_.rows * mapping.group, shape.output_blocks())} * mapping.rows *
      width * kBlock;
  const std::uint64_t results = stream(kResults, result_bytes);
  const std::uint64_t operands = mapping.adds ? result_tiles : 0;
  Priced priced{mapping,
                0,
                (row_tiles + weight_tiles + operands + result_tiles) * calls_.transfer(),
                row_tiles * rows + operands * stream(kActivations, result_bytes),
                weight_tiles * weights,
                result_tiles * results};
  if (ddr.loads)
    priced.load =
        row_tiles * stream(kLoad, std::uint64_t{shape.tensors()} * shape.staged_row_bytes(mapping));
  if (ddr.adds) priced.load += operands * stream(kLoad, shape.staged_result_bytes(mapping));
  if (ddr.stores) priced.store = result_tiles * stream(kStore, shape.staged_result_bytes(mapping));
  // The first rows and weights come side by side.
  const std::uint64_t fill = (ddr.loads ? 0 : halo(shape)) + std::max(rows, weights) + results +
                             (priced.load + priced.store) / std::max<std::uint64_t>(row_tiles, 1);
  return {priced, row_tiles, weight_tiles, fill};
}

/// With the buffers of `mapping`: resources work side by side, but for what waits for a buffer, and
/// it takes a while to fill the pipeline of them.
Priced Planner::price(const Busy& busy, const Mapping& mapping) const {
  Priced priced = busy.parts;
  priced.mapping = mapping;
  // Behind the first ones, which fill it.
  const auto others = [](std::uint64_t all, std::uint64_t tiles) {
    return tiles == 0 ? 0 : all - all / tiles;
  };
  std::uint64_t serial = priced.compute;
  if (mapping.row_buffers == 1) serial += others(priced.rows, busy.row_tiles);
  // Of the next tile of weights the first piece alone comes while a core computes.
  if (mapping.weight_buffers == 1)
    serial += others(priced.weights, busy.weight_tiles);
  else
    serial += others(others(priced.weights, busy.weight_tiles), mapping.pieces);
  const std::uint64_t moved =
      priced.rows + priced.weights + priced.results + priced.load + priced.store;
  const std::uint64_t first = pinned_.rules == Rules::published && busy.weight_tiles > 0
                                  ? priced.weights / (busy.weight_tiles * mapping.pieces)
                                  : 0;
  // A single tile is in what fills it alone.
  const auto streamed = [](std::uint64_t all, std::uint64_t tiles) { return tiles == 1 ? 0 : all; };
  priced.cycles = machine_.tile.overlap ? std::max({serial, streamed(priced.rows, busy.row_tiles),
                                                    streamed(priced.weights, busy.weight_tiles),
                                                    priced.results, priced.load, priced.store}) +
                                              busy.fill + first
                                        : priced.compute + moved;
  return priced;
}

/// What the config says of a layer; null: nothing.
const LayerPlan* Planner::pin_of(const std::string& layer) const {
  const auto found = std::ranges::find(pinned_.layers, layer, &LayerPlan::layer);
  return found == pinned_.layers.end() ? nullptr : &*found;
}

/// The mapping that it gives one; null: none.
const Mapping* Planner::pinned(const LayerShape& shape) const {
  const LayerPlan* const pin = pin_of(shape.layer().name);
  if (pin == nullptr) return nullptr;
  const Mapping& mapping = pin->mapping;
  const auto require = [&](bool holds, const char* key, const auto& found,
                           const std::string& allowed) {
    if (!holds)
      throw KeyError(fmt::format("workload.plan.layers[{}].{}", pin - pinned_.layers.data(), key),
                     fmt::format("found {}, allowed {}", found, allowed));
  };
  const std::uint32_t height = shape.layer().output.height;
  require(mapping.rows <= height, "rows", mapping.rows,
          fmt::format("at most the {} of {}", counted(height, "row"), shape.layer().name));
  require(mapping.group <= shape.most_blocks(), "group", mapping.group,
          fmt::format("at most the {} of a core", counted(shape.most_blocks(), "block")));
  require(shape.kept() % mapping.parts == 0, "parts", mapping.parts,
          fmt::format("divisors of the {} that {} kept", counted(shape.kept(), "input block"),
                      shape.kept() == 1 ? "is" : "are"));
  require(mapping.parts == 1 || mapping.order != Order::weights, "parts", mapping.parts,
          "1 with order weights");
  require(mapping.order != Order::inputs || (shape.is_convolution() && shape.steps_alike()),
          "order", "\"inputs\"",
          "\"rows\" or \"weights\" of layers but convolutions that are not pruned");
  require(shape.core_bytes(mapping) <= core_capacity_, "rows", mapping.rows,
          fmt::format("mappings of at most {} bytes of a core; this one takes {}", core_capacity_,
                      shape.core_bytes(mapping)));
  return &mapping;
}

Priced Planner::best(const LayerShape& shape, const Ddr& ddr, bool adds) {
  if (const Mapping* const given = pinned(shape)) return price(busy(shape, *given, ddr), *given);
  const bool published = pinned_.rules == Rules::published;
  if (const auto found = published ? search_published(shape, ddr) : search(shape, ddr, adds))
    return *found;
  if (staged_limit_ != UINT32_MAX)
    throw UserError(fmt::format(
        "network {}: layer {}: one row of {} and its results, on their way from and to DDR, do not "
        "fit half of a memory tile of {} KiB (machine.nodes[0].tile.sram_kib)",
        network_name_, shape.layer().name, text_of(shape.layer().output),
        machine_.nodes[0].tile.sram_kib));
  throw UserError(fmt::format(
      "layer {}: one row of {} with eight channels of its weights does not fit a core of {} KiB "
      "(machine.tile.sram_kib)",
      shape.layer().name, text_of(shape.layer().output), machine_.tile.sram_kib));
}

/// The first of the published mappings that fits a core if it keeps all weights, or the fastest.
std::optional<Priced> Planner::search_published(const LayerShape& shape, const Ddr& ddr) {
  std::optional<Priced> found;
  for (const Mapping& mapping : published_mappings(shape)) {
    if (shape.core_bytes(mapping) > core_capacity_) continue;
    const Priced priced = price(busy(shape, mapping, ddr), mapping);
    const bool keeps_weights = mapping.group >= shape.most_blocks() && mapping.parts == 1;
    if (keeps_weights) return priced;
    if (!found || priced.cycles < found->cycles) found = priced;
  }
  return found;
}

/// The fastest mapping that fits a core; `adds`: with the addition of its results.
std::optional<Priced> Planner::search(const LayerShape& shape, const Ddr& ddr, bool adds) {
  const Layer& layer = shape.layer();
  const Window& window = layer.window;
  const auto flags =
      static_cast<std::uint32_t>(ddr.loads) | static_cast<std::uint32_t>(ddr.adds) << 1U |
      static_cast<std::uint32_t>(ddr.stores) << 2U | static_cast<std::uint32_t>(adds) << 3U;
  const auto [entry, is_new] = costs_->found.try_emplace(
      {static_cast<std::uint32_t>(layer.op), flags, staged_limit_, piece_limit_, shape.kept(),
       layer.input.height, layer.input.width, layer.input.channels, layer.output.height,
       layer.output.width, layer.output.channels, window.height, window.width, window.stride_height,
       window.stride_width, window.top, window.left, window.bottom, window.right});
  if (is_new) entry->second = search_all(shape, ddr, adds);
  return entry->second;
}

std::optional<Priced> Planner::search_all(const LayerShape& shape, const Ddr& ddr, bool adds) {
  std::optional<Priced> found;
  const std::uint32_t height = shape.layer().output.height;
  const auto faster = [&](const Priced& priced) { return !found || priced.cycles < found->cycles; };
  const auto consider = [&](Mapping mapping) {
    mapping.adds = adds;
    mapping.pieces = pieces(shape, mapping);
    const CoreBytes bytes = shape.core_parts(mapping);
    std::optional<Busy> least, known;
    for (std::uint32_t buffers = 0; buffers < 4; ++buffers) {
      const bool has_others = mapping.rows < height || mapping.order == Order::inputs;
      mapping.row_buffers = has_others ? 1 + buffers % 2 : 1;
      mapping.weight_buffers = 1 + buffers / 2;
      if (bytes.of(mapping) > core_capacity_ ||
          staging(shape, mapping, ddr).bytes() > staged_limit_)
        continue;
      if (!least) {
        least = moved(shape, mapping, ddr);
        least->parts.compute += shape.products();  // a slot each at least
      }
      if (!faster(price(*least, mapping))) continue;
      if (!known) known = busy(shape, mapping, ddr);
      const Priced priced = price(*known, mapping);
      if (faster(priced)) found = priced;
    }
  };
  for (const std::uint32_t rows : part_sizes(height))
    for (const std::uint32_t group : part_sizes(shape.most_blocks()))
      for (std::uint32_t parts = 1; parts <= shape.kept(); ++parts) {
        if (shape.kept() % parts != 0 || (parts > 1 && !shape.is_convolution())) continue;
        consider({rows, group, parts, Order::rows});
        if (parts == 1) consider({rows, group, parts, Order::weights});
        if (parts > 1 && shape.steps_alike()) consider({rows, group, parts, Order::inputs});
      }
  return found;
}

}  // namespace tessera::convnet
