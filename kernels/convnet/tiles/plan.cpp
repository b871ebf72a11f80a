#include "kernels/convnet/tiles/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/pinned.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"
#include "sim/plan/lower.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::convnet::tiles {

void describe(config::Fields& fields, LayerPlan& plan) {
  fields.field({"layer", "its name"}, plan.layer);
  describe(fields, plan.split);
}
void describe(config::Fields& fields, Plan& plan) {
  fields.field(
      {"unit",
       "what sums are made of: blocks of so many inputs and outputs of the matrix unit, or "
       "vector code; auto: chosen, or those of the unit beside pinned layers"},
      plan.unit, kernels::kForms);
  fields.list({"layers", "of each layer its parts; the planner searches those that are not named"},
              plan.layers);
}

namespace {

/// A candidate split of a layer.
struct Option {
  Split split;
  std::uint64_t bound = 0;  ///< cycles
  std::uint64_t held = 0;   ///< mean bytes per tile during the whole run, rounded up
};
struct LayerOptions {
  std::uint32_t number;
  std::vector<Option> options;
  std::uint64_t may_hold = 0;
};

class Planner {
 public:
  Planner(const std::shared_ptr<const Problem>& problem, MachineCosts& costs)
      : problem_(problem), pricing_(costs), shell_(1) {
    planned_.geometries.resize(problem->shapes.size());
    planned_.predictions.resize(problem->shapes.size());
  }

  std::uint64_t least() {
    add_options({}, sram_bytes(pricing_.machine().tile));
    std::uint64_t sum = 0;
    for (const LayerOptions& layer : layers_)
      sum += std::ranges::min_element(layer.options, {}, &Option::bound)->bound;
    return sum;
  }

  /// Limits a layer to a fraction of a tile, and reduces the budget for permanent data until
  /// transfer lists, whose size only the search finds, and temporary data fit in the rest. Tries
  /// several fractions, unless the largest fits at once, and returns the best.
  Planned run(const std::map<std::uint32_t, Split>& pinned) {
    const std::uint64_t room = sram_bytes(pricing_.machine().tile);
    std::optional<Planned> best;
    for (const std::uint64_t part : {2U, 4U, 8U}) {
      layers_.clear();
      add_options(pinned, room / part);
      for (std::uint64_t budget = room; share_out(budget); budget -= budget / 16) {
        if (!plan_all()) continue;
        if (!best || cycles(planned_) < cycles(*best)) best = planned_;
        if (budget == room) return together(std::move(*best));
        break;
      }
    }
    if (!best) refuse();
    return together(std::move(*best));
  }

 private:
  [[nodiscard]] Geometry geometry(std::uint32_t number, const Split& split) const {
    return {*problem_->shapes[number], problem_->block, split, {first_, problem_->tiles}};
  }
  /// Mean bytes over all tiles, rounded up.
  [[nodiscard]] std::uint64_t spread(std::uint64_t held, const Split& split) const {
    return ceil_div(held * split.tiles(), std::uint64_t{problem_->tiles});
  }

  /// Approximate bytes on the fullest tile during the whole run, including transfer lists.
  [[nodiscard]] static std::uint64_t held(const Geometry& g) {
    const std::uint64_t pulls = expected_pulls(g) + g.split().inputs - 1;
    return held_bytes(g, {}) + program::kListHeaderBytes +
           pulls * (program::kSendBytes + program::kReceiveBytes);
  }

  [[nodiscard]] std::vector<Split> splits(std::uint32_t number) const {
    const LayerShape& shape = *problem_->shapes[number];
    const Geometry whole = geometry(number, {});
    const Tile tiles = problem_->tiles;
    std::vector<Split> all;
    const std::uint64_t chunks = shape.kind == Kind::sums ? shape.chunks() : 1;
    for (const std::uint32_t outputs : kernels::part_counts(whole.all_groups().total, tiles))
      for (const std::uint32_t inputs : kernels::part_counts(chunks, tiles / outputs))
        for (const std::uint32_t rows :
             kernels::part_counts(shape.output.height, tiles / outputs / inputs))
          for (const std::uint32_t columns :
               kernels::part_counts(shape.output.width, tiles / outputs / inputs / rows))
            all.push_back({rows, columns, outputs, inputs});
    return all;
  }

  /// Lower bound on cycles: calls, plus exchanges of a tile's inputs and of parts of sums.
  [[nodiscard]] std::uint64_t bound(const Geometry& g) {
    const Cell fullest{};
    const LayerShape& shape = g.shape();
    std::uint64_t cycles = call_cycles(*problem_, g, shell_, pricing_);
    const auto exchange = [&](std::uint64_t received, bool pairs) {
      cycles += pricing_.costs().barrier() +
                pricing_.costs().exchange(
                    {0, pairs ? 0 : received, pairs ? received : 0, word(g.tiles())});
    };
    if (!shape.given || !shape.addend.empty())
      exchange(g.x_bytes(fullest), shape.kind == Kind::sums && g.split().outputs % 2 == 0);
    if (g.split().inputs > 1)
      exchange(g.share_bytes(fullest).size() * (g.split().inputs - 1), false);
    return cycles;
  }

  /// Adds the splits with at most `most` bytes of a layer on the fullest tile, if there are any.
  void add_options(const std::map<std::uint32_t, Split>& pinned, std::uint64_t most) {
    for (std::uint32_t i = 0; i < problem_->shapes.size(); ++i) {
      if (!problem_->shapes[i]) continue;
      const auto pin = pinned.find(i);
      std::vector<Split> all = pin == pinned.end() ? splits(i) : std::vector{pin->second};
      const auto is_large = [&](const Split& split) {
        const Geometry g = geometry(i, split);
        return held(g) + g.x_bytes({}) + g.y_bytes({}) > most;
      };
      if (!std::ranges::all_of(all, is_large)) std::erase_if(all, is_large);
      LayerOptions layer{i, {}};
      for (const Split& split : all) {
        const Geometry g = geometry(i, split);
        layer.options.push_back({split, bound(g), spread(held(g), split)});
      }
      layers_.push_back(std::move(layer));
    }
  }

  [[nodiscard]] static std::uint64_t cycles(const Planned& planned) {
    std::uint64_t sum = 0;
    for (const Prediction& of : planned.predictions) sum += of.cycles;
    return sum;
  }

  /// Sets how much each layer may hold: that of its best option at a common price in cycles per
  /// byte, the lowest price at which all fit `budget` bytes. False if there is none.
  bool share_out(std::uint64_t budget) {
    constexpr double kLeastPrice = 0x1p-10, kMostPrice = 0x1p10, kStep = 1.25;
    for (double price = 0; price < kMostPrice; price = std::max(kLeastPrice, price * kStep)) {
      std::uint64_t sum = 0;
      for (LayerOptions& layer : layers_) {
        const auto cost = [&](const Option& option) {
          return static_cast<double>(option.bound) + price * static_cast<double>(option.held);
        };
        layer.may_hold = std::ranges::min_element(layer.options, {}, cost)->held;
        sum += layer.may_hold;
      }
      if (sum <= budget) return true;
    }
    return false;
  }

  /// False if a layer does not fit; `failed_` describes it.
  bool plan_all() {
    first_ = 0;
    held_.assign(problem_->tiles, 0);
    std::uint64_t later = 0;
    for (const LayerOptions& layer : layers_) later += layer.may_hold;
    for (const LayerOptions& layer : layers_) {
      later -= layer.may_hold;
      if (!plan_layer(layer, later)) return false;
    }
    return fits();
  }

  bool plan_layer(const LayerOptions& layer, std::uint64_t later) {
    std::vector<Option> options = layer.options;
    // Allows 1.5 times the share: the length of lists also depends on the layers before.
    std::erase_if(options, [&](const Option& o) { return 2 * o.held > 3 * layer.may_hold; });
    plan::Space space;
    space.bounds = mapped(options, &Option::bound);
    const auto option_geometry = [&](std::size_t option) {
      return geometry(layer.number, options[option].split);
    };
    space.least_bytes = [&](std::size_t option) {
      const Geometry g = option_geometry(option);
      return held_bytes(g, {}) + g.x_bytes({}) + g.y_bytes({});
    };
    space.describe = [&](std::size_t option, std::uint32_t /*variant*/) {
      Geometries all = planned_.geometries;
      all[layer.number] = std::make_shared<const Geometry>(option_geometry(option));
      return plan::Described(describe_layer(problem_, all, layer.number),
                             representatives(*all[layer.number]));
    };
    space.reserved = std::ranges::max(held_) + later;
    space.schedules = false;
    space.finalists = 1;
    const plan::Found found = plan::search(space, pricing_);
    if (!found.fits) {
      failed_ = {layer.number, program::total(found.memory), space.reserved};
      return false;
    }
    const auto chosen = std::make_shared<const Geometry>(option_geometry(found.option));
    planned_.geometries[layer.number] = chosen;
    planned_.predictions[layer.number] = found.prediction;
    const std::uint64_t lists =
        found.memory[static_cast<std::size_t>(program::Category::exchange)] +
        found.memory[static_cast<std::size_t>(program::Category::control)];
    for (Tile tile = 0; tile < problem_->tiles; ++tile)
      if (chosen->works(tile)) held_[tile] += held_bytes(*chosen, chosen->cell(tile)) + lists;
    first_ = (first_ + chosen->tiles()) % problem_->tiles;
    first_ -= first_ % 2;  // pairs stay together
    return true;
  }

  /// True if all layers fit, with the program's actual lists.
  [[nodiscard]] bool fits() {
    try {
      program::resource_usage(plan::lower(describe_network(problem_, planned_.geometries)),
                              pricing_.machine(), plan::CountedLists());
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  /// Predicts all layers together, by a corner tile and an inner tile of each layer.
  [[nodiscard]] Planned together(Planned planned) {
    std::set<Tile> tiles;
    for (const auto& g : planned.geometries) {
      if (!g) continue;
      const Split& split = g->split();
      tiles.insert({g->tile({}), g->tile({split.rows / 2, split.columns / 2, 0, 0})});
    }
    const std::vector<Tile> all(tiles.begin(), tiles.end());
    planned.prediction = pricing_.time(describe_network(problem_, planned.geometries), all);
    return planned;
  }

  /// Candidates for the slowest tile: in corners, at edges and inside.
  [[nodiscard]] static std::vector<Tile> representatives(const Geometry& g) {
    std::vector<Tile> tiles;
    const auto places = [](std::uint32_t parts) {
      std::vector<std::uint32_t> some{0};
      if (parts > 1) some.push_back(1);
      if (parts > 2) some.push_back(parts - 1);
      return some;
    };
    for (const std::uint32_t row : places(g.split().rows))
      for (const std::uint32_t column : places(g.split().columns))
        tiles.push_back(g.tile({row, column, 0, 0}));
    return tiles;
  }

  [[noreturn]] void refuse() const {
    const std::uint32_t kib = pricing_.machine().tile.sram_kib;
    const Network& network = problem_->model.network;
    std::uint64_t least = 0;  // if evenly distributed
    for (const LayerOptions& layer : layers_) least += spread(held(geometry(layer.number, {})), {});
    const std::string what =
        failed_.bytes == 0
            ? fmt::format("its weights and results need more than {} bytes of a tile", least)
            : fmt::format(
                  "layer '{}' needs {} bytes of a tile in addition to the {} for weights, results "
                  "and transfers of other layers",
                  network.layers[failed_.layer].name, failed_.bytes, failed_.beside);
    throw UserError(
        "{} does not fit in f16: {}, allowed {} (machine.tile.sram_kib {}, "
        "machine.tiles {})",
        network.name, what, std::uint64_t{kib} * 1024, kib, problem_->tiles);
  }

  struct Failure {
    std::uint32_t layer = 0;
    std::uint64_t bytes = 0, beside = 0;  ///< on the fullest tile
  };

  std::shared_ptr<const Problem> problem_;
  plan::Pricing pricing_;
  plan::Description shell_;
  Planned planned_;
  std::vector<LayerOptions> layers_;
  Tile first_ = 0;                   ///< first tile of the next layer: the last layer's end
  std::vector<std::uint64_t> held_;  ///< bytes of the planned layers, by tile
  Failure failed_;                   ///< the last failure
};

std::map<std::uint32_t, Split> checked(const Problem& problem, const Plan& plan) {
  std::map<std::uint32_t, Split> splits;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const auto require = [&](bool holds, const char* key, const auto& found,
                             const std::string& allowed) {
      kernels::require_pinned(holds, fmt::format("layers[{}].{}", i, key), found, allowed);
    };
    const std::string& name = plan.layers[i].layer;
    const Split& split = plan.layers[i].split;
    const auto& layers = problem.model.network.layers;
    const auto number =
        static_cast<std::uint32_t>(std::ranges::find(layers, name, &Layer::name) - layers.begin());
    require(number < layers.size() && problem.shapes[number].has_value(), "layer", name,
            fmt::format("a layer of network {} that tiles compute", problem.model.network.name));
    const LayerShape& shape = *problem.shapes[number];
    const Geometry whole(shape, problem.block, {}, {0, problem.tiles});
    const auto at_most = [&](const char* key, std::uint32_t found, std::uint64_t most,
                             const char* things) {
      require(found <= most, key, found,
              fmt::format("at most the {} {} of {}", most, things, name));
    };
    at_most("rows", split.rows, shape.output.height, "rows");
    at_most("columns", split.columns, shape.output.width, "columns");
    at_most("outputs", split.outputs, whole.all_groups().total, "groups of output channels");
    at_most("inputs", split.inputs, shape.kind == Kind::sums ? shape.chunks() : 1,
            "chunks of input channels");
    const std::uint64_t parts =
        std::uint64_t{split.rows} * split.columns * split.outputs * split.inputs;
    require(parts <= problem.tiles, "rows", split.rows,
            fmt::format("fewer: each part needs one of {} tiles", problem.tiles));
    splits[number] = split;
  }
  return splits;
}

}  // namespace

std::uint64_t least_cycles(const std::shared_ptr<const Problem>& problem, MachineCosts& costs) {
  return Planner(problem, costs).least();
}

Planned planned(const std::shared_ptr<const Problem>& problem, const Plan& pinned,
                MachineCosts& costs) {
  return Planner(problem, costs).run(checked(*problem, pinned));
}

}  // namespace tessera::convnet::tiles
