#include <algorithm>

#include "kernels/convnet/plan.h"
#include "kernels/pinned.h"
#include "sim/base/errors.h"
#include "sim/base/ranges.h"
#include "sim/config/nearest.h"
#include "sim/machine/nodes.h"

namespace tessera::convnet {
namespace {

/// Cycles that DDR adds to a layer's time.
std::uint64_t added_by_ddr(const Priced& layer) {
  const std::uint64_t ddr = std::max(layer.load, layer.store);
  const std::uint64_t others = std::max({layer.compute, layer.rows, layer.weights, layer.results});
  return ddr - std::min(ddr, others);
}

class BandSearch {
 public:
  BandSearch(const Model& model, const PinnedPlan& pinned, MachineCosts& costs,
             std::uint64_t item_cycles)
      : model_(model),
        network_(model.network),
        pinned_(pinned),
        item_cycles_(item_cycles),
        machine_(costs.machine()),
        costs_(std::make_shared<LayerCosts>(costs, type_of(network_.layers.front()))) {}

  [[nodiscard]] std::optional<BandedPlan> plan(const std::vector<Bands>& bands,
                                               CoreLimits limits = {}) const {
    limits.item_cycles = item_cycles_;
    std::optional<BandedNetwork> banded = with_bands(model_, bands);
    if (!banded) return std::nullopt;
    BandedPlan made{bands, std::make_shared<const BandedNetwork>(std::move(*banded)), {}};
    made.planner = std::make_shared<const Planner>(*made.banded, pinned_, machine_, costs_, limits);
    return made;
  }
  [[nodiscard]] BandedPlan search() const {
    BandedPlan best = *plan({});
    const std::vector<Priced> layers = best.planner->plan().layers;
    std::uint64_t added = 0;
    for (const Priced& layer : layers) added += added_by_ddr(layer);
    constexpr std::uint64_t kWorthwhile = 100;
    if (added * kWorthwhile < best.planner->cycles()) return best;
    for (std::uint32_t first = 1; first + 1 < network_.layers.size(); ++first) {
      // DDR must slow down this layer's stores or the next one's loads.
      if (added_by_ddr(layers[first]) == 0 && added_by_ddr(layers[first + 1]) == 0) continue;
      if (grow(best, first)) first = best.bands.back().last;
    }
    return best;
  }
  /// Compares, by their estimated lists, this plan and plans with fewer rows or columns of the
  /// array (or both) whose resources are not busy for much longer, and returns the fastest: so a
  /// larger array is no slower than a smaller one although mappings are ranked roughly. Skips large
  /// networks, whose search takes longer.
  [[nodiscard]] BandedPlan with_fewer_cores(BandedPlan best) const {
    constexpr std::uint64_t kMostConsidered = 200000;
    constexpr double kLonger = 1.5;
    const Array array = array_of(machine_);
    const double most = kLonger * static_cast<double>(best.planner->cycles());
    std::optional<std::uint64_t> least;
    const std::vector<Bands> bands = best.bands;
    CoreLimits found{array.rows, array.columns};
    const auto consider = [&](const CoreLimits& limits) {
      if (costs_->considered > kMostConsidered) return;
      const std::optional<BandedPlan> trial = tried(bands, limits);
      if (!trial || static_cast<double>(trial->planner->cycles()) > most) return;
      if (!least) least = estimate(best);
      const std::uint64_t cycles = estimate(*trial);
      if (cycles >= *least) return;
      best = *trial;
      least = cycles;
      found = limits;
    };
    for (std::uint32_t fewer = 1; fewer < std::max(array.rows, array.columns); ++fewer) {
      if (fewer < array.rows) consider({array.rows - fewer, array.columns});
      if (fewer < array.columns) consider({array.rows, array.columns - fewer});
    }
    // If fewer of one kind are faster, fewer of the other kind may be too.
    if (found.columns < array.columns)
      for (std::uint32_t rows = array.rows - 1; rows > 0; --rows) consider({rows, found.columns});
    else if (found.rows < array.rows)
      for (std::uint32_t columns = array.columns - 1; columns > 0; --columns)
        consider({found.rows, columns});
    return best;
  }
  [[nodiscard]] BandedPlan pinned() const {
    std::vector<Bands> bands;
    for (std::size_t i = 0; i < pinned_.bands.size(); ++i) {
      const BandPlan& given = pinned_.bands[i];
      bands.push_back(
          {number_of(i, "first", given.first), number_of(i, "last", given.last), given.bands});
      const auto require = [&](bool holds, const char* key, const std::string& found,
                               const char* allowed) {
        kernels::require_pinned(holds, fmt::format("bands[{}].{}", i, key), found, allowed);
      };
      require(i == 0 || bands[i].first > bands[i - 1].last, "first", given.first,
              "layers after those of the previous bands");
      require(is_closed(network_, bands[i].first, bands[i].last), "last", given.last,
              "a later layer such that only the last tensor of the part is used by later layers");
      require(with_bands(model_, std::span(bands).subspan(i)).has_value(), "bands",
              std::to_string(given.bands),
              "numbers that divide the last layer's rows into bands of at least one row, for "
              "layers that join no tensors of which other layers use more rows");
    }
    return *plan(bands);
  }

 private:
  /// The plan; none if it does not fit.
  [[nodiscard]] std::optional<BandedPlan> tried(const std::vector<Bands>& bands,
                                                const CoreLimits& limits = {}) const {
    try {
      return plan(bands, limits);
    } catch (const UserError&) {
      return std::nullopt;
    }
  }
  /// Estimated cycles of the lists of a plan's nodes.
  [[nodiscard]] std::uint64_t estimate(const BandedPlan& of) const {
    return make_program(of.planner->plan(), machine_, of.planner->calls()).estimate.cycles;
  }
  /// Adds bands of layers from `first` on to the best plan, with as many layers as make it faster;
  /// false if none do.
  [[nodiscard]] bool grow(BandedPlan& best, std::uint32_t first) const {
    constexpr std::uint32_t kMostFailures = 2;  // failed trials in a row
    bool found = false;
    std::vector<Bands> bands = best.bands;
    bands.emplace_back();
    for (std::uint32_t last = first + 1, failures = 0;
         last < network_.layers.size() && failures < kMostFailures; ++last) {
      if (!is_closed(network_, first, last)) continue;
      bool better = false;
      for (std::uint32_t count = 2; count <= network_.layers[last].output.height;
           count += std::max(1U, count / 2)) {
        bands.back() = {first, last, count};
        if (!has_room(bands.back())) continue;
        const std::optional<BandedPlan> trial = tried(bands);
        if (!trial) continue;
        if (trial->planner->cycles() < best.planner->cycles()) {
          best = *trial;
          found = better = true;
        }
        if (keeps(*trial)) break;  // more bands would only compute more rows twice
      }
      failures = better ? 0 : failures + 1;
    }
    return found;
  }
  /// True if a band of each intermediate tensor fits the memory tiles.
  [[nodiscard]] bool has_room(const Bands& bands) const {
    const std::uint64_t room =
        sram_bytes(tile_of(machine_, array_of(machine_).first_memory)) * array_of(machine_).columns;
    for (std::uint32_t number = bands.first; number < bands.last; ++number) {
      const Layer& layer = network_.layers[number];
      const std::uint64_t positions = std::uint64_t{layer.output.height} * layer.output.width;
      if (positions * planes_of(layer.output.channels, type_of(layer)) * kPositionBytes /
              bands.count >
          room)
        return false;
    }
    return true;
  }
  /// True if all intermediate tensors of bands are in the memory tiles.
  [[nodiscard]] bool keeps(const BandedPlan& plan) const {
    const Network& network = plan.banded->network;
    for (std::uint32_t number = 0; number < network.layers.size(); ++number) {
      const bool between = !network.layers[number].first_rows.empty() && !network.is_band(number);
      if (between && plan.planner->plan().placement.of(number).outside) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint32_t number_of(std::size_t at, const char* key,
                                        const std::string& name) const {
    const auto found = std::ranges::find(network_.layers, name, &Layer::name);
    if (found != network_.layers.end())
      return static_cast<std::uint32_t>(found - network_.layers.begin());
    throw KeyError(fmt::format("workload.plan.bands[{}].{}", at, key),
                   "found \"{}\", allowed a layer of network {}{}", name, network_.name,
                   config::did_you_mean(name, mapped(network_.layers, &Layer::name)));
  }

  const Model& model_;
  const Network& network_;
  const PinnedPlan& pinned_;
  std::uint64_t item_cycles_;
  const MachineConfig& machine_;
  std::shared_ptr<LayerCosts> costs_;
};

}  // namespace

BandedPlan plan_bands(const Model& model, const PinnedPlan& pinned, MachineCosts& costs,
                      std::uint64_t item_cycles) {
  const BandSearch search(model, pinned, costs, item_cycles);
  const bool searches = pinned.rules == Rules::fastest && pinned.layers.empty() &&
                        pinned.bands.empty() && costs.machine().tile.overlap;
  BandedPlan best = searches ? search.search() : search.pinned();
  const bool pins = pinned.rules != Rules::fastest || !pinned.layers.empty();
  return pins ? best : search.with_fewer_cores(std::move(best));
}

}  // namespace tessera::convnet
