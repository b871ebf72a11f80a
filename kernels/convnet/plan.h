#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/convnet/call_costs.h"
#include "kernels/convnet/network.h"
#include "kernels/convnet/program.h"
#include "kernels/convnet/reference.h"
#include "kernels/convnet/weights.h"
#include "sim/config/fields.h"
#include "sim/machine/nodes.h"
#include "sim/program/machine_costs.h"
#include "sim/program/workload.h"

/// The choice of a mapping for each layer of a network.
namespace tessera::convnet {

/// Layers `first` to `last` of a network that are computed in bands of the last one's rows, so that
/// only one band of the tensors between them is in the memory tiles at a time. Rows that two bands
/// need are computed twice.
struct Bands {
  std::uint32_t first, last;
  std::uint32_t count;  ///< number of bands; the last may have fewer rows

  bool operator==(const Bands&) const = default;
};

/// True if only layers `first` to `last` use their tensors, except the last one's.
bool is_closed(const Network& network, std::uint32_t first, std::uint32_t last);

/// A network as planned and run: LAYER#1, LAYER#2, ... compute the bands of a layer; the bands of
/// the last layer of a part are joined under its own name.
struct BandedNetwork {
  Network network;
  std::vector<const LayerWeights*> weights;  ///< by layer; bands share their layer's
  const Tensor* image = nullptr;
};

/// A model's network with bands of several parts, in ascending order; unchanged without any. None
/// if a part is not closed, has fewer rows than bands, or joins channels of tensors of which other
/// layers use more rows. The model must outlive it.
std::optional<BandedNetwork> with_bands(const Model& model, std::span<const Bands> bands);

/// Throws UserError for layers that the tile code does not support.
void require_known(const Network& network);

/// The mapping of a layer, as given in a config.
struct LayerPlan {
  std::string layer;
  Mapping mapping;
  std::uint32_t columns = 0;  ///< array columns that share its tensor; 0: all
};
void describe(config::Fields& fields, LayerPlan& plan);
/// The rules that find mappings not pinned.
enum class Rules : std::uint8_t {
  fastest,   ///< fastest that fits a core; weights load during the layer before
  published  ///< those of the paper (published.cpp); layer by layer, weights first
};

/// The published rules pad moved rows to multiples of this many columns.
inline constexpr std::uint32_t kPublishedColumns = 8;
/// A layer's mappings by the published mapper's rules for a core's sub-volumes (D'Alberto et al.,
/// arXiv 2407.09453, and its repository). Rows of activations fill a core's buffers of 8 KiB,
/// weights its one buffer of 16 KiB, whatever its memory. Its time model counts the transfer of a
/// layer's weights to the memory tiles, and of the transfer to a core only the first sub-volume: if
/// a core has room for all weights of its layer, they arrive in pieces of a sub-volume, each sent
/// while the next loads. The first mapping holds all of a core's weights, as the paper assumes, the
/// others one sub-volume at a time, in each order that exists. Weights have one buffer, rows two.
std::vector<Mapping> published_mappings(LayerShape shape);

/// Layers computed in bands, as given in a config.
struct BandPlan {
  std::string first, last;
  std::uint32_t bands = 2;
};
void describe(config::Fields& fields, BandPlan& plan);

/// A pinned plan; layers not listed get mappings by the rules.
struct PinnedPlan {
  Rules rules = Rules::fastest;
  std::uint32_t image_columns = 0;  ///< array columns for the image; 0: by the rules
  std::vector<LayerPlan> layers;
  std::vector<BandPlan> bands;
};
void describe(config::Fields& fields, PinnedPlan& plan);

/// Cached costs of layers on one machine, shared by planners of several networks.
struct LayerCosts {
  LayerCosts(MachineCosts& costs, const VectorType& type) : calls(costs, type) {}
  CallCosts calls;
  /// The fastest mapping below a limit, if any.
  struct Found {
    std::optional<Priced> mapping;
    std::uint64_t limit = 0;
  };
  /// Everything that determines it: the layer, its kept blocks, the location of tensors, fused
  /// additions, limits.
  using Key = std::tuple<Operator, Shape, Shape, Window, std::uint32_t, Ddr, Split, bool,
                         std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, Found> found = {};
  std::uint64_t considered = 0;  ///< number of mappings considered
};

/// Groups of layers whose tensors are split over the same columns, because they are added or
/// concatenated; every layer is in one group.
std::vector<std::vector<std::uint32_t>> split_alike(const Network& network);

/// Limits on the cores and items of layers.
struct CoreLimits {
  std::uint32_t rows = UINT32_MAX, columns = UINT32_MAX;  ///< array rows, columns
  /// Cycles added to each item of a mapping: if lists are short of room, mappings with few items
  /// win.
  std::uint64_t item_cycles = 0;
};

/// Chooses the fastest mapping of every layer that fits a core, and places tensors and weights in
/// the memory tiles. Throws UserError naming the layer that does not fit, or the memory that is
/// exceeded.
class Planner {
 public:
  /// `costs` are those of the machine. Throws KeyError for a pinned mapping that its layer does not
  /// support.
  Planner(const BandedNetwork& of, const PinnedPlan& pinned, const MachineConfig& machine,
          std::shared_ptr<LayerCosts> costs, const CoreLimits& limits = {});

  /// The plan; layers that are not computed or are fused with another take no time.
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Cycles of the image's load before the first layer, and of the result's store after the last.
  [[nodiscard]] std::uint64_t load() const { return load_; }
  [[nodiscard]] std::uint64_t store() const { return store_; }
  [[nodiscard]] std::uint64_t cycles() const;  ///< in all
  [[nodiscard]] CallCosts& calls() const { return calls_; }

 private:
  bool fit(std::uint64_t room);
  bool place(std::uint64_t room);
  void place_again(std::uint64_t room);
  void begin();
  void map_layers();
  void split();
  void set_columns(std::span<const std::uint32_t> layers, std::uint32_t columns);
  void narrow();
  [[nodiscard]] std::optional<std::uint64_t> map(std::span<const std::uint32_t> layers,
                                                 std::uint64_t limit);
  [[nodiscard]] std::uint64_t least(std::uint32_t number) const;
  [[nodiscard]] std::uint64_t least(LayerShape shape) const;
  [[nodiscard]] std::vector<std::uint32_t> affected(std::span<const std::uint32_t> group) const;
  bool spill();
  bool cut_weights();
  [[nodiscard]] std::uint32_t pieces(const LayerShape& shape) const;
  void limit_pieces(LayerShape& shape, Priced& priced);
  struct Busy {
    Priced parts;  ///< without `cycles`
    std::uint64_t row_tiles, weight_tiles, fill, items;
    std::uint64_t halo = 0;
    std::uint64_t ddr = 0;  ///< extra time if DDR waits for each transfer that it starts
  };
  /// True if all nodes overlap transfers with work.
  [[nodiscard]] bool overlaps() const {
    return machine_.tile.overlap && tile_of(machine_, plan_.array.first_memory).overlap &&
           !ddr_waits();
  }
  [[nodiscard]] bool ddr_waits() const { return !tile_of(machine_, plan_.array.ddr).overlap; }
  [[nodiscard]] std::uint64_t halo(const LayerShape& shape) const;
  [[nodiscard]] Busy moved(const LayerShape& shape) const;
  [[nodiscard]] Busy busy(const LayerShape& shape);
  [[nodiscard]] Priced price(const Busy& busy, const Mapping& mapping) const;
  [[nodiscard]] Priced price(const LayerShape& shape) { return price(busy(shape), shape.mapping); }
  // These read shape.mapping.adds and overwrite shape.mapping. `limit`: only mappings faster than
  // this are searched.
  [[nodiscard]] Priced best(LayerShape& shape);
  [[nodiscard]] std::optional<Priced> fastest(LayerShape& shape, std::uint64_t limit = UINT64_MAX);
  [[nodiscard]] std::optional<Priced> search(LayerShape& shape, std::uint64_t limit = UINT64_MAX);
  void consider(LayerShape& shape, std::optional<Priced>& found, std::uint64_t& limit);
  void consider_all(LayerShape& shape, std::optional<Priced>& found, std::uint64_t& limit);
  [[nodiscard]] std::optional<Priced> search_all(LayerShape& shape, std::uint64_t limit);
  [[nodiscard]] std::optional<Priced> search_published(LayerShape& shape);
  void require_layers() const;
  void make_addition(std::uint32_t number);
  [[nodiscard]] std::uint64_t stream(const char* name, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t moved_whole(const char* name, const Held& held) const;

  [[nodiscard]] const LayerPlan* pin_of(const std::string& layer) const;
  [[nodiscard]] bool take_pinned(LayerShape& shape) const;
  struct PinnedColumns {
    std::string key, layer;
    std::uint32_t columns;  ///< 0: all
  };
  [[nodiscard]] std::optional<PinnedColumns> columns_pin(const Layer& layer) const;

  const MachineConfig& machine_;
  const PinnedPlan& pinned_;
  std::shared_ptr<LayerCosts> costs_;
  CallCosts& calls_;
  std::uint64_t core_capacity_;
  CoreLimits limits_;
  std::vector<std::vector<std::uint32_t>> groups_;  ///< groups of layers with equal splits
  std::vector<std::uint32_t> free_;                 ///< groups that the search splits
  Plan plan_;
  std::uint64_t load_ = 0, store_ = 0;
  bool keeps_mappings_ = false;              ///< layers keep their mappings
  std::uint32_t piece_limit_ = UINT32_MAX;   ///< maximum bytes of a piece of weights
  std::uint32_t staged_limit_ = UINT32_MAX;  ///< maximum bytes of staged tiles
};

/// The layers computed in bands, and the plan with them.
struct BandedPlan {
  std::vector<Bands> bands;
  std::shared_ptr<const BandedNetwork> banded;  ///< the planned network
  std::shared_ptr<const Planner> planner;
};

/// The fastest plan: without bands, or with searched or pinned ones. Searches bands where DDR makes
/// layers slower than anything else, by at least a hundredth of the network's time, and tries no
/// more than fit in the memory tiles. Its arguments must outlive it. Throws like Planner, and
/// KeyError for pinned bands that the network does not have. `item_cycles`: as in CoreLimits.
BandedPlan plan_bands(const Model& model, const PinnedPlan& pinned, MachineCosts& costs,
                      std::uint64_t item_cycles = 0);

}  // namespace tessera::convnet
