#include "models/tile/workers.h"

#include <algorithm>

#include "models/tile/tile_fault.h"

namespace tessera {
namespace {

constexpr std::uint32_t kReturn = 1;
constexpr std::uint32_t kArgument = 10;
constexpr std::uint32_t kSettled = ~0U;

}  // namespace

Workers::Workers(const TileSettings& settings, const TileProgram& program, TileId tile,
                 SharedPipeline* pipeline, WorkerDma* dma)
    : settings_(settings),
      program_(program),
      pipeline_(pipeline),
      dma_(dma),
      requests_(settings.tile.contexts),
      own_(settings.tile, program.image(), tile, settings.seed),
      codes_(settings.tile.contexts, &program.worker()),
      free_at_(settings.tile.contexts),
      progress_(settings.tile.contexts),
      started_(settings.tile.contexts, kSettled) {}

void Workers::start(const Launch& launch, const Host& host) {
  engine::Context& context = own_.contexts[launch.worker];
  context.pc = launch.pc;
  context.x[kArgument] = launch.argument;
  context.x[kReturn] = engine::kReturnAddress;
  context.superstep = launch.superstep;
  context.profiled = launch.profiled;
  context.base_cycle = launch.at.count();
  context.slots = 0;
  context.pairs = 0;
  context.pipeline_state = nullptr;
  std::fill(std::begin(context.waits), std::end(context.waits), 0);
  started_[launch.worker] = launch.pc;
  codes_[launch.worker] = launch.code;
  if (pipeline_ == nullptr) return run_alone(launch, host);
  progress_[launch.worker] = run_piece(launch.worker, host);
  pipeline_->start(launch.worker, launch.at, true, more(host));
}

/// Runs a worker with its own slots to its end, at a fixed number of cycles per slot.
void Workers::run_alone(const Launch& launch, const Host& host) {
  const std::uint32_t worker = launch.worker;
  const Cycle at = launch.at;
  const std::uint64_t pace = program_.worker().timing().cycles_per_slot();
  const Cycle left = at < settings_.max_cycles ? settings_.max_cycles - at : Cycle(0);
  const engine::Exit exit = execute_or_replay(launch, left.count() / pace + 1, host);
  check_end(worker, exit, host);
  if (exit.stop == engine::Stop::limit) {
    endless_.push_back(worker);
    work_.within_limit = false;
  }
  const engine::Context& context = own_.contexts[worker];
  free_at_[worker] = at + Cycle(context.slots * pace);
  CallOutcome took{.slots = context.slots, .pairs = context.pairs};
  std::copy(std::begin(context.waits), std::end(context.waits), took.waits.begin());
  account(started_[worker], took);
  started_[worker] = kSettled;
}

/// Adds a call's slots to the stalls of the codelet at `pc`.
void Workers::account(std::uint32_t pc, const CallOutcome& took) {
  const std::uint64_t pace = program_.worker().timing().cycles_per_slot();
  Stalls& stalls = stalls_of(pc);
  std::uint64_t issues = took.slots;
  for (std::size_t i = 0; i < engine::kCauses; ++i) {
    stalls.cycles[Stalls::load + i] += took.waits[i] * pace;
    issues -= took.waits[i];
  }
  stalls.cycles[Stalls::issued] += issues - took.pairs;
  stalls.cycles[Stalls::paired] += took.pairs;
  stalls.cycles[Stalls::arbitration] += issues * (pace - 1);
}

bool Workers::start_all(std::uint32_t pc, Cycle at, Cycle stagger, const Host& host) {
  if (script_ == nullptr || next_launch_ >= script_->launched.size()) return false;
  const LaunchOutcome& known = script_->launches[script_->launched[next_launch_++]];
  const std::uint64_t pace = program_.worker().timing().cycles_per_slot();
  if (at + stagger * count() + Cycle(known.most * pace) > settings_.max_cycles) return false;
  next_call_ += count();
  count(known.all, host);
  account(pc, known.all);
  for (std::uint32_t worker = 0; worker < count(); ++worker, at += stagger)
    free_at_[worker] = at + Cycle(known.slots[worker] * pace);
  return true;
}

void Workers::count(const CallOutcome& known, const Host& host) {
  work_.instructions += known.instructions;
  work_.flops += known.flops;
  isa::ActivityCounts* const counts = host.session.activity();
  for (std::size_t i = 0; counts != nullptr && i < counts->size(); ++i)
    (*counts)[i] += known.activity[i];
}

/// With a script the call's time is known; the run's limit then stops the whole call.
engine::Exit Workers::execute_or_replay(const Launch& launch, std::uint64_t limit,
                                        const Host& host) {
  if (script_ == nullptr) return execute(launch.worker, limit, host);
  check(next_call_ < script_->calls.size(), "tile {}: a call that nobody has followed",
        own_.contexts[launch.worker].tile);
  const CallOutcome& known = script_->outcomes[script_->calls[next_call_++]];
  engine::Context& context = own_.contexts[launch.worker];
  context.slots = std::min(known.slots, limit);
  context.pairs = known.pairs;
  std::copy(known.waits.begin(), known.waits.end(), context.waits);
  count(known, host);
  const engine::Stop stop = known.slots < limit ? engine::Stop::end_worker : engine::Stop::limit;
  return {stop, engine::Fault::none, 0, 0, {}};
}

engine::Exit Workers::execute(std::uint32_t worker, std::uint64_t limit, const Host& host) {
  engine::Context& context = own_.contexts[worker];
  const std::uint64_t instructions = context.instructions;
  const std::uint64_t flops = context.flops;
  const engine::Code& code = *codes_[worker];
  const engine::Exit exit =
      host.races == nullptr
          ? host.session.run(code, context, host.memory, limit)
          : host.session.run_recording(code, context, host.memory, limit, host.races->log(worker));
  work_.instructions += context.instructions - instructions;
  work_.flops += context.flops - flops;
  return exit;
}

/// Throws if the worker stopped at an operation that it may not perform.
void Workers::check_end(std::uint32_t worker, const engine::Exit& exit, const Host& host) const {
  const engine::Context& context = own_.contexts[worker];
  if (exit.stop != engine::Stop::limit && exit.stop != engine::Stop::end_worker)
    throw fault(context, exit);
  check_races(worker, host);
}

void Workers::check_races(std::uint32_t worker, const Host& host) const {
  if (host.races == nullptr) return;
  const engine::Context& context = own_.contexts[worker];
  if (const auto conflict = host.races->check_worker(worker))
    throw tile_fault(program_, TileId{context.tile}, context_name(engine::Role::worker, worker),
                     started_[worker], *conflict);
}

/// Executes a piece ahead of its issues; bounded so that traces stay short.
Workers::Progress Workers::run_piece(std::uint32_t worker, const Host& host) {
  constexpr std::uint64_t kPiece = 1U << 16;
  host.session.trace_issues(&pipeline_->trace(worker));
  const engine::Exit exit = execute(worker, kPiece, host);
  if (exit.stop == engine::Stop::read_cycle) return Progress::reads_cycle;
  if (exit.stop == engine::Stop::dma && dma_ != nullptr) {
    ask_dma(worker, exit, host);
    return Progress::starts_transfer;
  }
  check_end(worker, exit, host);
  return exit.stop == engine::Stop::limit ? Progress::paused : Progress::ended;
}

/// Takes the operands of `ldma` or `sdma`; the transfer starts when the instruction has issued.
void Workers::ask_dma(std::uint32_t worker, const engine::Exit& exit, const Host& host) {
  const auto [local, address, bytes, outward] = exit.operand;
  const WorkerDma::Request request{local, address, bytes, outward != 0};
  if (const auto refused = dma_->refused(request))
    throw tile_fault(program_, TileId{own_.contexts[worker].tile},
                     context_name(engine::Role::worker, worker), exit.pc, *refused);
  requests_[worker] = request;
  if (host.races == nullptr) return;
  engine::AccessLog& inside = host.races->log(worker);
  engine::AccessLog& outside = host.races->outer_log(worker);
  outward != 0 ? inside.read(local, bytes) : inside.write(local, bytes);
  outward != 0 ? outside.write(address, bytes) : outside.read(address, bytes);
  check_races(worker, host);
}

SharedPipeline::Then Workers::go_on(std::uint32_t worker, Cycle at, Cycle end, const Host& host) {
  using Then = SharedPipeline::Then;
  Progress& progress = progress_[worker];
  if (progress == Progress::ended) return Then::ends;
  if (at > settings_.max_cycles) {
    endless_.push_back(worker);
    work_.within_limit = false;
    return Then::ends;
  }
  if (progress == Progress::starts_transfer) {
    dma_->start(worker, end, requests_[worker]);
    progress = Progress::waits;
    return Then::waits;
  }
  if (progress == Progress::reads_cycle)
    engine::Session::finish_cycle_read(*codes_[worker], own_.contexts[worker], at.count());
  progress = run_piece(worker, host);
  return Then::goes_on;
}

SharedPipeline::More Workers::more(const Host& host) {
  return [this, host](std::uint32_t worker, Cycle at, Cycle end) {
    return go_on(worker, at, end, host);
  };
}

/// Determines the worker's end, if not yet known.
void Workers::settle(std::uint32_t worker, const Host& host) {
  if (started_[worker] == kSettled) return;
  free_at_[worker] = pipeline_->finish(worker, more(host));
  stalls_of(started_[worker]) += pipeline_->take_stalls(worker);
  started_[worker] = kSettled;
}

Cycle Workers::free_at(std::uint32_t worker, const Host& host) {
  settle(worker, host);
  return free_at_[worker];
}

Cycle Workers::all_free_at(const Host& host) {
  if (pipeline_ != nullptr)
    for (std::uint32_t worker = 0; worker < count(); ++worker) settle(worker, host);
  return *std::max_element(free_at_.begin(), free_at_.end());
}

bool Workers::busy_at(Cycle time, const Host& host) {
  if (pipeline_ != nullptr && pipeline_->busy_at(time, more(host))) return true;
  return all_free_at(host) > time;
}

Stalls& Workers::stalls_of(std::uint32_t pc) {
  for (CodeletStalls& each : stalls_)
    if (each.pc == pc) return each.open;
  return stalls_.emplace_back(CodeletStalls{pc, {}, {}}).open;
}

void Workers::close_stalls(bool measured) {
  for (CodeletStalls& each : stalls_) {
    if (measured) each.measured += each.open;
    each.open = {};
  }
}

UserError Workers::fault(const engine::Context& context, const engine::Exit& exit) const {
  const std::string name = context_name(engine::Role::worker, context.worker);
  const TileId tile{context.tile};
  if (exit.stop == engine::Stop::fault) return tile_fault(program_, tile, name, exit);
  if (exit.stop == engine::Stop::dma)
    return tile_fault(program_, tile, name, exit.pc,
                      "workers do not reach external memory (machine.external.worker_dma)");
  return tile_fault(program_, tile, name, exit.pc,
                    "instruction that only a supervisor may execute");
}

std::string Workers::endless() const {
  if (endless_.empty()) return {};
  const std::uint32_t worker = endless_.front();
  return fmt::format("worker {} running at cycle {}, pc {}", worker, free_at_[worker].count(),
                     program_.where(own_.contexts[worker].pc));
}

}  // namespace tessera
