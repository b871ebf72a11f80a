#include <array>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "sim/trace/format.h"
#include "sim/trace/perfetto_fields.h"
#include "sim/trace/perfetto_writer.h"
#include "sim/trace/settings.h"

namespace tessera::trace {
namespace {

/// trace.pftrace: for each zone a track of supersteps, with the phases of the last-arriving tile
/// inside; counters; for each chosen tile a track, one per worker, and tracks of received
/// transfers. Times are ns, rounded down; annotations give the cycles.
class PerfettoTrace : public Format {
 public:
  PerfettoTrace(std::ostream& out, const Settings& settings);

  void add_name(std::string_view text) override;
  void counter(Counter counter, std::span<const StepCounter::Sample> samples) override;
  void superstep(const Superstep& superstep) override;
  void spans(std::span<const Span> spans) override;
  void transfers(std::span<const Received> transfers) override;
  void finish(Cycle at, std::span<const std::string> remarks) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }

 private:
  void add_lanes(const Settings& settings);
  PerfettoWriter::Track track_of(const Received& transfer);
  PerfettoWriter::Name source_name(TileId tile);
  void slice(PerfettoWriter::Track track, const Span& span);
  [[nodiscard]] std::uint64_t nanoseconds(Cycle cycle) const {
    return cycle.count() * cycle_femtoseconds_ / 1'000'000;
  }

  const std::uint64_t cycle_femtoseconds_;
  PerfettoWriter writer_;
  PerfettoWriter::Track machine_;
  std::vector<PerfettoWriter::Track> supersteps_;  ///< by zone
  std::array<PerfettoWriter::Track, kCounters> counters_{};
  PerfettoWriter::Track first_lane_ = 0;
  /// Slices of one track must not overlap: a tile with concurrent transfers has several.
  struct Receiving {
    PerfettoWriter::Track track;
    Cycle busy_until;
  };
  std::map<Lane, std::vector<Receiving>> receiving_;
  std::vector<PerfettoWriter::Name> names_;
  std::map<TileId, PerfettoWriter::Name> sources_;
  struct Annotations {
    PerfettoWriter::Name cycle, cycles, superstep, measured, last_tile, bytes, instructions, flops,
        from;
  } annotations_{};
};

PerfettoTrace::PerfettoTrace(std::ostream& out, const Settings& settings)
    : cycle_femtoseconds_(settings.cycle_femtoseconds),
      writer_(out),
      machine_(writer_.add_track(PerfettoWriter::kNoParent, perfetto::kMachineTrack)) {
  for (std::uint32_t zone = 0; zone < settings.zones; ++zone)
    supersteps_.push_back(writer_.add_track(
        machine_, settings.zones == 1 ? std::string(perfetto::kSuperstepsTrack)
                                      : fmt::format("{}{}", perfetto::kZoneTrack, zone)));
  using Unit = PerfettoWriter::Unit;
  counters_ = {writer_.add_counter(machine_, "active tiles", Unit::count),
               writer_.add_counter(machine_, "bytes in flight", Unit::bytes),
               writer_.add_counter(machine_, "SRAM in use on the fullest tile", Unit::bytes),
               writer_.add_counter(machine_, "bytes of external memory in flight", Unit::bytes),
               writer_.add_counter(machine_, "bytes of the host in flight", Unit::bytes)};
  const auto name = [this](const char* text) { return writer_.add_annotation_name(text); };
  annotations_ = {name(perfetto::kCycle), name(perfetto::kCycles), name(perfetto::kSuperstep),
                  name("measured"),       name("last_tile"),       name(perfetto::kBytes),
                  name("instructions"),   name("flops"),           name(perfetto::kFrom)};
  if (!settings.tiles.empty()) add_lanes(settings);
}

void PerfettoTrace::add_lanes(const Settings& settings) {
  const PerfettoWriter::Track all =
      writer_.add_track(PerfettoWriter::kNoParent, perfetto::kTilesTrack);
  first_lane_ = all + 1;
  for (const TileId tile : settings.tiles) {
    const auto track =
        writer_.add_track(all, fmt::format("{}{}", perfetto::kTileTrack, index(tile)));
    for (Lane worker = 0; worker + 1 < settings.lanes_a_tile(); ++worker)
      writer_.add_track(track, fmt::format("{}{}", perfetto::kWorkerTrack, worker));
  }
}

void PerfettoTrace::add_name(std::string_view text) {
  names_.push_back(writer_.add_event_name(text));
}

void PerfettoTrace::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  const PerfettoWriter::Track track = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    writer_.counter(track, nanoseconds(sample.at), sample.value);
}

void PerfettoTrace::superstep(const Superstep& superstep) {
  const SuperstepRecord& record = superstep.record;
  const PerfettoWriter::Track track = supersteps_[record.zone];
  writer_.begin(track, nanoseconds(superstep.start()), names_[superstep.step],
                {{annotations_.cycle, superstep.start().count()},
                 {annotations_.cycles, record.time.total().count()},
                 {annotations_.superstep, superstep.number},
                 {annotations_.measured, superstep.measured ? 1U : 0U},
                 {annotations_.last_tile, index(record.last_tile)},
                 {annotations_.bytes, record.exchanged.count()},
                 {annotations_.instructions, record.instructions},
                 {annotations_.flops, record.flops}});
  for (const Span& phase : superstep.phases) slice(track, phase);
  writer_.end(track, nanoseconds(superstep.end()));
}

void PerfettoTrace::spans(std::span<const Span> spans) {
  for (const Span& span : spans) slice(first_lane_ + span.lane, span);
}

void PerfettoTrace::slice(PerfettoWriter::Track track, const Span& span) {
  if (span.begin == span.end) return;
  writer_.begin(track, nanoseconds(span.begin), names_[span.name],
                {{annotations_.cycle, span.begin.count()},
                 {annotations_.cycles, (span.end - span.begin).count()}});
  writer_.end(track, nanoseconds(span.end));
}

void PerfettoTrace::transfers(std::span<const Received> transfers) {
  for (const Received& each : transfers) {
    const PerfettoWriter::Track track = track_of(each);
    writer_.begin(track, nanoseconds(each.begin), source_name(each.from),
                  {{annotations_.cycle, each.begin.count()},
                   {annotations_.cycles, (each.end - each.begin).count()},
                   {annotations_.from, index(each.from)},
                   {annotations_.bytes, each.bytes.count()}});
    writer_.end(track, nanoseconds(each.end));
  }
}

PerfettoWriter::Track PerfettoTrace::track_of(const Received& transfer) {
  std::vector<Receiving>& tracks = receiving_[transfer.lane];
  for (Receiving& each : tracks) {
    if (each.busy_until > transfer.begin) continue;
    each.busy_until = transfer.end;
    return each.track;
  }
  const auto track = writer_.add_track(first_lane_ + transfer.lane, perfetto::kReceivesTrack);
  tracks.push_back({track, transfer.end});
  return track;
}

PerfettoWriter::Name PerfettoTrace::source_name(TileId tile) {
  const auto [known, is_new] = sources_.try_emplace(tile, 0);
  if (is_new) known->second = writer_.add_event_name(fmt::format("from tile {}", index(tile)));
  return known->second;
}

void PerfettoTrace::finish(Cycle at, std::span<const std::string> remarks) {
  for (const std::string& remark : remarks)
    writer_.instant(supersteps_.front(), nanoseconds(at), remark);
  writer_.flush();
}

}  // namespace

std::unique_ptr<Format> perfetto_trace(std::ostream& out, const Settings& settings) {
  return std::make_unique<PerfettoTrace>(out, settings);
}

}  // namespace tessera::trace
