#include "models/chip/exchanges.h"

#include <algorithm>

#include "models/fabric/descriptor.h"
#include "sim/base/errors.h"

namespace tessera {

void Exchanges::start(const fabric::Participant& participant) {
  const fabric::ListView list(participant.tile, participant.sram, participant.list);
  const std::uint32_t number = list.header().exchange;
  Gathering& gathering = gathering_[number];
  if (gathering.participants.empty()) gathering.expected = list.header().participants;
  gathering.participants.push_back(participant);
  if (gathering.participants.size() >= gathering.expected) complete_.push_back(number);
}

std::vector<Exchanges::Finished> Exchanges::finish(HostThreads& threads) {
  std::vector<Finished> result;
  std::ranges::sort(complete_);
  for (const std::uint32_t number : complete_) {
    Finished finished;
    finished.participants = std::move(gathering_.at(number).participants);
    gathering_.erase(number);
    std::ranges::sort(finished.participants,
                      [](const auto& a, const auto& b) { return a.tile < b.tile; });
    for (const fabric::Participant& participant : finished.participants)
      finished.begin = std::max(finished.begin, participant.start);
    finished.outcome = fabric_->exchange(finished.participants, threads);
    result.push_back(std::move(finished));
  }
  complete_.clear();
  return result;
}

std::string Exchanges::missing(TileId tile) const {
  for (const auto& [number, gathering] : gathering_) {
    const auto& started = gathering.participants;
    if (std::ranges::none_of(started,
                             [tile](const auto& participant) { return participant.tile == tile; }))
      continue;
    return fmt::format("exchange {}, waiting for {} of {} participants", number,
                       gathering.expected - started.size(), gathering.expected);
  }
  return {};
}

}  // namespace tessera
