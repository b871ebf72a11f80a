#include "sim/engine/native/translator.h"

#include <algorithm>

namespace tessera::engine::native {
namespace {

constexpr std::size_t kPaid = 100;            ///< instructions a meeting pays for
constexpr std::size_t kPaidAgain = 5;         ///< likewise, for outgrown regions
constexpr std::size_t kMost = 1500;           ///< most steps in a region
constexpr std::uint32_t kMeetings = 2;        ///< times an Op is met before translation
constexpr std::size_t kMostVersions = 8;      ///< most versions of an entry
constexpr std::uint32_t kLargest = 1U << 30;  ///< memory size whose bounds fit immediates

}  // namespace

const Op* Translator::original(const Op* op) const {
  const auto found = original_.find(op);
  return found == original_.end() ? op : found->second;
}

const Op* Translator::entry(const Op* op) const {
  const auto found = known_.find(op);
  return found == known_.end() ? op : found->second.entry;
}

bool Translator::fits(const KnownEntry& known, const Sighting& meeting) const {
  return known.size == meeting.size && known.code_end == meeting.code_end &&
         (!timed_ || known.states.contains(meeting.pipeline_state));
}

Continuation Translator::met(const Sighting& meeting, const RegionContext& code,
                             const Patch& patch) {
  credit_ += kPaid;
  growth_ += kPaidAgain;
  const Op* const op = original(meeting.op);
  const auto known = known_.find(op);
  if (known != known_.end()) {
    if (fits(known->second, meeting)) {
      const std::size_t steps = regions_[known->second.region].steps;
      const bool enough = credit_ >= std::min(kMost, 2 * steps) && growth_ >= steps;
      if (!enough || known->second.again >= kMostVersions || !outgrown(known->second))
        return {known->second.entry, true};
      ++known->second.again;
      growth_ -= steps;
      return translate(meeting, op, code, patch);
    }
    if (known->second.states.size() >= kMostVersions) return {meeting.op};
  }
  const bool seldom = ++meetings_[op] < kMeetings;
  if (seldom || meeting.size > kLargest) return {meeting.op};
  return translate(meeting, op, code, patch);
}

/// True if contexts have left the region by exits that had not been taken when it was made.
bool Translator::outgrown(const KnownEntry& known) const {
  const TranslatedRegion& made = regions_[known.region];
  const auto taken = [](const Edge* edge) { return edge->taken() != nullptr; };
  const auto elsewhere = [&](const Edge* edge) { return elsewhere_of(*edge) != nullptr; };
  return std::any_of(made.untaken.begin(), made.untaken.end(), taken) ||
         std::any_of(made.jumps.begin(), made.jumps.end(), elsewhere);
}

/// A new target of the edge's jalr; null: there is none, or it has too many targets.
const Op* Translator::elsewhere_of(const Edge& edge) const {
  const Op* const taken = edge.taken();  // once: others may change it
  if (taken == nullptr) return nullptr;
  const Op* const target = original(taken);
  const auto known = went_.find(&edge);
  if (known == went_.end()) return target;
  const std::vector<const Op*>& all = known->second;
  const bool there = std::find(all.begin(), all.end(), target) != all.end();
  return there || all.size() >= kMostTargets ? nullptr : target;
}

const std::vector<const Op*>& Translator::went(const Edge& edge) {
  const Op* const target = elsewhere_of(edge);
  std::vector<const Op*>& all = went_[&edge];
  if (target != nullptr) all.push_back(target);
  return all;
}

Continuation Translator::translate(const Sighting& meeting, const Op* op, const RegionContext& code,
                                   const Patch& patch) {
  RegionContext around = code;
  around.went = [this](const Edge& edge) -> const std::vector<const Op*>& { return went(edge); };
  const std::size_t most = std::min(credit_, kMost);
  Region region = find_region(op, meeting.pipeline_state, most, around);
  const Setting setting{meeting.size, meeting.code_end, counts_, timed_, most, handlers_};
  const std::vector<Entry*> entries = translation_.translate(region, setting);
  credit_ -= std::min(credit_, region.steps);
  TranslatedRegion made{.steps = region.steps};
  for (const Node& node : region.nodes) {
    const bool jumps = node.steps.back().kind == Kind::jump_register;
    if (jumps && !node.calls && !node.steps.back().returns())
      made.jumps.push_back(node.exits.back().edge);
    for (const Exit& exit : node.exits)
      if (exit.node == kOutside && !(jumps && &exit == &node.exits.back()) &&
          exit.edge->taken() == nullptr)
        made.untaken.push_back(exit.edge);
  }
  regions_.push_back(std::move(made));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Node& node = region.nodes[i];
    if (!node.kept) continue;
    KnownEntry& known = known_[node.first];
    // Other nodes keep the entry that they have, unless it lacks this state of the pipeline.
    if (i > 0 && known.entry != nullptr && !outgrown(known) &&
        (!timed_ || known.states.contains(node.pipeline_state)))
      continue;
    if (known.entry != nullptr && timed_) entries[i]->original = known.entry;
    original_[&entries[i]->op] = node.first;
    known.entry = &entries[i]->op;
    known.states.insert(node.pipeline_state);
    known.region = regions_.size() - 1;
    known.size = meeting.size;
    known.code_end = meeting.code_end;
    patch(node.first, known.entry);
  }
  const auto found = known_.find(op);
  if (found == known_.end()) return {meeting.op};
  return {found->second.entry, true};
}

}  // namespace tessera::engine::native
