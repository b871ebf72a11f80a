#include "sim/trace/run_trace.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/report/units.h"

namespace tessera::trace {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* name;
  TraceFile::MakeFormat make;
};
constexpr std::array<Kind, 2> kKinds = {
    {{"trace.pftrace", perfetto_trace}, {"trace.vcd", vcd_trace}}};

Settings of_zones(Settings settings, std::size_t zones) {
  settings.zones = static_cast<std::uint32_t>(zones);
  return settings;
}

}  // namespace

RunTrace::RunTrace(const Settings& settings, const program::Images& images,
                   const std::string& folder)
    : images_(images),
      zones_(zones_of(images)),
      settings_(of_zones(settings, zones_.size())),
      folder_(folder),
      logs_(settings.machine_tiles) {
  for (const Kind& kind : kKinds) files_.emplace_back(folder, kind.name, settings_, kind.make);
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

std::vector<RunTrace::Zone> RunTrace::zones_of(const program::Images& images) {
  std::vector<Zone> zones(1);
  for (std::uint32_t tile = 0; tile < images.tiles.size(); ++tile) {
    const std::size_t zone = images.zone_of.empty() ? 0 : images.zone_of[tile];
    zones.resize(std::max(zones.size(), zone + 1));
    zones[zone].tiles.push_back(TileId{tile});
  }
  return zones;
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
  starts_.insert(record.start);
  settle(settled());
  Name step = name("no step");
  if (record.program_step < images_.steps.size()) {
    const program::StepInfo& info = images_.steps[record.program_step];
    step = name(info.name);
    lives_.insert({record.start, {record.zone, static_cast<std::int64_t>(info.live_bytes)}});
  }
  add(record, measured, step);
}

void RunTrace::stop(std::string_view why) {
  stopped_ = why.substr(0, why.find('\n'));
  for (std::uint32_t number = 0; number < zones_.size(); ++number) {
    const Zone& zone = zones_[number];
    SuperstepRecord record{};
    record.zone = number;
    record.start = zone.start;
    Cycle last = zone.start;
    for (const TileId tile : zone.tiles) {
      if (log(tile).arrived <= last) continue;
      last = log(tile).arrived;
      record.last_tile = tile;
    }
    if (last == zone.start) continue;
    record.time.compute = last - zone.start;
    starts_.insert(record.start);
    settle(settled());
    add(record, false, name("stopped"));
  }
}

void RunTrace::add(const SuperstepRecord& record, bool measured, Name step) {
  Zone& zone = zones_[record.zone];
  phases_.clear();
  add_states(log(record.last_tile), 0, record, phases_);
  const Superstep superstep{supersteps_++, record, measured, step, phases_};
  count_active(superstep);
  add_transfers_of_workers(zone.tiles);
  if (wants_tiles_) add_spans(superstep);
  join_adjacent(transfers_);
  for (TraceFile& file : files_) file.superstep(superstep, {spans_, transfers_});
  transfers_.clear();
  wants_tiles_ =
      std::ranges::any_of(files_, [](const TraceFile& file) { return file.takes_tiles(); });
  zone.ended = true;
  for (const TileId tile : zone.tiles) {
    zone.ended &= log(tile).then == TileLog::Then::ended;
    log(tile).clear();
  }
  if (!wants_tiles_)
    for (TileLog& log : logs_) log.wants_workers = false;
  zone.start = superstep.end();
  end_ = std::max(end_, zone.start);
  if (std::ranges::all_of(zones_, &Zone::ended))  // the program may run again from here
    for (Zone& each : zones_) {
      each.start = end_;
      each.ended = false;
    }
}

/// A time before which nothing more can be reported.
Cycle RunTrace::settled() const {
  Cycle first(UINT64_MAX);
  for (const Zone& zone : zones_)
    if (!zone.ended) first = std::min(first, zone.start);
  if (!submitted_.empty()) first = std::min(first, *submitted_.begin());
  for (const Received& each : transfers_) first = std::min(first, each.begin);
  return first;
}

/// Passes on what happened before the last superstep start up to `until`: counters are sampled once
/// per interval between starts.
void RunTrace::settle(Cycle until) {
  for (; !starts_.empty() && *starts_.begin() <= until; starts_.erase(starts_.begin())) {
    take_counters(*starts_.begin());
    for (TraceFile& file : files_) file.nothing_before(*starts_.begin());
  }
}

void RunTrace::add_spans(const Superstep& superstep) {
  spans_.clear();
  Lane lane = 0;
  for (const TileId tile : settings_.tiles) {
    if (images_.zone_of.empty() || images_.zone_of[index(tile)] == superstep.record.zone) {
      add_states(log(tile), lane, superstep.record, spans_);
      add_workers(tile, lane);
    }
    lane += settings_.lanes_a_tile();
  }
}

/// Adds a tile's workers; a worker's waits for external memory become spans of their own.
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

/// Counts workers' bytes in flight, and adds transfers of chosen tiles.
void RunTrace::add_transfers_of_workers(std::span<const TileId> tiles) {
  for (const TileId tile : tiles)
    for (const WorkerTransfer& each : log(tile).outside) {
      transfer(each.begin, each.done, each.bytes, program::Carrier::memory);
      if (wants_tiles_ && lanes_[index(tile)] != kNoLane)
        transfers_.push_back({each.begin, each.done, lanes_[index(tile)], tile, each.bytes});
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

/// Counts tiles that neither wait nor have ended.
void RunTrace::count_active(const Superstep& superstep) {
  StepCounter& active = counter(Counter::active_tiles);
  std::int64_t begin = 0;
  for (const TileId tile : zones_[superstep.record.zone].tiles) {
    const TileLog& log = logs_[index(tile)];
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
  for (; !lives_.empty() && lives_.begin()->first < until; lives_.erase(lives_.begin())) {
    const auto& [at, live] = *lives_.begin();
    zones_[live.zone].live_bytes = live.bytes;
    const std::int64_t most = std::ranges::max(zones_, {}, &Zone::live_bytes).live_bytes;
    if (most != sram_in_use_) counter(Counter::sram_in_use).change(at, most - sram_in_use_);
    sram_in_use_ = most;
  }
  for (std::size_t i = 0; i < kCounters; ++i) {
    const std::vector<StepCounter::Sample>& samples = counters_[i].take(until);
    for (TraceFile& file : files_) file.counter(static_cast<Counter>(i), samples);
  }
}

void RunTrace::commit() {
  for (const Cycle start : starts_) take_counters(start);
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
