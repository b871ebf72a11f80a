#include "kernels/arrays/timeline.h"

#include <algorithm>

#include "sim/base/ranges.h"
#include "sim/machine/nodes.h"
#include "sim/program/held_lists.h"

namespace tessera::arrays {
namespace {

/// True if an item is control code of the node.
bool is_control(const Item& item) {
  return item.kind == Item::Kind::start || item.kind == Item::Kind::wait;
}

}  // namespace

Timeline::Transfers& Timeline::transfers(Channel channel) {
  if (channel >= channels_.size()) channels_.resize(channel + std::size_t{1});
  return channels_[channel];
}

void Timeline::add_own(Channel channel, std::uint32_t node) {
  Transfers& of = transfers(channel);
  of.nodes.push_back(node);
  of.barriers = Time{2} * machine_.sync.chip_cycles;
  nodes_[node].works = true;
}

void Timeline::pass(std::uint32_t node, std::uint32_t stream, std::uint32_t ports, bool sends,
                    std::vector<Ports*>& all) {
  if (ports == 0) return;  // no limit on concurrent streams
  Ports& its = ports_[{node, stream, sends}];
  its.resize(ports);
  all.push_back(&its);
}

void Timeline::add(Channel channel, const std::vector<Flow>& flows) {
  Transfers& of = transfers(channel);
  for (const Flow& flow : flows) {
    const std::uint32_t number = *stream_number(machine_, flow.stream);
    const StreamConfig& stream = machine_.fabric.streams[number];
    Transfers::Move& moved = of.moves.emplace_back();
    moved.cycles = stream_cycles(stream, flow.bytes);
    pass(flow.from, number, stream.send_ports, true, moved.ports);
    for (const std::uint32_t to : flow.to)
      pass(to, number, stream.receive_ports, false, moved.ports);
    of.nodes.push_back(flow.from);
    of.nodes.insert(of.nodes.end(), flow.to.begin(), flow.to.end());
  }
  std::ranges::sort(of.nodes);
  of.nodes.erase(std::unique(of.nodes.begin(), of.nodes.end()), of.nodes.end());
  for (const std::uint32_t node : of.nodes) nodes_[node].works = true;
}

std::uint64_t Timeline::least(const std::function<std::uint64_t(Channel)>& transfers) const {
  std::map<const Ports*, std::uint64_t> streams;
  Time most = 0;
  for (Channel channel = 0; channel < channels_.size(); ++channel)
    for (const Transfers::Move& moved : channels_[channel].moves) {
      const Time cycles = transfers(channel) * moved.cycles;
      most = std::max(most, cycles);
      for (const Ports* const ports : moved.ports)
        most = std::max(most, ceil_div(++streams[ports], std::uint64_t{ports->size()}) * cycles);
    }
  return most;
}

/// Control code of a node without overlap: each start loads the address of its list and waits for
/// the transfer's end, so that later waits need no code.
void Timeline::add_blocking_control(std::uint32_t number) {
  const Time delay = tile_of(machine_, number).latency.load;
  Items all;
  for (Item& item : nodes_[number].items) {
    const bool starts = item.kind == Item::Kind::start;
    if (starts) item.cycles = delay + kLeastControl;
    all.push_back(item);
    if (starts) all.push_back({Item::Kind::wait, item.channel, kLeastControl});
  }
  nodes_[number].items = std::move(all);
}

/// Control code of the current items, as generated for a repeated part: if registers can hold the
/// addresses of all its lists they stay there, else they are loaded in batches.
void Timeline::add_control(std::uint32_t number) {
  Items& items = nodes_[number].items;
  constexpr std::size_t kMost = program::HeldLists::kMost;
  const auto lists_from = [&](std::size_t first) {
    std::vector<std::uint32_t> lists;
    for (std::size_t i = first; i < items.size() && lists.size() <= kMost; ++i)
      if (is_control(items[i])) add_once(lists, items[i].list);
    return lists;
  };
  const bool stay = lists_from(0).size() <= kMost;
  const Time delay = tile_of(machine_, number).latency.load;
  std::vector<std::uint32_t> held;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Item& item = items[i];
    if (!is_control(item)) continue;
    item.cycles = kLeastControl;
    if (item.kind == Item::Kind::wait) item.cycles += channels_[item.channel].barriers;
    if (stay || contains(held, item.list)) continue;
    held = lists_from(i);
    held.resize(std::min(held.size(), kMost));
    item.cycles += std::max<Time>(held.size(), delay);
  }
}

/// Advances a node to its next start, which is an event in time order, or to a wait for others.
void Timeline::go_on(std::uint32_t number) {
  Node& node = nodes_[number];
  for (;; ++node.at) {
    while (node.at == node.items.size()) {
      if (node.part == lists_->parts) return;
      node.items.clear();
      node.at = 0;
      if (number + 1 == nodes_.size())
        for (std::size_t level = 0; level < seen_.size(); ++level) skip(level);
      lists_->add(number, node.part++, node.items);
      tile_of(machine_, number).overlap ? add_control(number) : add_blocking_control(number);
    }
    const Item& item = node.items[node.at];
    if (item.kind == Item::Kind::start) {
      events_.emplace(node.time + item.cycles, number);
      return;
    }
    if (item.kind == Item::Kind::work || item.kind == Item::Kind::mark) {
      node.time += item.cycles;
      if (item.kind == Item::Kind::work) continue;
      marks_.resize(std::max<std::size_t>(marks_.size(), item.channel + std::size_t{1}));
      marks_[item.channel] = std::max(marks_[item.channel], node.time);
      continue;
    }
    const Transfers& awaited = channels_[item.channel];
    if (std::ranges::count(awaited.started, number) != 0) return;
    node.time = std::max(node.time + item.cycles, awaited.end);
  }
}

void Timeline::start(std::uint32_t number) {
  Node& node = nodes_[number];
  const Channel channel = node.items[node.at++].channel;
  node.time = now_;
  Transfers& of = channels_[channel];
  of.started.push_back(number);
  if (of.started.size() == of.nodes.size()) {
    move(of);
    of.started.clear();
    for (const std::uint32_t other : of.nodes) {
      const Node& its = nodes_[other];
      if (other != number && its.at < its.items.size() &&
          its.items[its.at].kind == Item::Kind::wait && its.items[its.at].channel == channel)
        go_on(other);
    }
  }
  go_on(number);
}

void Timeline::move(Transfers& transfers) const {
  transfers.end = now_;
  for (const Transfers::Move& each : transfers.moves) {
    Time begin = now_;
    std::vector<Time*> taken;
    for (Ports* const ports : each.ports) {
      taken.push_back(&*std::ranges::min_element(*ports));
      begin = std::max(begin, *taken.back());
    }
    for (Time* const port : taken) *port = begin + each.cycles;
    transfers.end = std::max(transfers.end, begin + each.cycles + machine_.fabric.fixed_cycles);
  }
}

/// The state that determines the future, relative to the current time and the last node's part.
std::vector<Timeline::Time> Timeline::state() const {
  std::vector<Time> all;
  const auto add = [&](Time time) { all.push_back(std::max(time, now_) - now_); };
  for (const Node& node : nodes_) {
    if (!node.works) continue;
    add(node.time);
    all.push_back(node.items.size() - node.at);
    all.push_back(Time{node.part} - nodes_.back().part);
  }
  for (const Transfers& transfers : channels_) {
    add(transfers.end);
    all.push_back(transfers.started.size());
    all.insert(all.end(), transfers.started.begin(), transfers.started.end());
  }
  for (const auto& [key, ports] : ports_)
    for (const Time free : ports) add(free);
  return all;
}

/// Skips groups of a level if the last node begins one in an earlier group's state, and all nodes
/// are within the groups that are alike.
void Timeline::skip(std::size_t level) {
  const std::uint64_t unit = lists_->lengths[level];
  const std::uint64_t around =
      level + 1 < lists_->lengths.size() ? lists_->lengths[level + 1] : lists_->parts;
  const std::uint64_t part = nodes_.back().part;
  if (part % around == 0) seen_[level].clear();
  if (part % unit != 0) return;
  const std::uint64_t begin = part / around * around + 2 * unit;
  const std::uint64_t end = std::min<std::uint64_t>(part / around * around + around, lists_->parts);
  std::uint64_t front = 0;
  for (const Node& node : nodes_) {
    if (node.works && node.part <= begin) return;
    front = std::max<std::uint64_t>(front, node.part);
  }
  if (front + 2 * unit > end) return;
  const auto [found, is_new] = seen_[level].try_emplace(state(), part, now_ + skipped_);
  if (is_new) return;
  const std::uint64_t period = part - found->second.first;
  const std::uint64_t times = (end - 2 * unit - front) / period;
  skipped_ += times * (now_ + skipped_ - found->second.second);
  for (Node& node : nodes_) node.part += static_cast<std::uint32_t>(times * period);
  for (std::size_t i = 0; i <= level; ++i) seen_[i].clear();
}

std::uint64_t Timeline::run(const Lists& lists) {
  lists_ = &lists;
  seen_.resize(lists.lengths.size());
  for (std::uint32_t number = 0; number < nodes_.size(); ++number)
    if (nodes_[number].works) go_on(number);
  while (!events_.empty()) {
    const auto [time, number] = events_.top();
    events_.pop();
    now_ = time;
    start(number);
  }
  Time end = 0;
  for (const Node& node : nodes_) end = std::max(end, node.time);
  return end + skipped_ + machine_.sync.chip_cycles;
}

}  // namespace tessera::arrays
