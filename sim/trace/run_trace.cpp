#include "sim/trace/run_trace.h"

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
std::unique_ptr<Format> make(std::ostream& out, const Settings& settings,
                             const program::Images& images) {
  return std::make_unique<Kind>(out, settings, images);
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
    : images_(images), folder_(folder), logs_(settings.machine_tiles) {
  create_folder(folder);
  for (const Kind& kind : kKinds)
    files_.emplace_back(folder, kind.name, settings, images, kind.make);
  for (const TileId tile : settings.tiles) log(tile).wants_workers = settings.workers;
}

RunTrace::~RunTrace() {
  files_.clear();
  std::error_code ignored;
  fs::remove(folder_, ignored);  // if it is empty
}

void RunTrace::remove_files(const std::string& folder) {
  std::error_code absent;
  for (const Kind& kind : kKinds) fs::remove(fs::path(folder) / kind.name, absent);
}

void RunTrace::transfer(Cycle begin, Cycle done, Bytes bytes) {
  const auto amount = static_cast<std::int64_t>(bytes.count());
  counter(Counter::bytes_in_flight).change(begin, amount);
  counter(Counter::bytes_in_flight).change(done, -amount);
}

void RunTrace::close(const SuperstepRecord& record, bool measured) {
  const bool known = record.program_step < images_.steps.size();
  const Superstep superstep{supersteps_++, record, measured,
                            known ? &images_.steps[record.program_step] : nullptr};
  // What happened before may still be told of the superstep that has just ended, not of others.
  take_counters(superstep.start());
  count_active(superstep);
  if (known) {
    const auto live = static_cast<std::int64_t>(superstep.step->live_bytes);
    if (live != sram_in_use_)
      counter(Counter::sram_in_use).change(superstep.start(), live - sram_in_use_);
    sram_in_use_ = live;
  }
  for (TraceFile& file : files_) file.superstep(superstep, logs_);
  const bool wanted = files_[0].takes_tiles() || files_[1].takes_tiles();
  for (TileLog& log : logs_) {
    log.clear();
    log.wants_workers &= wanted;
  }
  end_ = superstep.end();
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
    active.change(log.arrived, -1);
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
  for (TraceFile& file : files_) file.finish(end_);
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
