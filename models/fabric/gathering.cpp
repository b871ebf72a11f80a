#include "models/fabric/gathering.h"

#include <algorithm>

#include <fmt/format.h>

namespace tessera::fabric {

void Gathering::add(std::uint32_t exchange, std::uint32_t participants, const Participant& side) {
  Partial& partial = partial_[exchange];
  if (partial.participants.empty()) partial.expected = participants;
  partial.participants.push_back(side);
  partial.ready = std::max(partial.ready, side.start);
  if (partial.participants.size() < partial.expected) return;
  std::ranges::sort(partial.participants, {}, &Participant::tile);
  ready_.try_emplace({partial.ready, exchange}, std::move(partial.participants));
  partial_.erase(exchange);
}

std::optional<Cycle> Gathering::next() const {
  if (ready_.empty()) return std::nullopt;
  return ready_.begin()->first.first;
}

std::optional<Gathering::Ready> Gathering::take(Cycle to) {
  if (ready_.empty() || ready_.begin()->first.first > to) return std::nullopt;
  auto first = ready_.extract(ready_.begin());
  return Ready{first.key().first, first.key().second, std::move(first.mapped())};
}

std::string Gathering::missing(Token side) const {
  const auto is_side = [side](const Participant& participant) {
    return participant.tile == side.tile && participant.list == side.list;
  };
  for (const auto& [number, partial] : partial_)
    if (std::ranges::any_of(partial.participants, is_side))
      return fmt::format("exchange {}, waiting for {} of {} participants", number,
                         partial.expected - partial.participants.size(), partial.expected);
  for (const auto& [when, participants] : ready_)
    if (std::ranges::any_of(participants, is_side))
      return fmt::format("exchange {}, which all have started", when.second);
  return {};
}

}  // namespace tessera::fabric
