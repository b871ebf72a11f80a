#include "models/timing/tile_walk.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/tile/shared_pipeline.h"
#include "sim/machine/nodes.h"

namespace tessera {
namespace {

constexpr std::uint32_t kReturnRegister = 1;
constexpr std::uint32_t kStackPointer = 2;
constexpr std::uint32_t kArgumentRegister = 10;
constexpr std::uint32_t kEveryWorker = 0xffffffff;

}  // namespace

std::size_t TileWalk::HashOfCall::operator()(const Call& call) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = std::uint64_t{call.pc} << 32 | call.argument;
  hash = hash * kOdd ^
         (std::uint64_t{call.registers} << 32 | call.flights << 16 | call.worker << 6 | call.block);
  return hash * kOdd >> 20;
}

TileWalk::TileWalk(const WalkedCode& code, const TileConfig& tile, const WalkedTile& holds,
                   WalkedCalls known)
    : code_(code),
      holds_(holds),
      image_(code.program.image()),
      tile_(tile),
      memory_(static_cast<std::uint32_t>(memory_bytes(tile))),
      summaries_(std::move(known)) {
  for (std::uint32_t i = 0; i < holds.lookable.size(); ++i)
    memory_.offer(holds.lookable[i].address, holds.lookable[i].bytes, i);
  memory_.know(0, image_.bytes);
  memory_.keep(0, static_cast<std::uint32_t>(image_.bytes.size()));
  for (const WalkedTile::Contents& contents : holds.known)
    memory_.know(contents.address, contents.bytes);
  for (const WalkedTile::Range& range : holds.kept) memory_.keep(range.address, range.bytes);
  // The walk reads list addresses from the first tile's table, though other tiles' differ.
  std::ranges::copy(holds.table.bytes, memory_.bytes() + holds.table.address);
  // Only the stack pointer is known: in a later run the registers hold what the previous run left.
  Registers none;
  none.known = 1;
  for (std::uint32_t worker = 0; worker < tile.contexts; ++worker) {
    none.known |= 1U << kStackPointer;
    none.x[kStackPointer] = worker_stack(image_, tile, worker);
    registers_.push_back(numbered_.of(none));
  }
}

std::optional<std::string> TileWalk::why(const engine::TaintWalk& walk, const std::string& who) {
  const engine::TaintWalk::Refusal& refusal = walk.refusal();
  wanted_ = refusal.lookable;
  return fmt::format("{}: {} at {}", who, refusal.what, code_.program.where(refusal.pc));
}

std::optional<std::string> TileWalk::run() {
  engine::Context context;
  context.integers = &integers_;
  context.workers = tile_.contexts;
  context.pc = image_.entry.count();
  engine::TaintWalk walk(code_.supervisor, context, memory_, sets_);
  walk.forget_registers();
  while (!ended_) {
    engine::Exit exit{};
    if (!walk.run(exit)) return why(walk, "supervisor");
    if (auto refusal = serve(exit)) return refusal;
  }
  for (const CallOutcome* outcome : outcomes_.values()) script_.outcomes.push_back(*outcome);
  for (const auto* calls : launches_.values()) script_.launches.push_back(outcome_of(*calls));
  return std::nullopt;
}

/// Records a launch: the last calls were one of each worker.
void TileWalk::note_launch() {
  script_.launched.push_back(
      launches_.of({script_.calls.end() - tile_.contexts, script_.calls.end()}));
}

LaunchOutcome TileWalk::outcome_of(const std::vector<std::uint32_t>& calls) const {
  LaunchOutcome outcome;
  for (const std::uint32_t call : calls) {
    const CallOutcome& one = script_.outcomes[call];
    outcome.all += one;
    outcome.slots.push_back(one.slots);
    outcome.most = std::max(outcome.most, one.slots);
  }
  return outcome;
}

std::optional<std::string> TileWalk::serve(const engine::Exit& exit) {
  using engine::Stop;
  switch (exit.stop) {
    case Stop::run:
      return launch(exit);
    case Stop::end_worker:
      ended_ = true;
      return std::nullopt;
    case Stop::exchange_start:
      return start(exit);
    case Stop::exchange_wait:
      wait(exit);
      return std::nullopt;
    case Stop::join:
      memory_.join(ran_.size() == 1);
      ran_.clear();
      return std::nullopt;
    case Stop::sync:
    case Stop::load_weights:
      return std::nullopt;
    default:
      return fmt::format("supervisor: what it may not do at {}", code_.program.where(exit.pc));
  }
}

template <class Use>
void TileWalk::for_each_received(std::uint32_t exchange, std::uint64_t start,
                                 const Use& use) const {
  auto each =
      std::ranges::lower_bound(holds_.received, exchange, {}, &WalkedTile::Received::exchange);
  for (; each != holds_.received.end() && each->exchange == exchange; ++each) {
    if (each->turns == nullptr) {
      use(each->range, false);
      continue;
    }
    const program::OuterTurn turn = program::turn_of(*each->turns, start);
    if (!turn.moves) continue;
    std::uint64_t address = each->range.address;
    for (std::size_t i = 0; i < each->steps.size(); ++i) address += turn.digits[i] * each->steps[i];
    use(WalkedTile::Range{static_cast<std::uint32_t>(address), each->bytes}, true);
  }
}

/// Marks that a start's bytes have arrived. Workers of a shared pipeline execute in the run, which
/// moves no bytes.
void TileWalk::bring(std::uint32_t exchange, std::uint64_t start) {
  const auto known = std::ranges::find(holds_.brought, exchange, &WalkedTile::Brought::exchange);
  if (known == holds_.brought.end()) {
    if (shares_pipeline(tile_)) return;
    const auto number = static_cast<std::uint32_t>(holds_.lookable.size()) + exchange;
    for_each_received(exchange, start, [&](const WalkedTile::Range& range, bool streamed) {
      if (streamed) memory_.offer_brought(range.address, range.bytes, number);
    });
    return;
  }
  if (start >= known->starts.size()) return;
  for (const Delivery& delivery : known->starts[start]) {
    std::span<const std::byte> bytes = *delivery.bytes;
    const std::uint32_t unit = delivery.to.unit;
    program::walk_units(
        delivery.to.extents, delivery.to.address,
        [&](std::uint64_t at) {
          memory_.bring(static_cast<std::uint32_t>(at), bytes.first(unit));
          bytes = bytes.subspan(unit);
        },
        [] {});
  }
}

void TileWalk::note_sent(std::uint64_t start) {
  if (sent_.size() != start) return;
  std::vector<std::vector<std::byte>> all;
  bool known = true;
  for (const StreamEnd& end : ends_at_(start)) {
    std::vector<std::byte>& bytes = all.emplace_back();
    program::walk_units(
        end.extents, end.address,
        [&](std::uint64_t at) {
          const auto address = static_cast<std::uint32_t>(at);
          known = known && memory_.read(address, end.unit, engine::TaintedMemory::Who::worker,
                                        sets_) == engine::kKnown;
          bytes.insert(bytes.end(), memory_.bytes() + address,
                       memory_.bytes() + address + end.unit);
        },
        [&] { bytes.resize(bytes.size() + end.unit); });
  }
  if (known) sent_.push_back(std::move(all));
}

std::optional<std::string> TileWalk::start(const engine::Exit& exit) {
  const auto list = std::ranges::find(holds_.lists, exit.operand[0], &WalkedTile::List::address);
  if (list == holds_.lists.end())
    return fmt::format("supervisor: an exchange of no list at {}", code_.program.where(exit.pc));
  const std::uint64_t start = started_[list->exchange]++;
  if (recorded_ == list->exchange) note_sent(start);
  for_each_received(list->exchange, start, [this](const WalkedTile::Range& range, bool) {
    memory_.receive(range.address, range.bytes);
  });
  flights_.insert(
      std::ranges::upper_bound(flights_, list->exchange, {}, &WalkedTile::List::exchange), *list);
  return std::nullopt;
}

void TileWalk::wait(const engine::Exit& exit) {
  const std::uint32_t list = exit.operand[0];
  for (const WalkedTile::List& flight : flights_)
    if (list == 0 || flight.address == list) {
      const std::uint64_t start = started_[flight.exchange] - 1;
      for_each_received(flight.exchange, start, [this](const WalkedTile::Range& range, bool) {
        memory_.land(range.address, range.bytes);
      });
      bring(flight.exchange, start);
    }
  std::erase_if(flights_, [list](const WalkedTile::List& flight) {
    return list == 0 || flight.address == list;
  });
}

std::uint32_t TileWalk::number_of_flights() {
  if (flights_.empty()) return 0;
  std::vector<std::uint32_t> exchanges;
  for (const WalkedTile::List& flight : flights_) exchanges.push_back(flight.exchange);
  return 1 + numbered_flights_.of(exchanges);
}

std::optional<std::string> TileWalk::launch(const engine::Exit& exit) {
  const std::uint32_t chosen = exit.operand[2];
  const std::uint32_t block = exit.operand[3];
  if ((chosen != kEveryWorker && chosen >= tile_.contexts) ||
      code_.program.worker(block) == nullptr)
    return fmt::format("supervisor: a run that faults at {}", code_.program.where(exit.pc));
  const std::uint32_t first = chosen == kEveryWorker ? 0 : chosen;
  const std::uint32_t last = chosen == kEveryWorker ? tile_.contexts : chosen + 1;
  const std::uint32_t flights = number_of_flights();
  for (std::uint32_t worker = first; worker < last; ++worker) {
    ran_.insert(worker);
    if (auto refusal =
            call({exit.operand[0], exit.operand[1], worker, block, registers_[worker], flights}))
      return refusal;
  }
  if (chosen == kEveryWorker && !shares_pipeline(tile_)) note_launch();
  return std::nullopt;
}

std::optional<std::string> TileWalk::call(const Call& call) {
  if (memory_.take_overwritten()) calls_.clear();
  auto found = calls_.find(call);
  if (found == calls_.end()) {
    Summaries& summaries = summaries_[{call.pc, call.worker, call.block}];
    std::optional<Followed> followed = summarised(call, summaries);
    if (!followed) {
      ++followed_;
      Registers after;
      std::optional<engine::CallSummary> summary;
      CallOutcome outcome;
      if (auto refusal = follow(call, after, summary)) return refusal;
      if (!shares_pipeline(tile_))
        if (auto refusal = measure(call, numbered_[call.registers], outcome)) return refusal;
      followed = Followed{outcomes_.of(outcome), numbered_.of(after)};
      if (summary && summaries.size() < kMostWalkedCalls)
        summaries.push_back(std::make_shared<WalkedCall>(WalkedCall{*std::move(summary), outcome}));
    }
    found = calls_.emplace(call, *followed).first;
  }
  registers_[call.worker] = found->second.registers;
  if (!shares_pipeline(tile_)) script_.calls.push_back(found->second.outcome);
  return std::nullopt;
}

/// Known registers at a call's begin: those that `run` sets and the worker's known ones.
TileWalk::Registers TileWalk::begun(const Call& call) const {
  Registers registers = numbered_[call.registers];
  registers.known |= 1U << kReturnRegister | 1U << kArgumentRegister;
  registers.x[kReturnRegister] = engine::kReturnAddress;
  registers.x[kArgumentRegister] = call.argument;
  return registers;
}

/// Looks for a summary that applies to the call, most recent first.
std::optional<TileWalk::Followed> TileWalk::summarised(const Call& call, Summaries& summaries) {
  const Registers before = begun(call);
  for (std::size_t i = summaries.size(); i-- > 0;) {
    const std::optional<Registers> after = summaries[i]->summary.apply(before, memory_, sets_);
    memory_.forget_own();
    if (!after) continue;
    std::swap(summaries[i], summaries.back());
    const auto [entry, is_new] = met_.try_emplace(summaries.back().get());
    Followed& last = entry->second;
    if (is_new) last.outcome = outcomes_.of(summaries.back()->outcome);
    if (is_new || numbered_[last.registers] != *after) last.registers = numbered_.of(*after);
    return last;
  }
  return std::nullopt;
}

std::optional<std::string> TileWalk::follow(const Call& call, Registers& registers,
                                            std::optional<engine::CallSummary>& summary) {
  constexpr std::uint32_t kFlags = 5;  // below the rounding mode
  engine::Context context;
  context.integers = &integers_;
  context.worker = call.worker;
  context.workers = tile_.contexts;
  context.pc = call.pc;
  engine::TaintWalk walk(code_.worker, context, memory_, sets_);
  walk.forget_registers();
  const Registers before = begun(call);
  for (std::uint32_t i = 1; i < engine::kRegisters; ++i)
    if ((before.known >> i & 1U) != 0) walk.know(i, before.x[i]);
  engine::CallRecorder recorder(context.x, before.known);
  walk.record(recorder);
  if (shares_pipeline(tile_)) walk.refuse_loads_anywhere();
  const std::string who = fmt::format("worker {}", call.worker);
  engine::Exit end{};
  memory_.forget_replaced();
  if (!walk.run(end)) return why(walk, who);
  const std::uint32_t stack = worker_stack(image_, tile_, call.worker);
  const bool leaves_known = memory_.leave_own(stack - tile_.worker_stack_bytes, stack);
  // Reused calls would not report that they write there too.
  if (leaves_known) calls_.clear();
  if (end.stop != engine::Stop::end_worker)
    return fmt::format("{}: what it may not do at {}", who, code_.program.where(end.pc));
  // Later calls rely on the rounding mode.
  if ((context.fcsr >> kFlags) != 0)
    return fmt::format("{}: another rounding mode at {}", who, code_.program.where(end.pc));
  registers = {};
  for (std::uint32_t i = 0; i < engine::kRegisters; ++i) {
    if (!walk.knows(i)) continue;
    registers.known |= 1U << i;
    registers.x[i] = context.x[i];
  }
  // A call whose results others may read gets no summary.
  if (!leaves_known) summary = recorder.finish(registers.known);
  return std::nullopt;
}

/// Executes the walked call. Its time is independent of the unknown values, but a load at an
/// unknown address may fault: then another placeholder value is tried.
std::optional<std::string> TileWalk::measure(const Call& call, const Registers& before,
                                             CallOutcome& outcome) {
  constexpr std::uint32_t kAlign = 64;
  const std::uint32_t amid = memory_.size() / 4 / kAlign * kAlign;
  std::optional<std::string> fault = measure(call, before, 0, outcome);
  if (fault) {
    memory_.clear_unknown();
    fault = measure(call, before, 0, outcome);
  }
  if (fault) fault = measure(call, before, amid, outcome);
  return fault;
}

/// `unknown`: value of unknown registers.

std::optional<std::string> TileWalk::measure(const Call& call, const Registers& before,
                                             std::uint32_t unknown, CallOutcome& outcome) {
  outcome = {};
  memory_.restore_replaced();
  if (!workers_) workers_.emplace(tile_, image_, TileId{}, 0);
  engine::Context& context = workers_->contexts[call.worker];
  std::copy(before.x.begin(), before.x.end(), context.x);
  for (std::uint32_t i = 1; i < engine::kRegisters; ++i)
    if ((before.known >> i & 1U) == 0) context.x[i] = unknown;
  context.x[kReturnRegister] = engine::kReturnAddress;
  context.x[kArgumentRegister] = call.argument;
  context.pc = call.pc;
  context.slots = context.pairs = context.instructions = context.flops = 0;
  context.pipeline_state = nullptr;
  std::fill(std::begin(context.waits), std::end(context.waits), 0);
  const engine::TileMemory memory{memory_.bytes(), memory_.size(), code_.program.code_bytes(),
                                  workers_->weights.data()};
  session_.count_activity(&outcome.activity);
  const engine::Exit exit =
      session_.run(*code_.program.worker(call.block), context, memory, UINT64_MAX);
  session_.settle_activity();
  if (exit.stop != engine::Stop::end_worker)
    return fmt::format("worker {}: a fault at {}", call.worker, code_.program.where(exit.pc));
  outcome.slots = context.slots;
  outcome.pairs = context.pairs;
  std::copy(std::begin(context.waits), std::end(context.waits), outcome.waits.begin());
  outcome.instructions = context.instructions;
  outcome.flops = context.flops;
  return std::nullopt;
}

}  // namespace tessera
