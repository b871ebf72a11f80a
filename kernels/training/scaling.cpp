#include "kernels/training/scaling.h"

#include <memory>

namespace tessera::training {

namespace {

/// Layout as in the tile code.
struct Scale {
  float scale, used, skipped, inverse;
  std::uint32_t good;
};

constexpr std::uint32_t kFlagBytes = sizeof(std::uint32_t);

/// Calls that OR `count(tile)` words into one.
CallsOf any(Statement& statement, BufferId flags, std::function<std::size_t(Tile)> count,
            BufferId result) {
  return [code = statement.code("training_any"), flags, count = std::move(count), result](
             Tile tile, Calls& calls) {
    if (const std::size_t words = count(tile); words > 0)
      calls.add_by_size(code.one({Place{flags}, word(words), Place{result}}));
  };
}

}  // namespace

// The start of 2^16 and the window of 2,000 steps are those of apex and torch.cuda.amp.GradScaler.
void describe(config::Fields& fields, LossScaling& scaling, std::string_view unused_with) {
  fields.field({"loss_scale",
                "f16: factor of the gradients; dynamic: halved if gradients overflow, which skips "
                "the update, and doubled after loss_scale_window steps without overflow",
                "", false, unused_with, "dynamic"},
               scaling.scale, {0x1p-24, kLargestScale});
  const std::string_view fixed = scaling.changes() ? unused_with : "loss_scale";
  fields.field({"loss_scale_start", "initial dynamic loss scale", "", false, fixed}, scaling.first,
               {0x1p-24, kLargestScale});
  fields.field({"loss_scale_window", "steps without overflow before a dynamic loss scale doubles",
                "", false, fixed},
               scaling.window, {1, 1U << 24});
}

Scaling::Scaling(Statement& statement, const LossScaling& scaling, plan::Copies copies, Skips skips)
    : statement_(statement),
      scaling_(scaling),
      copies_(copies),
      skips_(skips),
      state_(statement.array_on_first(
          copies.tiles, "loss scale", sizeof(Scale),
          [first = static_cast<float>(scaling.changes() ? scaling.first : scaling.scale)](
              Tile /*tile*/, std::span<std::byte> into) {
            const Scale state{first, first, 0, 1 / first, 0};
            std::memcpy(into.data(), &state, sizeof state);
          },
          true)) {}

/// ORs the flags of a tile's workers, then those of each group's tiles.
Scaling::Found Scaling::look(const std::vector<Parameters>& parameters) {
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
  const auto one_if = [](const auto& count) {
    return [count](Tile tile) { return std::min<std::size_t>(count(tile), 1); };
  };
  std::vector<Tile> lookers;
  for (Tile tile = 0; tile < statement_.description().tiles(); ++tile)
    if (flags(tile) > 0) lookers.push_back(tile);
  const auto groups = std::make_shared<const Groups>(std::move(lookers));
  const auto members = [groups](Tile tile) { return groups->members(tile).size(); };
  const BufferId own = statement_.array("overflow flags", bytes(flags));
  const BufferId result = statement_.array("overflow", bytes(one_if(flags)));
  const BufferId gathered = statement_.array("overflow of a group", bytes(members));
  const BufferId of_group = statement_.array("overflow of all", bytes(one_if(members)));
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
  statement_.description().exchange("overflow", statement_.description().tiles(),
                                    [groups, gathered, result](Tile tile, Pulls& pulls) {
                                      pull_each(pulls, gathered, groups->members(tile), result,
                                                kFlagBytes);
                                    });
  statement_.compute_on_all("overflow of groups", {any(statement_, gathered, members, of_group)});
  return {groups->leads(), of_group};
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
    statement_.description().exchange("overflow of all", statement_.description().tiles(),
                                      [knows, found, told](Tile tile, Pulls& pulls) {
                                        if (knows(tile))
                                          pull_each(pulls, told, found.tiles, found.word,
                                                    kFlagBytes);
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

}  // namespace tessera::training
