#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/trace/format.h"
#include "sim/trace/settings.h"
#include "sim/trace/time_order.h"
#include "sim/trace/vcd_writer.h"

namespace tessera::trace {
namespace {

/// trace.vcd: the content of trace.pftrace as signals. Times are those of the simulated clock in
/// femtoseconds, with a whole number per cycle. Keeps changes until nothing earlier can follow.
class VcdTrace : public Format {
 public:
  VcdTrace(std::ostream& out, const Settings& settings);

  void add_name(std::string_view text) override;
  void counter(Counter counter, std::span<const StepCounter::Sample> samples) override;
  void superstep(const Superstep& superstep) override;
  void spans(std::span<const Span> spans) override;
  void transfers(std::span<const Received> transfers) override;
  void nothing_before(Cycle until) override;
  void end_spans(Cycle at) override;
  void end_supersteps(Cycle at) override;
  void finish(Cycle at, std::span<const std::string> remarks) override;
  [[nodiscard]] std::uint64_t bytes() const override { return writer_.bytes(); }
  [[nodiscard]] std::uint64_t most_pending_bytes() const override;

 private:
  using Word = std::uint32_t;  ///< a Name, or:
  static constexpr Word kUnknown = UINT32_MAX, kNumber = UINT32_MAX - 1, kBegins = UINT32_MAX - 2,
                        kEnds = UINT32_MAX - 3;
  struct Change {
    Cycle at;
    VcdWriter::Signal signal;
    Word word;
    std::uint64_t number;  ///< value for kNumber; bytes of a transfer for kBegins or kEnds
    TileId from{};         ///< source of a transfer
  };

  void declare(const Settings& settings);
  void declare_zone();
  /// A tile has one signal per lane, then `receives`.
  [[nodiscard]] VcdWriter::Signal signal_of(Lane lane) const {
    return first_tile_ + lane + lane / lanes_a_tile_;
  }
  void change(VcdWriter::Signal signal, const Span& span);
  void change(VcdWriter::Signal signal, Cycle at, Word word) {
    pending_.push_back({at, signal, word, 0});
  }
  void write_before(Cycle until);
  void write(const Change& change);
  std::size_t write_transfers(std::size_t first);

  const std::uint64_t cycle_femtoseconds_;
  VcdWriter writer_;
  struct ZoneSignals {
    VcdWriter::Signal number, step, phase, exchanged;
  };
  std::vector<ZoneSignals> zones_;
  std::array<VcdWriter::Signal, kCounters> counters_{};
  VcdWriter::Signal first_tile_ = 0, end_of_tiles_ = 0;
  const Lane lanes_a_tile_;
  Cycle written_;  ///< all before it is written
  std::vector<Change> pending_, due_, spare_;
  std::vector<std::string> words_;
  std::string text_;
};

VcdTrace::VcdTrace(std::ostream& out, const Settings& settings)
    : cycle_femtoseconds_(settings.cycle_femtoseconds),
      writer_(out),
      lanes_a_tile_(settings.lanes_a_tile()) {
  declare(settings);
  for (Lane lane = 0; lane < settings.tiles.size() * lanes_a_tile_; ++lane)
    if (lane % lanes_a_tile_ != 0) change(signal_of(lane), Cycle(0), name_of(State::idle));
}

void VcdTrace::declare(const Settings& settings) {
  writer_.comment(fmt::format("a cycle is {} fs", cycle_femtoseconds_));
  writer_.begin_scope("machine");
  if (settings.zones == 1) declare_zone();
  counters_ = {writer_.add_number("active_tiles", 32), writer_.add_number("bytes_in_flight", 64),
               writer_.add_number("sram_in_use_on_fullest_tile", 32),
               writer_.add_number("external_bytes_in_flight", 64),
               writer_.add_number("host_bytes_in_flight", 64)};
  writer_.end_scope();
  for (std::uint32_t zone = 0; settings.zones > 1 && zone < settings.zones; ++zone) {
    writer_.begin_scope(fmt::format("zone_{}", zone));
    declare_zone();
    writer_.end_scope();
  }
  first_tile_ = end_of_tiles_ = std::max(counters_.back(), zones_.back().exchanged) + 1;
  for (const TileId tile : settings.tiles) {
    writer_.begin_scope(fmt::format("tile_{}", index(tile)));
    writer_.add_text("state");
    for (Lane worker = 0; worker + 1 < lanes_a_tile_; ++worker)
      writer_.add_text(fmt::format("worker_{}", worker));
    end_of_tiles_ = writer_.add_text("receives") + 1;
    writer_.end_scope();
  }
  writer_.end_declarations();
}

void VcdTrace::declare_zone() {
  ZoneSignals& zone = zones_.emplace_back();
  zone.number = writer_.add_number("superstep", 64);
  zone.step = writer_.add_text("step");
  zone.phase = writer_.add_text("phase_of_last_tile");
  zone.exchanged = writer_.add_number("exchanged_bytes", 64);
}

void VcdTrace::add_name(std::string_view text) { words_.push_back(VcdWriter::word_of(text)); }

void VcdTrace::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  const VcdWriter::Signal signal = counters_[static_cast<std::size_t>(counter)];
  for (const StepCounter::Sample& sample : samples)
    pending_.push_back({sample.at, signal, kNumber, static_cast<std::uint64_t>(sample.value)});
}

void VcdTrace::superstep(const Superstep& superstep) {
  const Cycle start = superstep.start();
  const ZoneSignals& zone = zones_[superstep.record.zone];
  pending_.push_back({start, zone.number, kNumber, superstep.number});
  pending_.push_back({start, zone.exchanged, kNumber, superstep.record.exchanged.count()});
  change(zone.step, start, superstep.step);
  for (const Span& phase : superstep.phases) change(zone.phase, phase);
}

void VcdTrace::nothing_before(Cycle until) {
  if (until <= written_) return;
  written_ = until;
  write_before(until);
}

void VcdTrace::spans(std::span<const Span> spans) {
  for (const Span& span : spans) change(signal_of(span.lane), span);
}

void VcdTrace::transfers(std::span<const Received> transfers) {
  for (const Received& each : transfers) {
    const VcdWriter::Signal signal = signal_of(each.lane) + lanes_a_tile_;
    pending_.push_back({each.begin, signal, kBegins, each.bytes.count(), each.from});
    pending_.push_back({each.end, signal, kEnds, each.bytes.count(), each.from});
  }
}

void VcdTrace::change(VcdWriter::Signal signal, const Span& span) {
  if (span.begin < span.end) change(signal, span.begin, span.name);
  if (span.then != kNotSaid)
    change(signal, span.end, span.then == kNotKnown ? kUnknown : span.then);
}

void VcdTrace::end_spans(Cycle at) {
  std::erase_if(pending_,
                [&](const Change& one) { return one.signal >= first_tile_ && one.at >= at; });
  for (auto signal = first_tile_; signal < end_of_tiles_; ++signal) change(signal, at, kUnknown);
}

void VcdTrace::end_supersteps(Cycle at) {
  for (const ZoneSignals& zone : zones_) {
    std::erase_if(pending_, [&](const Change& one) {
      return one.signal >= zone.number && one.signal <= zone.exchanged && one.at >= at;
    });
    change(zone.step, at, kUnknown);
    change(zone.phase, at, kUnknown);
  }
}

void VcdTrace::finish(Cycle at, std::span<const std::string> remarks) {
  Cycle last = at;  // a worker may run longer
  for (const Change& change : pending_) last = std::max(last, change.at);
  write_before(Cycle(UINT64_MAX));
  writer_.at(last.count() * cycle_femtoseconds_);
  for (const std::string& remark : remarks) writer_.comment(remark);
  writer_.flush();
}

std::uint64_t VcdTrace::most_pending_bytes() const {
  constexpr std::uint64_t kMostUnknown = 16;               // a signal's change to x, in end_spans()
  constexpr std::uint64_t kMostOfChange = kMostBytes / 2;  // a span is two: begin, and next state
  return pending_.size() * kMostOfChange + (end_of_tiles_ - first_tile_) * kMostUnknown;
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
  for (std::size_t i = 0; i < due_.size();) {
    const bool transfer = due_[i].word == kBegins || due_[i].word == kEnds;
    if (!transfer) write(due_[i]);
    i = transfer ? write_transfers(i) : i + 1;
  }
}

void VcdTrace::write(const Change& change) {
  writer_.at(change.at.count() * cycle_femtoseconds_);
  if (change.word == kNumber) {
    writer_.number(change.signal, change.number);
  } else {
    writer_.text(change.signal, change.word == kUnknown ? "x" : words_[change.word]);
  }
}

/// Writes transfers that begin or end at one tile at one time as one text: "-3:64,+5:128" (tile and
/// bytes). Returns the index of the next change.
std::size_t VcdTrace::write_transfers(std::size_t first) {
  text_.clear();
  std::size_t at = first;
  for (; at < due_.size() && due_[at].at == due_[first].at && due_[at].signal == due_[first].signal;
       ++at) {
    if (!text_.empty()) text_ += ',';
    fmt::format_to(std::back_inserter(text_), "{}{}:{}", due_[at].word == kBegins ? '+' : '-',
                   index(due_[at].from), due_[at].number);
  }
  writer_.at(due_[first].at.count() * cycle_femtoseconds_);
  writer_.text(due_[first].signal, text_);
  return at;
}

}  // namespace

std::unique_ptr<Format> vcd_trace(std::ostream& out, const Settings& settings) {
  return std::make_unique<VcdTrace>(out, settings);
}

}  // namespace tessera::trace
