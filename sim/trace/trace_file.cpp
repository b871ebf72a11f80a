#include "sim/trace/trace_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::trace {
namespace {

constexpr std::uint64_t kMostDeclarationBytes = 64;  // per tile or worker
constexpr std::uint64_t kDeclarations = 4;           // take at most one such part of the file
constexpr std::uint64_t kLastWords = 4096;           // reserved for remarks
constexpr std::size_t kOwnLines = 8;                 // in spans: the superstep's own lines

/// Upper bound of the size, in units of kMostBytes.
std::size_t size_of(const SuperstepDetail& detail) {
  return detail.spans.size() + detail.transfers.size() * Format::kTransfer;
}

/// The items of the first `lanes` lanes.
template <class Item>
std::span<const Item> of_lanes(std::span<const Item> items, std::size_t lanes) {
  return {items.begin(), std::partition_point(items.begin(), items.end(), [lanes](const Item& one) {
            return one.lane < lanes;
          })};
}

}  // namespace

Settings within_limit(Settings settings, std::vector<std::string>& left_out) {
  const std::uint64_t a_tile = (settings.lanes_a_tile() + 1) * kMostDeclarationBytes;
  const std::uint64_t most = settings.most_bytes / kDeclarations / a_tile;
  if (settings.tiles.size() > most) {
    left_out.push_back(fmt::format("tiles {} and up", index(settings.tiles[most])));
    settings.tiles.resize(most);
  }
  return settings;
}

UnlimitedTrace::UnlimitedTrace(MakeFormat make, const Settings& settings,
                               std::span<const std::string> names, std::uint64_t bytes)
    : format_(make(nowhere_, settings)),
      before_(bytes),
      most_tiles_((settings.lanes_a_tile() + 1) * kMostDeclarationBytes * settings.tiles.size() *
                  kDeclarations * 3 / 4) {
  for (const std::string& name : names) format_->add_name(name);
}

std::uint64_t UnlimitedTrace::bytes() const {
  return before_ + format_->bytes() + format_->most_pending_bytes() + kLastWords;
}

void UnlimitedTrace::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  most_ = std::max(most_, bytes() + samples.size() * Format::kMostBytes);
  format_->counter(counter, samples);
}

void UnlimitedTrace::superstep(const Superstep& superstep, const SuperstepDetail& detail) {
  most_ = std::max(most_, bytes() + (superstep.phases.size() + kOwnLines) * Format::kMostBytes);
  format_->superstep(superstep);
  most_tiles_ = std::max(most_tiles_, bytes() + size_of(detail) * Format::kMostBytes);
  format_->spans(detail.spans);
  format_->transfers(detail.transfers);
}

std::uint64_t UnlimitedTrace::limit_mib() const {
  return ceil_div(std::max(most_, ceil_div(most_tiles_, std::uint64_t{3}) * 4),
                  std::uint64_t{1} << 20);
}

TraceFile::TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
                     MakeFormat make)
    : name_(name),
      wanted_(settings),
      make_(make),
      settings_(within_limit(settings, left_out_)),
      file_(folder + "/" + name),
      format_(make(file_.out(), settings_)),
      takes_tiles_(!settings_.tiles.empty()) {
  if (!left_out_.empty()) count_on(0);
}

/// Tiles may use three quarters of the file; the rest is reserved for the machine.
bool TraceFile::has_room(std::size_t spans, std::uint64_t most) const {
  return format_->bytes() + format_->most_pending_bytes() + spans * Format::kMostBytes +
             kLastWords <=
         most;
}

/// Starts counting the unlimited size: something is omitted from here on.
void TraceFile::count_on(std::uint64_t bytes) {
  if (unlimited_ == nullptr)
    unlimited_ = std::make_unique<UnlimitedTrace>(make_, wanted_, names_, bytes);
}

void TraceFile::add_name(std::string_view text) {
  names_.emplace_back(text);
  if (takes_machine_) format_->add_name(text);
  if (unlimited_ != nullptr) unlimited_->add_name(text);
}

void TraceFile::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  if (unlimited_ != nullptr) unlimited_->counter(counter, samples);
  if (takes_machine_ && has_room(samples.size(), settings_.most_bytes))
    format_->counter(counter, samples);
}

void TraceFile::superstep(const Superstep& superstep, const SuperstepDetail& detail) {
  const std::size_t lanes = settings_.tiles.size() * settings_.lanes_a_tile();
  const SuperstepDetail own{of_lanes(detail.spans, lanes), of_lanes(detail.transfers, lanes)};
  const std::uint64_t written = format_->bytes() + format_->most_pending_bytes();
  if (takes_machine_ && !has_room(superstep.phases.size() + kOwnLines, settings_.most_bytes)) {
    count_on(written);
    takes_machine_ = false;
    format_->end_supersteps(settled_);
    left_out_.push_back(fmt::format("everything from cycle {} on", settled_.count()));
  }
  if (takes_machine_) format_->superstep(superstep);
  const bool room = takes_machine_ && has_room(size_of(own), settings_.most_bytes / 4 * 3);
  if (takes_tiles_ && room) {
    format_->spans(own.spans);
    format_->transfers(own.transfers);
  } else if (takes_tiles_) {
    count_on(written);
    leave_out_tiles(superstep);
  }
  if (unlimited_ != nullptr) unlimited_->superstep(superstep, detail);
}

void TraceFile::nothing_before(Cycle until) {
  settled_ = until;
  format_->nothing_before(until);
  if (unlimited_ != nullptr) unlimited_->nothing_before(until);
}

void TraceFile::leave_out_tiles(const Superstep& superstep) {
  takes_tiles_ = false;
  left_out_.push_back(
      fmt::format("tiles from cycle {} (superstep {}) on", settled_.count(), superstep.number));
  format_->end_spans(settled_);
}

void TraceFile::finish(Cycle at, const std::string& stopped) {
  std::vector<std::string> remarks;
  if (!left_out_.empty()) remarks.push_back("left out: " + left_out());
  if (!stopped.empty()) remarks.push_back("stopped: " + stopped);
  format_->finish(at, remarks);
  file_.finish();
}

std::string TraceFile::left_out() const {
  if (left_out_.empty()) return {};
  return fmt::format("{} (report.trace_limit_mib is {}; {} would do)", fmt::join(left_out_, ", "),
                     settings_.most_bytes >> 20, unlimited_->limit_mib());
}

}  // namespace tessera::trace
