#include "sim/trace/trace_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::trace {
namespace {

constexpr std::uint64_t kMostDeclarationBytes = 64;  // of a tile or a worker
constexpr std::uint64_t kLastWords = 4096;           // room for what was left out
constexpr std::uint64_t kMostSupersteps = 8;         // stretches' worth: a superstep's own lines

}  // namespace

Settings within_limit(Settings settings, std::vector<std::string>& left_out) {
  const std::uint64_t tracks = 1 + (settings.workers ? settings.contexts : 0);
  const std::uint64_t most = settings.most_bytes / 4 / (tracks * kMostDeclarationBytes);
  if (settings.tiles.size() > most) {
    left_out.push_back(fmt::format("tiles {} and up", index(settings.tiles[most])));
    settings.tiles.resize(most);
  }
  return settings;
}

TraceFile::TraceFile(const std::string& folder, const std::string& name, const Settings& settings,
                     const program::Images& images, MakeFormat make)
    : name_(name),
      settings_(within_limit(settings, left_out_)),
      file_(folder + "/" + name),
      format_(make(file_.out(), settings_, images)),
      takes_tiles_(!settings_.tiles.empty()) {}

/// The machine may fill what the tiles leave: three quarters are theirs.
bool TraceFile::has_room(std::uint64_t stretches, std::uint64_t most) const {
  return format_->bytes() + format_->most_pending_bytes() + stretches * Format::kMostBytes +
             kLastWords <=
         most;
}

void TraceFile::counter(Counter counter, const std::vector<StepCounter::Sample>& samples) {
  if (takes_machine_ && has_room(samples.size(), settings_.most_bytes))
    format_->counter(counter, samples);
}

void TraceFile::superstep(const Superstep& superstep, const std::vector<TileLog>& logs) {
  const TileLog& last = logs[index(superstep.record.last_tile)];
  if (takes_machine_ && !has_room(most_stretches(last) + kMostSupersteps, settings_.most_bytes)) {
    takes_machine_ = false;
    left_out_.push_back(fmt::format("everything from cycle {} on", superstep.start().count()));
  }
  if (takes_machine_) format_->superstep(superstep, last);
  if (!takes_tiles_) return;
  std::uint64_t stretches = 0;
  for (const TileId tile : settings_.tiles) stretches += most_stretches(logs[index(tile)]);
  if (!takes_machine_ || !has_room(stretches, settings_.most_bytes / 4 * 3))
    return leave_out_tiles(superstep);
  for (std::size_t i = 0; i < settings_.tiles.size(); ++i)
    format_->tile(i, logs[index(settings_.tiles[i])], superstep);
}

void TraceFile::leave_out_tiles(const Superstep& superstep) {
  takes_tiles_ = false;
  left_out_.push_back(fmt::format("tiles from cycle {} (superstep {}) on",
                                  superstep.start().count(), superstep.number));
  format_->end_tiles(superstep.start());
}

void TraceFile::finish(Cycle at) {
  format_->finish(at, left_out());
  file_.finish();
}

std::string TraceFile::left_out() const {
  if (left_out_.empty()) return {};
  return fmt::format("{} (report.trace_limit_mib is {})", fmt::join(left_out_, ", "),
                     settings_.most_bytes >> 20);
}

}  // namespace tessera::trace
