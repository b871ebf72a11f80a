#include "sim/engine/code.h"

#include <cstring>

#include "sim/base/errors.h"
#include "sim/engine/block_builder.h"
#include "sim/engine/handlers.h"
#include "sim/engine/native/translator.h"
#include "sim/isa/decode.h"

namespace tessera::engine {

Code::Code(std::span<const std::byte> bytes, Role role, const TileConfig& tile, bool streams,
           CodeCounts counts)
    : words_(bytes.size() / 4),
      timing_(role, tile),
      streams_(streams),
      counts_(counts.activity),
      profiled_(counts.profile && role == Role::worker),
      timed_(timing_.waits() || profiled_),
      transitions_(timing_.distance(), timing_.branch_latency()) {
  if (!words_.empty()) std::memcpy(words_.data(), bytes.data(), words_.size() * 4);
  for (Table& made : tables_) {
    made.entries = std::make_unique<std::atomic<const Op*>[]>(words_.size());
  }
  if (counts.engine == Engine::native && native_available() && streams && !profiled_)
    translator_ =
        std::make_unique<native::Translator>(handlers(Path::fast), counts_ || timed_, timed_);
}

Code::~Code() = default;

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

  std::unique_ptr<Block> block =
      BlockBuilder(words_, timing_, handlers(path), streams_, timed_).build(pc);
  first = block->ops.data();
  if (translator_ != nullptr && path == Path::fast) {
    for (const Edge& edge : block->edges) {  // loops are linked
      if (const Op* const target = edge.taken()) incoming_[target].push_back(&edge);
    }
  }
  blocks_.emplace(first, std::move(block));
  if (inside) {
    known.entries[pc / 4].store(first, std::memory_order_release);
  } else {
    known.strays.emplace(pc, first);
  }
  return first;
}

const HandlerSet& Code::handlers(Path path) const {
  if (path == Path::checked) return checked_handlers();
  if (timed_) return timed_handlers();
  return counts_ ? counting_handlers() : fast_handlers();
}

isa::Instruction Code::instruction(std::uint32_t pc) const {
  const auto decoded = isa::decode(words_.at(pc / 4));
  check(decoded.has_value(), "engine: no instruction at {:#x}", pc);
  return *decoded;
}

Site Code::locate(const Op* op) const {
  if (op->edge != nullptr && op == &op->edge->stub) return {op->edge->pc, Cost{}};
  const std::scoped_lock lock(mutex_);
  if (translator_ != nullptr) op = translator_->original(op);
  const Block& block = block_of(op);
  const auto index = static_cast<std::size_t>(op - block.ops.data());
  check(index < block.sites.size(), "engine: an op beyond its block");
  return block.sites[index];
}

Done Code::done_before(const Op* op) const {
  if (op->edge != nullptr && op == &op->edge->stub) return {};
  const std::scoped_lock lock(mutex_);
  if (translator_ != nullptr) op = translator_->original(op);
  const Block& block = block_of(op);
  const auto index = static_cast<std::size_t>(op - block.ops.data());
  Done done;
  const auto count = static_cast<std::size_t>(instructions_of(block.sites.at(index).before.work));
  for (std::size_t i = index - count; i < index; ++i)
    done.add(timing_.done(instruction(block.sites[i].pc)));
  return done;
}

/// The block that holds `op`.
const Block& Code::block_of(const Op* op) const {
  auto after = blocks_.upper_bound(op);
  check(after != blocks_.begin(), "engine: an op outside of all blocks");
  return *std::prev(after)->second;
}

const Op* Code::link(const Edge& edge, Path path) const {
  const Op* const op = entry(path, edge.pc);
  const std::scoped_lock lock(mutex_);
  if (const Op* const known = edge.taken()) return known;
  const Op* const now = translator_ != nullptr ? translator_->entry(op) : op;
  edge.target.store(now, std::memory_order_release);
  if (translator_ != nullptr && path == Path::fast)
    incoming_[translator_->original(op)].push_back(&edge);
  return now;
}

/// Redirects all links to `op`, an original Op, to `entry`.
void Code::replace(const Op* op, const Op* entry) const {
  for (const Edge* edge : incoming_[op]) edge->target.store(entry, std::memory_order_release);
  const Block& block = block_of(op);
  const std::uint32_t pc = block.sites.front().pc;
  if (op == block.ops.data() && pc % 4 == 0 && pc / 4 < words_.size())
    table(Path::fast).entries[pc / 4].store(entry, std::memory_order_release);
}

native::Continuation Code::met(const Op* op, const PipelineState* pipeline_state,
                               const Frame& frame) const {
  if (op->edge != nullptr && op == &op->edge->stub) return {op};  // its block is not known yet
  const std::scoped_lock lock(mutex_);
  const native::Sighting meeting{op, pipeline_state, frame.size, frame.code_end};
  const Table& known = table(Path::fast);
  const native::RegionContext code{
      .block_of = [&](const Op* each) -> const Block& { return block_of(each); },
      .original = [&](const Op* each) { return translator_->original(each); },
      .entry = [&](std::uint32_t pc) -> const Op* {
        if (pc % 4 != 0 || pc / 4 >= words_.size()) return nullptr;
        return translator_->original(known.entries[pc / 4].load(std::memory_order_relaxed));
      },
      .instruction = [&](std::uint32_t pc) { return instruction(pc); },
      .transition =
          timed_ ? [&](const Edge& edge, const PipelineState* from) -> const PipelineTransition& {
        return transitions_.find(edge, from);
      }
      : std::function<const PipelineTransition&(const Edge&, const PipelineState*)>{},
      .handlers = &handlers(Path::fast)};
  return translator_->met(meeting, code,
                          [this](const Op* from, const Op* to) { replace(from, to); });
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
