#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/memory/outer_traffic.h"
#include "sim/isa/registers.h"
#include "tests/sim/engine/random_path.h"

namespace tessera {

using engine::test::Executed;
using engine::test::PlainContext;

/// Contexts that share a pipeline, stepped cycle by cycle: each cycle chooses who issues. The last
/// context is the supervisor. External memory is the machine's own model, polled in every cycle;
/// tests/models/memory has a second implementation.
class PlainTile {
 public:
  explicit PlainTile(const TileConfig& tile)
      : tile_(tile), contexts_(tile.contexts + 1), waits_(tile.contexts + 1), units_(5) {}

  /// Gives workers access to external memory.
  void reach(const ExternalConfig& external, double clock_ghz) {
    memory_.emplace(external, clock_ghz, 1, nullptr);
  }
  PlainContext& start(std::size_t context, const std::vector<Executed>& path, std::uint64_t at) {
    contexts_[context] = std::make_unique<PlainContext>(path, tile_, 1);
    contexts_[context]->start(at);
    return *contexts_[context];
  }
  /// Steps until `who` has issued everything; returns its end. Other contexts issue meanwhile.
  std::uint64_t finish(const PlainContext& who) {
    while (!who.done()) {
      end_transfers();
      const std::size_t chosen = choose();
      const std::uint64_t slots = chosen < contexts_.size() ? issue(chosen) : 1;
      now_ += slots;
      if (chosen + 1 < contexts_.size()) issued_ += slots;
      if (chosen < contexts_.size() && slots > 0) last_ = chosen;
    }
    return who.end();
  }
  /// Slots issued by workers.
  [[nodiscard]] std::uint64_t issued() const { return issued_; }
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }

 private:
  [[nodiscard]] std::size_t choose() const {
    const std::size_t count = contexts_.size();
    std::size_t best = count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t each = tile_.issue == IssueKind::revolver ? (last_ + 1 + i) % count : i;
      const PlainContext* context = contexts_[each].get();
      if (context == nullptr || context->done() || waits_[each]) continue;
      if (context->ready(units_) > now_) continue;
      const bool older = best == count || context->ready() < contexts_[best]->ready();
      if (best == count || (tile_.issue == IssueKind::interleaved && older)) best = each;
    }
    return best;
  }

  std::uint64_t issue(std::size_t chosen) {
    PlainContext& context = *contexts_[chosen];
    const std::optional<program::OuterEntry> transfer = context.transfer();
    const std::uint64_t slots = context.issue(now_, units_);
    if (transfer && context.transfer_issued()) {
      memory_->start({TileId{0},
                      Cycle(context.end()),
                      Address(static_cast<std::uint32_t>(chosen)),
                      {*transfer},
                      {},
                      0});
      waits_[chosen] = true;
      ++transfers_;
    }
    return slots;
  }

  void end_transfers() {
    if (!memory_) return;
    for (const OuterTraffic::Ended& ended : memory_->advance(Cycle(now_))) {
      const std::uint32_t context = ended.transfer.list.count();
      check(ended.done.count() == now_, "plain tile: a transfer that was done before");
      waits_[context] = false;
      contexts_[context]->start(now_);
    }
  }

  TileConfig tile_;
  std::vector<std::unique_ptr<PlainContext>> contexts_;
  std::vector<bool> waits_;  ///< by context: waiting for a transfer
  std::vector<std::uint64_t> units_;
  std::optional<OuterTraffic> memory_;
  std::uint64_t now_ = 0;
  std::uint64_t issued_ = 0;
  std::uint64_t transfers_ = 0;
  std::size_t last_ = 0;
};

}  // namespace tessera
