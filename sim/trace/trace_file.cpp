#include "sim/trace/trace_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::trace {
namespace {

constexpr std::uint64_t kMostDeclarationBytes = 64;  // of a tile or a worker
constexpr std::uint64_t kLastWords = 4096;           // room for what was left out
constexpr std::size_t kSuperstep = 8;                // spans' worth: a superstep's own lines

}  // namespace

Settings within_limit(Settings settings, std::vector<std::string>& left_out) {
  const std::uint64_t a_tile = settings.lanes_a_tile() * kMostDeclarationBytes;
  const std::uint64_t most = settings.most_bytes / 4 / a_tile;
  if (settings.tiles.size() > most) {
    left_out.push_back(fmt::format("tiles {} and up", index(settings.tiles[most])));
    settings.tiles.resize(most);
  }
  return settings;
}

TraceFile::TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
                     MakeFormat make)
    : name_(name),
      settings_(within_limit(settings, left_out_)),
      file_(folder + "/" + name),
      format_(make(file_.out(), settings_)),
      takes_tiles_(!settings_.tiles.empty()) {}

/// The machine may fill what the tiles leave: three quarters are theirs.
bool TraceFile::has_room(std::size_t spans, std::uint64_t most) const {
  return format_->bytes() + format_->most_pending_bytes() + spans * Format::kMostBytes +
             kLastWords <=
         most;
}

void TraceFile::counter(Counter counter, std::span<const StepCounter::Sample> samples) {
  if (takes_machine_ && has_room(samples.size(), settings_.most_bytes))
    format_->counter(counter, samples);
}

void TraceFile::superstep(const Superstep& superstep, std::span<const Span> spans) {
  if (takes_machine_ && !has_room(superstep.phases.size() + kSuperstep, settings_.most_bytes)) {
    takes_machine_ = false;
    left_out_.push_back(fmt::format("everything from cycle {} on", superstep.start().count()));
  }
  if (takes_machine_) format_->superstep(superstep);
  if (!takes_tiles_) return;
  const std::size_t lanes = settings_.tiles.size() * settings_.lanes_a_tile();
  const auto end = std::partition_point(spans.begin(), spans.end(),
                                        [lanes](const Span& span) { return span.lane < lanes; });
  const std::span<const Span> own(spans.begin(), end);
  if (takes_machine_ && has_room(own.size(), settings_.most_bytes / 4 * 3)) {
    format_->spans(own);
  } else {
    leave_out_tiles(superstep);
  }
}

void TraceFile::leave_out_tiles(const Superstep& superstep) {
  takes_tiles_ = false;
  left_out_.push_back(fmt::format("tiles from cycle {} (superstep {}) on",
                                  superstep.start().count(), superstep.number));
  format_->end_spans(superstep.start());
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
  return fmt::format("{} (report.trace_limit_mib is {})", fmt::join(left_out_, ", "),
                     settings_.most_bytes >> 20);
}

}  // namespace tessera::trace
