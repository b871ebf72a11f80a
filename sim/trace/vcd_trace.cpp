#include "sim/trace/vcd_trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/trace/time_order.h"

namespace tessera::trace {

VcdTrace::VcdTrace(std::ostream& out, const Settings& settings)
    : cycle_femtoseconds_(settings.cycle_femtoseconds), writer_(out) {
  declare(settings);
  for (Lane lane = 0; lane < lanes_; ++lane)
    if (lane % settings.lanes_a_tile() != 0)
      change(first_lane_ + lane, Cycle(0), name_of(State::idle));
}

void VcdTrace::declare(const Settings& settings) {
  writer_.comment(fmt::format("a cycle is {} fs", cycle_femtoseconds_));
  writer_.begin_scope("machine");
  number_ = writer_.add_number("superstep", 64);
  step_ = writer_.add_text("step");
  phase_ = writer_.add_text("phase_of_last_tile");
  counters_ = {writer_.add_number("active_tiles", 32), writer_.add_number("bytes_in_flight", 64),
               writer_.add_number("sram_in_use_on_fullest_tile", 32)};
  writer_.end_scope();
  first_lane_ = counters_.back() + 1;
  for (const TileId tile : settings.tiles) {
    writer_.begin_scope(fmt::format("tile_{}", index(tile)));
    writer_.add_text("state");
    for (Lane worker = 0; worker + 1 < settings.lanes_a_tile(); ++worker)
      writer_.add_text(fmt::format("worker_{}", worker));
    writer_.end_scope();
    lanes_ += settings.lanes_a_tile();
  }
  writer_.end_declarations();
}

void VcdTrace::add_name(std::string_view text) { words_.push_back(VcdWriter::word_of(text)); }

void VcdTrace::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  const VcdWriter::Signal signal = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    pending_.push_back({sample.at, signal, kNumber, static_cast<std::uint64_t>(sample.value)});
}

void VcdTrace::superstep(const Superstep& superstep) {
  const Cycle start = superstep.start();
  write_before(start);
  pending_.push_back({start, number_, kNumber, superstep.number});
  change(step_, start, superstep.step);
  for (const Span& phase : superstep.phases) change(phase_, phase);
}

void VcdTrace::spans(std::span<const Span> spans) {
  for (const Span& span : spans) change(first_lane_ + span.lane, span);
}

void VcdTrace::change(VcdWriter::Signal signal, const Span& span) {
  if (span.begin < span.end) change(signal, span.begin, span.name);
  if (span.then != kNotSaid) change(signal, span.end, span.then);
}

void VcdTrace::end_spans(Cycle at) {
  write_before(at);
  const auto of_lane = [this](const Change& one) { return one.signal >= first_lane_; };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), of_lane), pending_.end());
  for (Lane lane = 0; lane < lanes_; ++lane) change(first_lane_ + lane, at, kUnknown);
}

void VcdTrace::finish(Cycle at, std::span<const std::string> remarks) {
  Cycle last = at;  // a worker may run on
  for (const Change& change : pending_) last = std::max(last, change.at);
  write_before(Cycle(UINT64_MAX));
  writer_.at(last.count() * cycle_femtoseconds_);
  for (const std::string& remark : remarks) writer_.comment(remark);
  writer_.flush();
}

std::uint64_t VcdTrace::most_pending_bytes() const {
  constexpr std::uint64_t kMostUnknown = 16;  // a signal's change to x, in end_spans()
  return pending_.size() * kMostBytes + lanes_ * kMostUnknown;
}

void VcdTrace::write_before(Cycle until) {
  std::size_t later = 0;
  due_.clear();
  for (const Change& change : pending_) {
    if (change.at < until) {
      due_.push_back(change);
    } else {
      pending_[later++] = change;
    }
  }
  pending_.resize(later);
  order_by_time(due_, spare_);
  for (const Change& change : due_) write(change);
}

void VcdTrace::write(const Change& change) {
  writer_.at(change.at.count() * cycle_femtoseconds_);
  if (change.word == kNumber) {
    writer_.number(change.signal, change.number);
  } else {
    writer_.text(change.signal, change.word == kUnknown ? "x" : words_[change.word]);
  }
}

}  // namespace tessera::trace
