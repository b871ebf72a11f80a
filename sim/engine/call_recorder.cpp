#include "sim/engine/call_recorder.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace tessera::engine {
namespace {

using isa::Mnemonic;

constexpr std::size_t kMostStores = 1 << 20;
constexpr std::size_t kMostRows = 512;  // of evenly spaced stores
constexpr std::size_t kMostReadBack = 512;
constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kFarthest = 64;  // maximum bytes one instruction accesses from an address

std::uint32_t distance(std::uint32_t a, std::uint32_t b) { return a < b ? b - a : a - b; }

template <class Use>
void for_each_register(std::uint32_t registers, const Use& use) {
  for (; registers != 0; registers &= registers - 1)
    use(static_cast<std::uint32_t>(std::countr_zero(registers)));
}

}  // namespace

CallRecorder::CallRecorder(const std::uint32_t* x, std::uint32_t known) : x_(x) {
  summary_.known_before_ = known;
  for_each_register(known & ~1U, [&](std::uint32_t reg) {
    Node node;
    node.kind = Node::Kind::input;
    node.base = static_cast<std::uint16_t>(reg);
    node.value = x[reg];
    node_of_[reg] = add(node);
  });
}

std::uint16_t CallRecorder::add(const Node& node) {
  if (summary_.nodes_.size() == CallSummary::kMostNodes) {
    left_out_ = true;
    return 0;
  }
  summary_.nodes_.push_back(node);
  return static_cast<std::uint16_t>(summary_.nodes_.size() - 1);
}

/// Numbers that affect the path count as constants: their node is 0.
std::uint16_t CallRecorder::node_of(std::uint32_t reg) {
  const std::uint16_t node = node_of_[reg];
  return summary_.nodes_[node].decides ? std::uint16_t{0} : node;
}

void CallRecorder::decide(std::uint32_t registers) {
  for_each_register(registers, [this](std::uint32_t reg) { decide_node(node_of_[reg]); });
}

void CallRecorder::compare(Mnemonic mnemonic, std::uint32_t first, std::uint32_t second) {
  const std::uint16_t a = node_of(first);
  const std::uint16_t b = node_of(second);
  fix_distance(a, b);
  if (a == 0 || b == 0) return;
  if (mnemonic == Mnemonic::beq || mnemonic == Mnemonic::bne) return;
  for (const auto& [reg, number] : {std::pair(first, a), std::pair(second, b)}) {
    Node& node = summary_.nodes_[number];
    const std::int64_t offset = std::int64_t{x_[reg]} - node.value;
    node.compared.add(offset, offset);
  }
}

void CallRecorder::arithmetic(Mnemonic mnemonic, const Op& op, std::uint32_t reads) {
  const std::uint16_t a = node_of(op.rs1);
  const std::uint16_t b = node_of(op.rs2);
  std::uint16_t result = 0;
  switch (mnemonic) {
    case Mnemonic::addi:
      result = a;
      break;
    case Mnemonic::add:
      result = sum(op.rs1, op.rs2);
      break;
    case Mnemonic::sub:
      if (b == 0) result = a;
      if (b == 0 || a == b) break;
      if (a == 0) {
        decide_node(b);
        break;
      }
      result = add({.kind = Node::Kind::difference,
                    .base = a,
                    .other = b,
                    .value = summary_.nodes_[a].value - summary_.nodes_[b].value});
      break;
    case Mnemonic::sh1add:
    case Mnemonic::sh2add:
    case Mnemonic::sh3add:
      decide_node(a);
      result = a == b ? std::uint16_t{0} : b;
      break;
    default:
      decide(reads);
      break;
  }
  node_of_[op.rd] = op.rd == 0 ? std::uint16_t{0} : result;
}

/// The node of a sum: the larger operand is taken as an address, the other as a distance.
std::uint16_t CallRecorder::sum(std::uint32_t first, std::uint32_t second) {
  const std::uint16_t a = node_of(first);
  const std::uint16_t b = node_of(second);
  if (a == 0 || b == 0) return a != 0 ? a : b;
  const bool is_first = x_[first] >= x_[second];
  decide_node(is_first ? b : a);
  return is_first ? a : b;
}

void CallRecorder::begin_access(std::span<const std::uint8_t> bases, std::uint32_t others,
                                bool moves) {
  bases_ = bases;
  begins_.clear();
  loaded_ = 0;
  for (const std::uint8_t reg : bases) begins_.push_back(x_[reg]);
  if (!moves) return decide(others);
  for_each_register(others, [&](std::uint32_t by) {
    for (std::size_t i = 0; i < bases.size(); ++i) {
      node_of_[bases[i]] = sum(bases[i], by);
      begins_[i] += x_[by];
    }
  });
}

/// The node of an address: of the only base register, or of the one with a value near it.
std::uint16_t CallRecorder::base_of(std::uint32_t address) {
  if (bases_.size() == 1) return node_of(bases_.front());
  std::optional<std::uint16_t> found;
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    if (distance(address, begins_[i]) > kFarthest) continue;
    const std::uint16_t node = node_of(bases_[i]);
    if (found) fix_distance(*found, node);
    found = found.value_or(node);
  }
  left_out_ |= !found;
  return found.value_or(std::uint16_t{0});
}

/// Notes that the path depends on the distance of these two nodes.
void CallRecorder::fix_distance(std::uint16_t a, std::uint16_t b) {
  if (a == b) return;
  if (a == 0 || b == 0) return decide_node(a), decide_node(b);
  if (!fixed_.insert({a, b}).second) return;
  add({.kind = Node::Kind::difference,
       .decides = true,
       .base = a,
       .other = b,
       .value = summary_.nodes_[a].value - summary_.nodes_[b].value});
}

void CallRecorder::note(std::uint16_t base, std::uint32_t address, std::uint32_t bytes,
                        bool stores) {
  Node& node = summary_.nodes_[base];
  const std::int64_t offset = std::int64_t{address} - node.value;
  node.widest = std::max(node.widest, static_cast<std::uint8_t>(bytes));
  node.accessed.add(offset, offset + bytes);
  if (stores) node.stored.add(offset, offset + bytes);
}

void CallRecorder::load(std::uint32_t address, std::uint32_t bytes) {
  if (left_out_) return;
  note(base_of(address), address, bytes, false);
}

void CallRecorder::load_known(std::uint32_t address, std::uint32_t bytes, bool extends_sign,
                              std::uint32_t value, bool decides) {
  if (left_out_) return;
  const std::uint16_t base = base_of(address);
  const std::uint32_t offset = address - summary_.nodes_[base].value;
  note(base, address, bytes, false);
  const auto own = own_.find(address / kWordBytes * kWordBytes);
  if (own != own_.end()) {
    left_out_ |= !own->second.whole || bytes != kWordBytes;
    loaded_ = own->second.node;
    if (decides) decide_node(loaded_);
    summary_.own_.push_back({base, static_cast<std::uint8_t>(bytes), offset});
    left_out_ |= summary_.own_.size() > kMostReadBack;
    return;
  }
  const auto [known, is_new] = read_.try_emplace(
      {std::uint64_t{base} << 32 | offset, bytes << 1 | std::uint32_t{extends_sign}});
  if (is_new)
    known->second = add({.kind = Node::Kind::load,
                         .extends_sign = extends_sign,
                         .bytes = static_cast<std::uint8_t>(bytes),
                         .base = base,
                         .offset = offset,
                         .value = value});
  loaded_ = known->second;
  if (decides) decide_node(loaded_);
}

void CallRecorder::loaded(std::uint32_t reg) {
  node_of_[reg] = reg == 0 ? std::uint16_t{0} : loaded_;
}

void CallRecorder::store(std::uint32_t address, std::uint32_t bytes,
                         std::optional<std::uint32_t> reg) {
  if (left_out_) return;
  const std::uint16_t base = base_of(address);
  note(base, address, bytes, true);
  if (reg || !own_.empty()) {
    for (std::uint32_t word = address / kWordBytes * kWordBytes; word < address + bytes;
         word += kWordBytes) {
      if (reg)
        own_[word] = {bytes == kWordBytes, node_of(*reg)};
      else
        own_.erase(word);
    }
  }
  const std::uint32_t offset = address - summary_.nodes_[base].value;
  add_store({.base = base, .known = reg.has_value(), .offset = offset, .bytes = bytes});
}

/// Adds a store; most continue one of the last few.
void CallRecorder::add_store(const CallSummary::Stores& store) {
  constexpr std::size_t kFew = 8;
  for (std::size_t i = stores_.size(); i-- > stores_.size() - std::min(stores_.size(), kFew);)
    if (stores_[i].takes(store)) return;
  left_out_ |= stores_.size() == kMostStores;
  stores_.push_back(store);
}

/// Merges adjacent stores, and evenly spaced ones into rows: their order does not affect what is
/// known after the call.
void CallRecorder::join_stores() {
  using Stores = CallSummary::Stores;
  std::ranges::sort(stores_, {}, [](const Stores& one) {
    return std::tuple(one.base, one.known, static_cast<std::int32_t>(one.offset));
  });
  std::vector<Stores> joined;
  for (const Stores& one : stores_)
    if (joined.empty() || !joined.back().takes(one)) joined.push_back(one);
  for (const Stores& one : joined) {
    Stores* const last = summary_.stores_.empty() ? nullptr : &summary_.stores_.back();
    const std::uint32_t from = last != nullptr ? one.offset - last->offset : 0;
    if (last != nullptr && last->base == one.base && last->known == one.known &&
        last->bytes == one.bytes && (last->count == 1 || from == last->stride * last->count)) {
      if (last->count == 1) last->stride = from;
      ++last->count;
    } else {
      summary_.stores_.push_back(one);
    }
  }
  left_out_ |= summary_.stores_.size() > kMostRows;
}

std::optional<CallSummary> CallRecorder::finish(std::uint32_t known) {
  if (!left_out_) join_stores();
  if (left_out_) return std::nullopt;
  for (std::size_t node = 0; node < summary_.nodes_.size(); ++node)
    if (!summary_.nodes_[node].stored.empty())
      summary_.storing_.push_back(static_cast<std::uint16_t>(node));
  summary_.kept_ = ~(summary_.read_ | written_);
  summary_.known_after_ = known & ~summary_.kept_;
  for_each_register(summary_.known_after_, [this](std::uint32_t reg) {
    const std::uint16_t node = node_of(reg);
    summary_.left_[reg] = {node, x_[reg] - summary_.nodes_[node].value};
  });
  return std::move(summary_);
}

}  // namespace tessera::engine
