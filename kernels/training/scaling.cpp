#include "kernels/training/scaling.h"

#include <cmath>
#include <memory>

namespace tessera::training {

namespace {

/// As the tile code has it.
struct Scale {
  float scale, used, skipped, inverse;
  std::uint32_t good;
};

constexpr std::uint32_t kFlagBytes = sizeof(std::uint32_t);

/// Tiles that look for overflow, in groups of about as many as there are groups, each on its first
/// tile.
struct Lookers {
  std::vector<Tile> tiles;  ///< ascending
  std::size_t group;

  /// Where a tile is among them; their number if it is not.
  [[nodiscard]] std::size_t number(Tile tile) const {
    const auto found = std::lower_bound(tiles.begin(), tiles.end(), tile);
    const bool is_one = found != tiles.end() && *found == tile;
    return is_one ? static_cast<std::size_t>(found - tiles.begin()) : tiles.size();
  }
  /// Those of the group that begins with `tile`.
  [[nodiscard]] std::span<const Tile> members(Tile tile) const {
    const std::size_t first = number(tile);
    if (first == tiles.size() || first % group != 0) return {};
    return std::span(tiles).subspan(first, std::min(group, tiles.size() - first));
  }
};

std::shared_ptr<const Lookers> lookers_of(const std::vector<Parameters>& parameters, Tile tiles) {
  const auto made = std::make_shared<Lookers>();
  for (Tile tile = 0; tile < tiles; ++tile)
    if (std::ranges::any_of(parameters,
                            [&](const Parameters& each) { return each.share(tile).has_value(); }))
      made->tiles.push_back(tile);
  made->group =
      static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(made->tiles.size()))));
  return made;
}

/// `count(tile)` words become one, not zero if one of them is not.
CallsOf any(Statement& statement, BufferId flags, std::function<std::size_t(Tile)> count,
            BufferId result) {
  return [code = statement.code("training_any"), flags, count = std::move(count), result](
             Tile tile, Calls& calls) {
    if (const std::size_t words = count(tile); words > 0)
      calls.add_by_size(code.one({Place{flags}, word(words), Place{result}}));
  };
}

}  // namespace

// 2^16 at first and 2,000 steps are apex's, and of torch.cuda.amp.GradScaler.
void describe(config::Fields& fields, LossScaling& scaling, std::string_view unused_with) {
  fields.field({"loss_scale",
                "of f16: what gradients are multiplied by; dynamic: halved where they overflow, "
                "which skips the step, and doubled after loss_scale_window steps without",
                "", false, unused_with, "dynamic"},
               scaling.scale, {0x1p-24, kLargestScale});
  const std::string_view fixed = scaling.changes() ? unused_with : "loss_scale";
  fields.field({"loss_scale_start", "the dynamic loss scale of the first step", "", false, fixed},
               scaling.first, {0x1p-24, kLargestScale});
  fields.field({"loss_scale_window", "steps without overflow before a dynamic loss scale doubles",
                "", false, fixed},
               scaling.window, {1, 1U << 24});
}

Scaling::Scaling(Statement& statement, const LossScaling& scaling, plan::Copies copies, Skips skips)
    : statement_(statement),
      scaling_(scaling),
      copies_(copies),
      skips_(skips),
      state_(statement.array(
          "loss scale", [copies](Tile tile) { return tile < copies.tiles ? sizeof(Scale) : 0; },
          [first = static_cast<float>(scaling.changes() ? scaling.first : scaling.scale)](
              Tile /*tile*/, std::span<std::byte> into) {
            const Scale state{first, first, 0, 1 / first, 0};
            std::memcpy(into.data(), &state, sizeof state);
          },
          true)) {}

/// Flags of a tile's workers become one of the tile, then one of each group.
Scaling::Found Scaling::look(const std::vector<Parameters>& parameters) {
  const auto lookers = lookers_of(parameters, statement_.description().tiles());
  const auto all = std::make_shared<const std::vector<Parameters>>(parameters);
  const std::size_t contexts = statement_.contexts();
  const auto flags = [all, contexts](Tile tile) {
    std::size_t shares = 0;
    for (const Parameters& each : *all) shares += each.share(tile) ? 1 : 0;
    return shares * contexts;
  };
  const auto bytes = [](const auto& count) {
    return [count](Tile tile) { return round_up(count(tile) * kFlagBytes, kWordBytes); };
  };
  const auto one = [lookers](Tile tile) -> std::size_t {
    return lookers->number(tile) < lookers->tiles.size() ? 1 : 0;
  };
  const auto members = [lookers](Tile tile) { return lookers->members(tile).size(); };
  const auto leads = [members](Tile tile) { return std::min<std::size_t>(members(tile), 1); };
  const BufferId own = statement_.array("overflow flags", bytes(flags));
  const BufferId result = statement_.array("overflow", bytes(one));
  const BufferId gathered = statement_.array("overflow of a group", bytes(members));
  const BufferId of_group = statement_.array("overflow of all", bytes(leads));
  std::vector<Codelet> codes;
  codes.reserve(parameters.size());
  for (const Parameters& each : parameters)
    codes.push_back(statement_.code(each.gradients == program::Type::f16 ? "training_overflow_f16"
                                                                         : "training_overflow"));
  const CallsOf looking = [all, codes, own, contexts](Tile tile, Calls& calls) {
    std::size_t flag = 0;
    for (std::size_t i = 0; i < all->size(); ++i)
      if (const std::optional<Stretch> share = (*all)[i].share(tile)) {
        calls.add_by_size(
            codes[i].all_over({share->gradient_place(), Place{own, word(flag * kFlagBytes)}},
                              share->gradient_bytes()));
        flag += contexts;
      }
  };
  statement_.compute_on_all("overflow", {looking, any(statement_, own, flags, result)});
  statement_.description().exchange(
      "overflow", statement_.description().tiles(),
      [lookers, gathered, result](Tile tile, Pulls& pulls) {
        std::uint32_t at = 0;
        for (const Tile from : lookers->members(tile)) {
          pulls.push_back({{gathered, at}, from, {result}, kFlagBytes});
          at += kFlagBytes;
        }
      });
  statement_.compute_on_all("overflow of groups", {any(statement_, gathered, members, of_group)});
  Found found{{}, of_group};
  for (std::size_t i = 0; i < lookers->tiles.size(); i += lookers->group)
    found.tiles.push_back(lookers->tiles[i]);
  return found;
}

void Scaling::update(const Learning& learning, BufferId rate, Tile rate_tiles,
                     const std::vector<Parameters>& parameters) {
  statement_.on_all([&] {
    const Found found = look(parameters);
    const std::uint32_t groups = word(found.tiles.size());
    const auto knows = [copies = copies_](Tile tile) { return tile < copies.tiles * copies.count; };
    plan::Array flags{
        "overflow told", [knows, groups](Tile tile) {
          return knows(tile) ? round_up(std::uint64_t{groups} * kFlagBytes, kWordBytes) : 0;
        }};
    if (skips_.skipped > 0)
      flags.expected = [skips = skips_](Tile /*tile*/, std::span<std::byte> into,
                                        std::uint32_t moment) {
        fill_zeros(into);
        into.front() = std::byte(skips.skips(moment) ? 1 : 0);
      };
    const BufferId told = statement_.description().array(std::move(flags));
    statement_.description().exchange(
        "overflow of all", statement_.description().tiles(),
        [knows, found, told](Tile tile, Pulls& pulls) {
          for (std::uint32_t i = 0; knows(tile) && i < found.tiles.size(); ++i)
            pulls.push_back({{told, i * kFlagBytes}, found.tiles[i], {found.word}, kFlagBytes});
        });
    const program::Vertex rescale =
        statement_.code("training_rescale")
            .all({Place{state_}, Place{told}, groups, scaling_.changes() ? scaling_.window : 0,
                  bits_of(kLargestScale)});
    const program::Vertex schedules = scheduling(statement_, learning, rate, state_);
    std::vector<CallsOf> calls{[=, of = copies_.tiles](Tile tile, Calls& into) {
      if (!knows(tile)) return;
      into.add_by_size(rescale);
      if (tile % of < rate_tiles) into.add_by_size(schedules);
    }};
    for (const Parameters& each : parameters)
      calls.push_back(updating(statement_, learning, each, rate, state_));
    statement_.compute_on_all("update", std::move(calls));
  });
}

void Scaling::tell() const {
  statement_.description().host(std::string(kScales), program::HostTransfer::Direction::write, 1,
                                [state = state_](Tile /*tile*/, plan::HostPieces& pieces) {
                                  pieces.push_back({{state, kElementBytes}, 2 * kElementBytes});
                                });
}

}  // namespace tessera::training
