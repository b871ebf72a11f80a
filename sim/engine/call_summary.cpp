#include "sim/engine/call_summary.h"

#include <cstring>

namespace tessera::engine {
namespace {

constexpr std::int64_t kMostCompared = INT32_MAX;
constexpr auto kWho = TaintedMemory::Who::worker;

}  // namespace

std::optional<KnownRegisters> CallSummary::apply(const KnownRegisters& before,
                                                 TaintedMemory& memory, TaintSets& sets) const {
  thread_local Values values;
  values.resize(nodes_.size());
  if (((before.known ^ known_before_) & read_) != 0 || !evaluate(before, memory, sets, values) ||
      reads_what_it_stores(values))
    return std::nullopt;
  for (const Stores& stores : stores_)
    if (!store(stores, values[stores.base], memory)) return std::nullopt;
  for (const Word& word : own_)
    if (memory.read(values[word.base] + word.offset, word.bytes, kWho, sets) != kKnown)
      return std::nullopt;
  KnownRegisters after;
  after.known = known_after_ | (before.known & kept_);
  for (std::uint32_t i = 0; i < kRegisters; ++i) {
    if ((known_after_ >> i & 1U) != 0)
      after.x[i] = values[left_[i].node] + left_[i].offset;
    else if ((after.known >> i & 1U) != 0)
      after.x[i] = before.x[i];
  }
  return after;
}

bool CallSummary::evaluate(const KnownRegisters& before, TaintedMemory& memory, TaintSets& sets,
                           Values& values) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    std::uint32_t value = 0;
    switch (node.kind) {
      case Node::Kind::zero:
        break;
      case Node::Kind::input:
        value = before.x[node.base];
        break;
      case Node::Kind::load:
        if (!load(node, values[node.base] + node.offset, memory, sets, value)) return false;
        break;
      case Node::Kind::difference:
        value = values[node.base] - values[node.other];
        break;
    }
    values[i] = value;
    if (node.decides && value != node.value) return false;
    const std::int64_t at = value;
    if (!node.compared.empty() &&
        (at + node.compared.low < 0 || at + node.compared.high > kMostCompared))
      return false;
    if (node.accessed.empty()) continue;
    if ((value - node.value) % node.widest != 0 || at + node.accessed.low < 0 ||
        at + node.accessed.high > memory.size())
      return false;
  }
  return true;
}

bool CallSummary::load(const Node& node, std::uint32_t address, TaintedMemory& memory,
                       TaintSets& sets, std::uint32_t& value) const {
  if (address % node.bytes != 0 || std::uint64_t{address} + node.bytes > memory.size() ||
      memory.read(address, node.bytes, kWho, sets) != kKnown)
    return false;
  value = 0;
  std::memcpy(&value, memory.bytes() + address, node.bytes);
  const std::uint32_t unused = 32 - 8U * node.bytes;
  if (node.extends_sign && unused != 0)
    value = static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused);
  return true;
}

/// True if a store overlaps a word that the call loads: apply() reads all loads before its stores,
/// and stores relative to another node may be anywhere.
bool CallSummary::reads_what_it_stores(const Values& values) const {
  const auto meets = [&](std::uint16_t base, std::uint32_t offset, std::uint32_t bytes) {
    const std::int64_t address = values[base] + offset;
    for (const std::uint16_t i : storing_) {
      const Hull& stored = nodes_[i].stored;
      if (i != base && values[i] + stored.low < address + bytes &&
          address < values[i] + stored.high)
        return true;
    }
    return false;
  };
  for (const Node& node : nodes_)
    if (node.kind == Node::Kind::load && meets(node.base, node.offset, node.bytes)) return true;
  for (const Word& word : own_)
    if (meets(word.base, word.offset, word.bytes)) return true;
  return false;
}

bool CallSummary::store(const Stores& stores, std::uint32_t base, TaintedMemory& memory) const {
  for (std::uint32_t i = 0; i < stores.count; ++i) {
    const std::uint32_t address = base + stores.offset + i * stores.stride;
    const void* const own = stores.known ? memory.bytes() + address : nullptr;
    if (!memory.write(address, stores.bytes, kWho, own)) return false;
  }
  return true;
}

}  // namespace tessera::engine
