#include "sim/trace/run_trace.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/report/units.h"
#include "sim/trace/perfetto_trace.h"
#include "sim/trace/vcd_trace.h"

namespace tessera::trace {
namespace {

namespace fs = std::filesystem;

template <class Kind>
std::unique_ptr<Format> make(std::ostream& out, const Settings& settings) {
  return std::make_unique<Kind>(out, settings);
}

struct Kind {
  const char* name;
  TraceFile::MakeFormat make;
};
constexpr std::array<Kind, 2> kKinds = {
    {{"trace.pftrace", make<PerfettoTrace>}, {"trace.vcd", make<VcdTrace>}}};

}  // namespace

RunTrace::RunTrace(const Settings& settings, const program::Images& images,
                   const std::string& folder)
    : images_(images), settings_(settings), folder_(folder), logs_(settings.machine_tiles) {
  for (const Kind& kind : kKinds) files_.emplace_back(folder, kind.name, settings, kind.make);
  for (const std::string_view state : kStateNames) name(state);
  lanes_.assign(settings.machine_tiles, kNoLane);
  Lane lane = 0;
  for (const TileId tile : settings.tiles) {
    log(tile).wants_workers = settings.workers;
    lanes_[index(tile)] = lane;
    lane += settings.lanes_a_tile();
  }
  wants_tiles_ = !settings.tiles.empty();
}

void RunTrace::remove_files(const std::string& folder) {
  std::error_code absent;
  for (const Kind& kind : kKinds) fs::remove(fs::path(folder) / kind.name, absent);
}

void RunTrace::transfer(Cycle begin, Cycle done, Bytes bytes, program::Carrier carrier) {
  constexpr std::array kInFlight{Counter::bytes_in_flight, Counter::external_in_flight,
                                 Counter::host_in_flight};  // by carrier
  const auto amount = static_cast<std::int64_t>(bytes.count());
  StepCounter& its = counter(kInFlight[static_cast<std::size_t>(carrier)]);
  its.change(begin, amount);
  its.change(done, -amount);
}

void RunTrace::exchanged(std::span<const Transfer> transfers) {
  for (const Transfer& each : transfers) {
    const Lane lane = lanes_[index(each.to)];
    if (lane != kNoLane) transfers_.push_back({each.begin, each.end, lane, each.from, each.bytes});
  }
}

void RunTrace::close(const SuperstepRecord& record, bool measured) {
  // Earlier events may still belong to the superstep that has just ended, not to others.
  take_counters(record.start);
  Name step = name("no step");
  if (record.program_step < images_.steps.size()) {
    const program::StepInfo& info = images_.steps[record.program_step];
    step = name(info.name);
    const auto live = static_cast<std::int64_t>(info.live_bytes);
    if (live != sram_in_use_)
      counter(Counter::sram_in_use).change(record.start, live - sram_in_use_);
    sram_in_use_ = live;
  }
  add(record, measured, step);
}

void RunTrace::stop(std::string_view why) {
  stopped_ = why.substr(0, why.find('\n'));
  SuperstepRecord record{};
  record.start = end_;
  Cycle last = end_;
  for (std::uint32_t tile = 0; tile < logs_.size(); ++tile) {
    if (logs_[tile].arrived <= last) continue;
    last = logs_[tile].arrived;
    record.last_tile = TileId{tile};
  }
  if (last == end_) return;
  record.time.compute = last - end_;
  take_counters(record.start);
  add(record, false, name("stopped"));
}

void RunTrace::add(const SuperstepRecord& record, bool measured, Name step) {
  phases_.clear();
  const Cycle end = record.start + record.time.total();
  add_states(log(record.last_tile), 0, record, phases_);
  const Superstep superstep{supersteps_++, record, measured, step, phases_};
  count_active(superstep);
  add_transfers_of_workers();
  if (wants_tiles_) add_spans(superstep);
  join_adjacent(transfers_);
  for (TraceFile& file : files_) file.superstep(superstep, {spans_, transfers_});
  transfers_.clear();
  wants_tiles_ =
      std::ranges::any_of(files_, [](const TraceFile& file) { return file.takes_tiles(); });
  for (TileLog& log : logs_) {
    log.clear();
    log.wants_workers &= wants_tiles_;
  }
  end_ = end;
}

void RunTrace::add_spans(const Superstep& superstep) {
  spans_.clear();
  Lane lane = 0;
  for (const TileId tile : settings_.tiles) {
    const TileLog& log = logs_[index(tile)];
    add_states(log, lane, superstep.record, spans_);
    add_workers(tile, lane);
    lane += settings_.lanes_a_tile();
  }
}

/// Workers of one tile, what each waits for memory outside cut out of it.
void RunTrace::add_workers(TileId tile, Lane first) {
  const TileLog& log = logs_[index(tile)];
  std::map<std::uint32_t, std::vector<WorkerTransfer>> transfers;
  for (const WorkerTransfer& each : log.outside) transfers[each.worker].push_back(each);
  for (const WorkerSpan& worker : log.workers) {
    const Lane lane = first + 1 + worker.worker;
    const Name code = codelet(tile, worker.pc);
    Cycle at = worker.begin;
    for (const WorkerTransfer& each : transfers[worker.worker]) {
      if (each.start < at || each.done > worker.end) continue;
      if (at < each.start) spans_.push_back({at, each.start, lane, code, kNotSaid});
      spans_.push_back({each.start, each.done, lane, name_of(State::external), kNotSaid});
      at = each.done;
    }
    spans_.push_back({at, worker.end, lane, code, name_of(State::idle)});
  }
}

/// Of all tiles: bytes under way, and what chosen ones show.
void RunTrace::add_transfers_of_workers() {
  for (std::uint32_t tile = 0; tile < logs_.size(); ++tile)
    for (const WorkerTransfer& each : logs_[tile].outside) {
      transfer(each.begin, each.done, each.bytes, program::Carrier::memory);
      if (wants_tiles_ && lanes_[tile] != kNoLane)
        transfers_.push_back({each.begin, each.done, lanes_[tile], TileId{tile}, each.bytes});
    }
}

Name RunTrace::name(std::string_view text) {
  const auto known = names_.find(text);
  if (known != names_.end()) return known->second;
  for (TraceFile& file : files_) file.add_name(text);
  return names_.emplace(text, static_cast<Name>(names_.size())).first->second;
}

Name RunTrace::codelet(TileId tile, std::uint32_t pc) {
  const program::CodeImage* const code = images_.tiles[index(tile)].code.get();
  const auto [known, is_new] = codelets_.try_emplace({code, pc}, 0);
  if (is_new) known->second = name(code->symbol_of(pc));
  return known->second;
}

/// Tiles that neither wait nor have ended.
void RunTrace::count_active(const Superstep& superstep) {
  StepCounter& active = counter(Counter::active_tiles);
  std::int64_t begin = 0;
  for (const TileLog& log : logs_) {
    if (log.arrived < superstep.start()) continue;
    ++begin;
    for (const Blocked& blocked : log.blocked) {
      active.change(blocked.from, -1);
      active.change(blocked.until, 1);
    }
    if (log.then != TileLog::Then::compute) active.change(log.arrived, -1);
  }
  active.change(superstep.start(), begin);
}

void RunTrace::take_counters(Cycle until) {
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::vector<StepCounter::Sample>& samples = counters_[i].take(until);
    for (TraceFile& file : files_) file.counter(static_cast<Counter>(i), samples);
  }
}

void RunTrace::commit() {
  take_counters(Cycle(UINT64_MAX));
  for (TraceFile& file : files_) file.finish(end_, stopped_);
  for (TraceFile& file : files_) file.commit();
}

std::string RunTrace::summary() const {
  std::string text;
  for (const TraceFile& file : files_) {
    text += fmt::format("  trace     {}, {}", file.name(),
                        report::scaled(static_cast<double>(file.bytes()), "B"));
    if (const std::string left_out = file.left_out(); !left_out.empty())
      text += "; left out: " + left_out;
    text += "\n";
  }
  return text;
}

}  // namespace tessera::trace
