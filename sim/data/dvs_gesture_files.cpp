#include <algorithm>
#include <string>

#include "sim/base/errors.h"
#include "sim/data/lines.h"
#include "sim/data/read_file.h"
#include "sim/data/recordings.h"

namespace tessera::data {
namespace {

namespace fs = std::filesystem;

/// One labelled gesture.
struct Trial {
  std::uint32_t label = 0;
  std::uint64_t start = 0, end = 0;  ///< microseconds
};

std::vector<Trial> trials_in(const fs::path& path) {
  constexpr std::uint32_t kClasses = 11;
  const std::string text = read_file(path);
  const std::string name = path.string();
  Lines lines(text, name, " \t\r,");
  std::vector<Trial> trials;
  if (!lines.next() || lines.word() != "class")
    lines.fail("found no heading, expected class,startTime_usec,endTime_usec");
  while (lines.next_with_data()) {
    const auto label = lines.number<std::uint32_t>("class", "1 to 11");
    if (label < 1 || label > kClasses)
      lines.fail("class: found {}, expected 1 to {}", label, kClasses);
    const auto start = lines.number<std::uint64_t>("startTime_usec", "microseconds");
    const auto end = lines.number<std::uint64_t>("endTime_usec", "microseconds");
    if (end <= start) lines.fail("endTime_usec: found {}, expected more than {}", end, start);
    lines.expect_end();
    trials.push_back({label - 1, start, end});
  }
  return trials;
}

Recording recording_of(const Trial& trial, const std::vector<SensorEvent>& events,
                       const fs::path& file) {
  Recording recording{trial.label, {}};
  const auto start = static_cast<double>(trial.start);
  for (SensorEvent event : events) {
    if (event.microseconds < start || event.microseconds >= static_cast<double>(trial.end))
      continue;
    event.microseconds -= start;
    recording.events.push_back(event);
  }
  if (recording.events.empty())
    throw UserError(
        "{}: found no event from {} to {} us, where its labels have one of "
        "class {}",
        file.string(), trial.start, trial.end, trial.label + 1);
  return recording;
}

}  // namespace

std::uint64_t read_dvs_gesture(const fs::path& list, std::uint64_t count,
                               const TakeRecording& take) {
  const std::string text = read_file(list);
  const std::string name = list.string();
  Lines lines(text, name);
  std::uint64_t found = 0;
  while (lines.next_with_data()) {
    const std::string word(lines.word());
    lines.expect_end();
    const fs::path file = list.parent_path() / word;
    if (file.extension() != ".aedat" || file.filename() != word)
      lines.fail("found '{}', expected the name of an .aedat file beside this one", word);
    const std::vector<Trial> trials =
        trials_in(file.parent_path() / (file.stem().string() + "_labels.csv"));
    if (found < count) {
      const std::vector<SensorEvent> events = read_aedat(file, kDvsGestureSide);
      for (std::size_t i = 0; i < std::min<std::uint64_t>(trials.size(), count - found); ++i)
        take(recording_of(trials[i], events, file));
    }
    found += trials.size();
  }
  return found;
}

}  // namespace tessera::data
