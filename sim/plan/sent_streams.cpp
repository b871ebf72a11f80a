#include "sim/plan/sent_streams.h"

#include <algorithm>
#include <tuple>

#include "sim/plan/tile_parts.h"
#include "sim/program/exchange_compiler.h"

namespace tessera::plan {
namespace {

void list_exchanges(const Sequence& steps, std::vector<const Exchange*>& all) {
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<Repeat>(&step.action)) {
      if (repeat->count > 0) list_exchanges(repeat->body, all);
    } else if (const auto* loop = std::get_if<While>(&step.action)) {
      list_exchanges(loop->test, all);
      list_exchanges(loop->body, all);
    } else if (const auto* rounds = std::get_if<Rounds>(&step.action)) {
      list_exchanges(unrolled(*rounds), all);
    } else if (const auto* round = std::get_if<Round>(&step.action)) {
      list_exchanges(*round->steps, all);
    } else if (const auto* exchange = std::get_if<Exchange>(&step.action)) {
      all.push_back(exchange);
    }
  }
}

/// A stream that several tiles may pull.
using Stream = std::tuple<Tile, BufferId, std::uint32_t, std::uint32_t>;

}  // namespace

std::vector<const Exchange*> exchanges_of(const Sequence& steps) {
  std::vector<const Exchange*> all;
  list_exchanges(steps, all);
  return all;
}

SentStreams::SentStreams(const Description& description) : list_bytes_(description.tiles()) {
  const Aliases aliases(description);
  std::vector<Stream> streams;
  for (const Exchange* exchange : exchanges_of(description.steps())) {
    const auto [entry, is_new] = sent_.try_emplace(exchange);
    if (!is_new) continue;
    streams.clear();
    for (Tile to = 0; to < exchange->tiles; ++to)
      for (const Pull& pull : pulls_of(*exchange, to, aliases)) {
        streams.emplace_back(pull.from, pull.source.buffer, pull.source.offset, pull.bytes);
        list_bytes_[to] += program::kReceiveBytes;
      }
    std::ranges::sort(streams);
    streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
    for (const auto& [from, array, offset, bytes] : streams) {
      std::vector<Sent>& sent = entry->second;
      if (sent.empty() || sent.back().from != from || sent.back().array != array)
        sent.push_back({from, array, 0});
      ++sent.back().streams;
      list_bytes_[from] += program::kSendBytes;
    }
  }
}

std::vector<SentStreams::Sent> SentStreams::of(const Exchange& exchange, Tile tile) const {
  const std::vector<Sent>& all = sent_.at(&exchange);
  return {std::ranges::lower_bound(all, tile, {}, &Sent::from),
          std::ranges::upper_bound(all, tile, {}, &Sent::from)};
}

Tile SentStreams::longest_lists() const {
  return static_cast<Tile>(std::ranges::max_element(list_bytes_) - list_bytes_.begin());
}

}  // namespace tessera::plan
