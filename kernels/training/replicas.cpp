#include "kernels/training/loss.h"
#include "kernels/training/parameters.h"

namespace tessera::training {

namespace {

/// Calls take(number of the parameters, other copy, its tile) for all copies but that of `tile`.
template <class Take>
void for_others(const std::vector<Parameters>& all, Tile tile, const Take& take) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::uint32_t other = 0; other < all[i].copies.count; ++other)
      if (const Tile size = all[i].copies.tiles; other != tile / size)
        take(i, other, other * size + tile % size);
}

}  // namespace

void add_sums(Statement& statement, const std::vector<Parameters>& parameters) {
  statement.on_all([&] {
    std::vector<BufferId> received;
    std::vector<CallsOf> sums;
    for (const Parameters& each : parameters) {
      const std::uint32_t others = each.copies.count - 1;
      received.push_back(
          statement.array("gradients of copies", [each, others](Tile tile) -> std::uint64_t {
            const std::optional<Stretch> share = each.share(tile);
            return share ? share->gradient_bytes() * others : 0;
          }));
      const bool halves = each.gradients == program::Type::f16;
      sums.push_back([each, others, from = received.back(),
                      code = statement.code(halves ? "training_sum_f16" : "training_sum")](
                         Tile tile, Calls& calls) {
        const std::optional<Stretch> share = each.share(tile);
        if (!share) return;
        const std::uint32_t bytes = word(share->gradient_bytes());
        const Place own = share->gradient_place();
        calls.add_by_size(code.all_over({own, Place{from}, own, others, bytes, 0U}, bytes));
      });
    }
    statement.description().exchange(
        "gradients of copies", statement.description().tiles(),
        [parameters, received](Tile tile, Pulls& pulls) {
          for_others(parameters, tile, [&](std::size_t i, std::uint32_t other, Tile from) {
            const std::optional<Stretch> share = parameters[i].share(tile);
            if (!share) return;
            const std::uint32_t bytes = word(share->gradient_bytes());
            const std::uint32_t place =
                other < tile / parameters[i].copies.tiles ? other : other - 1;
            pulls.push_back({{received[i], place * bytes}, from, share->gradient_place(), bytes});
          });
        });
    statement.compute_on_all("sums of copies", std::move(sums));
  });
}

void add_weights(Statement& statement, const std::vector<Parameters>& parameters) {
  const auto bytes = [](const Stretch& share) {
    return word(share.count * data::element_bytes(share.type));
  };
  statement.on_all([&] {
    statement.description().exchange(
        "weights of copies", statement.description().tiles(),
        [parameters, bytes](Tile tile, Pulls& pulls) {
          for_others(parameters, tile, [&](std::size_t i, std::uint32_t /*other*/, Tile from) {
            if (tile >= parameters[i].copies.tiles * parameters[i].copies.count) return;
            if (const std::optional<Stretch> share = parameters[i].share(from))
              pulls.push_back(
                  {share->weights_place(), from, share->weights_place(), bytes(*share)});
          });
        },
        [parameters, bytes](Tile tile) {
          std::uint64_t sum = 0;
          for (const Parameters& each : parameters)
            if (const std::optional<Stretch> share = each.share(tile)) sum += bytes(*share);
          return sum;
        });
  });
}

BufferId add_totals(Statement& statement, BufferId totals, plan::Copies copies) {
  BufferId sum{};
  statement.on_all([&] {
    const BufferId all =
        statement.array_on(0, "totals of copies", std::uint64_t{kResultBytes} * copies.count);
    statement.description().exchange(
        "totals of copies", 1, [all, totals, copies](Tile /*tile*/, Pulls& pulls) {
          for (std::uint32_t copy = 0; copy < copies.count; ++copy)
            pulls.push_back(
                {{all, copy * kResultBytes}, copy * copies.tiles, {totals}, kResultBytes});
        });
    sum = add_total(statement, "total of copies", all, copies.count, 1, "totals of all");
  });
  return sum;
}

}  // namespace tessera::training
