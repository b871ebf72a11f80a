#include "sim/trace/perfetto_trace.h"

#include <fmt/format.h>

namespace tessera::trace {
namespace {

PerfettoWriter::Name event_name(Name name) { return name + 1; }  // as both number them

}  // namespace

PerfettoTrace::PerfettoTrace(std::ostream& out, const Settings& settings)
    : cycle_femtoseconds_(settings.cycle_femtoseconds),
      writer_(out),
      machine_(writer_.add_track(PerfettoWriter::kNoParent, "machine")),
      supersteps_(writer_.add_track(machine_, "supersteps, phases of the last tile")) {
  using Unit = PerfettoWriter::Unit;
  counters_ = {writer_.add_counter(machine_, "active tiles", Unit::count),
               writer_.add_counter(machine_, "bytes in flight", Unit::bytes),
               writer_.add_counter(machine_, "SRAM in use on the fullest tile", Unit::bytes)};
  const auto name = [this](const char* text) { return writer_.add_annotation_name(text); };
  annotations_ = {name("cycle"),     name("cycles"), name("superstep"),    name("measured"),
                  name("last_tile"), name("bytes"),  name("instructions"), name("flops")};
  if (!settings.tiles.empty()) add_lanes(settings);
}

void PerfettoTrace::add_lanes(const Settings& settings) {
  const PerfettoWriter::Track all = writer_.add_track(PerfettoWriter::kNoParent, "tiles");
  first_lane_ = all + 1;
  for (const TileId tile : settings.tiles) {
    const auto track = writer_.add_track(all, fmt::format("tile {}", index(tile)));
    for (Lane worker = 0; worker + 1 < settings.lanes_a_tile(); ++worker)
      writer_.add_track(track, fmt::format("worker {}", worker));
  }
}

void PerfettoTrace::add_name(std::string_view text) { writer_.add_event_name(text); }

void PerfettoTrace::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  const PerfettoWriter::Track track = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    writer_.counter(track, nanoseconds(sample.at), sample.value);
}

void PerfettoTrace::superstep(const Superstep& superstep) {
  const SuperstepRecord& record = superstep.record;
  writer_.begin(supersteps_, nanoseconds(superstep.start()), event_name(superstep.step),
                {{annotations_.cycle, superstep.start().count()},
                 {annotations_.cycles, record.time.total().count()},
                 {annotations_.superstep, superstep.number},
                 {annotations_.measured, superstep.measured ? 1U : 0U},
                 {annotations_.last_tile, index(record.last_tile)},
                 {annotations_.bytes, record.exchanged.count()},
                 {annotations_.instructions, record.instructions},
                 {annotations_.flops, record.flops}});
  for (const Span& phase : superstep.phases) slice(supersteps_, phase);
  writer_.end(supersteps_, nanoseconds(superstep.end()));
}

void PerfettoTrace::spans(std::span<const Span> spans) {
  for (const Span& span : spans) slice(first_lane_ + span.lane, span);
}

void PerfettoTrace::slice(PerfettoWriter::Track track, const Span& span) {
  if (span.begin == span.end) return;
  writer_.begin(track, nanoseconds(span.begin), event_name(span.name),
                {{annotations_.cycle, span.begin.count()},
                 {annotations_.cycles, (span.end - span.begin).count()}});
  writer_.end(track, nanoseconds(span.end));
}

void PerfettoTrace::end_spans(Cycle /*at*/) {}

void PerfettoTrace::finish(Cycle at, std::span<const std::string> remarks) {
  for (const std::string& remark : remarks) writer_.instant(supersteps_, nanoseconds(at), remark);
  writer_.flush();
}

}  // namespace tessera::trace
