#include "sim/plan/description.h"

namespace tessera::plan {

Array Copies::spread(Array array) const {
  if (count == 1) return array;
  array.bytes = [its = *this, bytes = std::move(array.bytes)](Tile tile) -> std::uint64_t {
    return tile < its.tiles * its.count ? bytes(tile % its.tiles) : 0;
  };
  if (array.contents)
    array.contents = [of = tiles, contents = std::move(array.contents)](
                         Tile tile, std::span<std::byte> into) { contents(tile % of, into); };
  if (array.inputs)
    array.inputs = [of = tiles, inputs = std::move(array.inputs)](
                       Tile tile, std::span<std::byte> into, std::uint32_t run) {
      inputs(tile % of, into, run);
    };
  if (array.expected)
    array.expected = [of = tiles, expected = std::move(array.expected)](
                         Tile tile, std::span<std::byte> into, std::uint32_t moment) {
      expected(tile % of, into, moment);
    };
  return array;
}

Compute Copies::spread(Compute compute) const {
  if (count == 1) return compute;
  return {std::move(compute.name), tiles * count,
          [of = tiles, taking_part = compute.tiles, calls = std::move(compute.calls)](Tile tile,
                                                                                      Calls& all) {
            if (tile % of < taking_part) calls(tile % of, all);
          },
          compute.syncs, std::move(compute.stage)};
}

Exchange Copies::spread(Exchange exchange) const {
  if (count == 1) return exchange;
  const auto pulls = [of = tiles, taking_part = exchange.tiles, pulls = std::move(exchange.pulls)](
                         Tile tile, Pulls& all) {
    if (tile % of >= taking_part) return;
    const std::size_t first = all.size();
    pulls(tile % of, all);
    for (std::size_t i = first; i < all.size(); ++i) all[i].from += tile / of * of;
  };
  Exchange spread{std::move(exchange.name), tiles * count, pulls};
  if (exchange.sends)
    spread.sends = [of = tiles, sends = std::move(exchange.sends)](Tile tile) {
      return sends(tile % of);
    };
  return spread;
}

Host Copies::spread(Host host) const {
  if (count == 1) return host;
  return {std::move(host.name), host.direction, tiles * count,
          [its = *this, taking_part = host.tiles, pieces = std::move(host.pieces)](
              Tile tile, HostPieces& all) {
            if (tile % its.tiles >= taking_part) return;
            const std::size_t first = all.size();
            pieces(tile % its.tiles, all);
            for (std::size_t i = first; i < all.size(); ++i)
              if (all[i].contents)
                all[i].contents = [give = std::move(all[i].contents), group = tile / its.tiles,
                                   count = its.count](std::span<std::byte> into,
                                                      std::uint64_t number) {
                  give(into, number * count + group);
                };
          }};
}

}  // namespace tessera::plan
