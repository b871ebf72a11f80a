#include "sim/engine/code.h"

#include <cstring>

#include "sim/base/errors.h"
#include "sim/engine/block_builder.h"
#include "sim/engine/handlers.h"
#include "sim/isa/decode.h"

namespace tessera::engine {

Code::Code(std::span<const std::byte> bytes, Role role, const TileConfig& tile, bool fuse,
           CodeCounts counts)
    : words_(bytes.size() / 4),
      timing_(role, tile),
      fuse_(fuse),
      counts_(counts.activity),
      profiled_(counts.profile && role == Role::worker),
      timed_(timing_.waits() || profiled_),
      passings_(timing_.distance(), timing_.branch_latency()) {
  if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), words_.size() * 4);
  for (Table& made : tables_) {
    made.entries = std::make_unique<std::atomic<const Op*>[]>(words_.size());
  }
}

const Op* Code::entry(Path path, std::uint32_t pc) const {
  if (pc % 4 == 0 && pc / 4 < words_.size()) {
    const Op* known = table(path).entries[pc / 4].load(std::memory_order_acquire);
    if (known != nullptr) return known;
  }
  return build(path, pc);
}

const Op* Code::build(Path path, std::uint32_t pc) const {
  const std::scoped_lock lock(mutex_);
  Table& known = table(path);
  const bool inside = pc % 4 == 0 && pc / 4 < words_.size();
  const auto stray = known.strays.find(pc);
  const Op* first = nullptr;
  if (inside) {
    first = known.entries[pc / 4].load(std::memory_order_relaxed);
  } else if (stray != known.strays.end()) {
    first = stray->second;
  }
  if (first != nullptr) return first;

  const HandlerSet& fast = timed_    ? timed_handlers()
                           : counts_ ? counting_handlers()
                                     : fast_handlers();
  const HandlerSet& handlers = path == Path::fast ? fast : checked_handlers();
  std::unique_ptr<Block> block = BlockBuilder(words_, timing_, handlers, fuse_, timed_).build(pc);
  first = block->ops.data();
  blocks_.emplace(first, std::move(block));
  if (inside) {
    known.entries[pc / 4].store(first, std::memory_order_release);
  } else {
    known.strays.emplace(pc, first);
  }
  return first;
}

isa::Instruction Code::instruction(std::uint32_t pc) const {
  const auto decoded = isa::decode(words_.at(pc / 4));
  check(decoded.has_value(), "engine: no instruction at {:#x}", pc);
  return *decoded;
}

Site Code::locate(const Op* op) const {
  if (op->edge != nullptr && op == &op->edge->stub) return {op->edge->pc, Cost{}};
  const std::scoped_lock lock(mutex_);
  auto after = blocks_.upper_bound(op);
  check(after != blocks_.begin(), "engine: an op outside of all blocks");
  const Block& block = *std::prev(after)->second;
  const auto index = static_cast<std::size_t>(op - block.ops.data());
  check(index < block.sites.size(), "engine: an op beyond its block");
  return block.sites[index];
}

void Code::each_edge(const std::function<void(const Edge&)>& visit) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [first, block] : blocks_)
    for (const Edge& edge : block->edges) visit(edge);
}

void Code::add_issue(std::uint32_t pc, const InstructionProfile& what) const {
  const std::scoped_lock lock(issues_mutex_);
  issues_[pc] += what;
}

Profile Code::issues() const {
  const std::scoped_lock lock(issues_mutex_);
  return issues_;
}

std::shared_ptr<const Code> predecode(std::span<const std::byte> bytes, Role role,
                                      const TileConfig& tile, CodeCounts counts) {
  return std::make_shared<const Code>(bytes, role, tile, true, counts);
}

}  // namespace tessera::engine
