#include "kernels/training/scaling.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace tessera::training {

namespace {

/// As the tile code has it.
struct Scale {
  float scale, used, skipped, inverse;
  std::uint32_t good;
};

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

Scaling::Scaling(Assembly& assembly, const LossScaling& scaling, std::uint32_t tiles)
    : assembly_(assembly), scaling_(scaling) {
  const auto first = static_cast<float>(scaling.changes() ? scaling.first : scaling.scale);
  for (std::uint32_t t = 0; t < tiles; ++t)
    states_.push_back(assembly.buffer(
        t, sizeof(Scale), "loss scale",
        [first](std::span<std::byte> into) {
          const Scale state{first, first, 0, 1 / first, 0};
          std::memcpy(into.data(), &state, sizeof state);
        },
        true));
}

program::Vertex Scaling::any(std::uint32_t tile, BufferId flags, std::uint64_t count,
                             BufferId result) {
  return assembly_.one(tile, "training_any", {Place{flags}, word(count), Place{result}});
}

/// Flags of a tile's workers become one of the tile, then one of each group of about as many tiles
/// as there are groups.
std::vector<Place> Scaling::look(const std::vector<Stretch>& stretches) {
  const std::uint32_t contexts = assembly_.contexts();
  std::map<std::uint32_t, std::vector<const Stretch*>> by_tile;
  for (const Stretch& each : stretches) by_tile[assembly_.tile_of(each.gradient)].push_back(&each);
  ComputeSet looking{"overflow", {}};
  ComputeSet grouping{"overflow of groups", {}};
  Exchange exchange{"overflow", {}};
  const auto group =
      static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(by_tile.size()))));
  std::vector<Place> found;
  BufferId gathered{};
  std::uint32_t number = 0;
  for (const auto& [tile, mine] : by_tile) {
    const std::uint64_t flags = mine.size() * contexts;
    const BufferId own = assembly_.buffer(tile, flags * sizeof(std::uint32_t), "overflow flags");
    const BufferId result = assembly_.buffer(tile, kWordBytes, "overflow");
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const bool half = mine[i]->gradients == program::Type::f16;
      looking.vertices.push_back(assembly_.all_of(
          tile, half ? "training_overflow_f16" : "training_overflow",
          {mine[i]->gradient_place(), Place{own, word(i * contexts * sizeof(std::uint32_t))}},
          mine[i]->gradient_bytes()));
    }
    looking.vertices.push_back(any(tile, own, flags, result));
    if (number % group == 0) {
      const std::uint64_t members = std::min<std::uint64_t>(group, by_tile.size() - number);
      gathered = assembly_.buffer(tile, members * sizeof(std::uint32_t), "overflow of a group");
      const BufferId one = assembly_.buffer(tile, kWordBytes, "overflow of all");
      grouping.vertices.push_back(any(tile, gathered, members, one));
      found.push_back({one});
    }
    exchange.copies.push_back({{result},
                               sizeof(std::uint32_t),
                               {{gathered, word(number % group * sizeof(std::uint32_t))}}});
    ++number;
  }
  assembly_.add_step(std::move(looking));
  assembly_.add_step(std::move(exchange));
  assembly_.add_step(std::move(grouping));
  return found;
}

void Scaling::update(const Learning& learning, const std::vector<BufferId>& rates,
                     const std::vector<Stretch>& stretches) {
  const std::vector<Place> found = look(stretches);
  Exchange exchange{"overflow of all", {}};
  ComputeSet set{"update", {}};
  std::vector<BufferId> told;
  for (std::uint32_t t = 0; t < states_.size(); ++t) {
    told.push_back(assembly_.buffer(t, found.size() * sizeof(std::uint32_t), "overflow told"));
    set.vertices.push_back(
        assembly_.all(t, "training_rescale",
                      {Place{states_[t]}, Place{told[t]}, word(found.size()),
                       scaling_.changes() ? scaling_.window : 0, bits_of(kLargestScale)}));
    if (t < rates.size())
      set.vertices.push_back(scheduling(assembly_, learning, rates[t], states_[t]));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    program::Copy copy{found[i], sizeof(std::uint32_t), {}};
    for (const BufferId each : told) copy.destinations.push_back({each, word(i * 4)});
    exchange.copies.push_back(std::move(copy));
  }
  for (const Stretch& each : stretches) {
    const std::uint32_t tile = assembly_.tile_of(each.masters);
    set.vertices.push_back(updating(assembly_, learning, each, rates[tile], states_[tile]));
  }
  assembly_.add_step(std::move(exchange));
  assembly_.add_step(std::move(set));
}

}  // namespace tessera::training
