#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "sim/base/errors.h"
#include "sim/trace/recording.h"

namespace tessera::trace {
namespace {

constexpr std::string_view kUnknownWord = "x";

/// The words of a VCD, with their line numbers.
class Words {
 public:
  Words(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  /// Returns an empty word at the end.
  std::string_view next() {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t begin = std::min(text_.find_first_not_of(kBlank, at_), text_.size());
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 '\n'));
    at_ = std::min(text_.find_first_of(kBlank, begin), text_.size());
    return std::string_view(text_).substr(begin, at_ - begin);
  }
  std::string_view needed() {
    const std::string_view word = next();
    if (word.empty()) fail("found the file's end");
    return word;
  }
  /// The words up to $end, joined by blanks.
  std::string until_end() {
    std::string all;
    for (std::string_view word = needed(); word != "$end"; word = needed())
      all.append(all.empty() ? "" : " ").append(word);
    return all;
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError("{}:{}: {}, expected a VCD of tessera run", file_, line_, problem);
  }
  template <class Number>
  Number number(std::string_view word, int base = 10) const {
    Number value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc() || stop != word.data() + word.size())
      fail(fmt::format("found {} for a number", word));
    return value;
  }

 private:
  const std::string& text_;
  const std::string& file_;
  std::size_t at_ = 0, line_ = 1;
};

/// Femtoseconds of "1 fs", "10ps"; nullopt if it is not a timescale.
std::optional<std::uint64_t> femtoseconds_of(const std::string& timescale) {
  constexpr std::array<std::string_view, 6> kUnits = {"fs", "ps", "ns", "us", "ms", "s"};
  const std::size_t digits = std::min(timescale.find_first_not_of("10"), timescale.size());
  const std::string magnitude = timescale.substr(0, digits);
  const std::size_t unit = std::min(timescale.find_first_not_of(' ', digits), timescale.size());
  std::uint64_t scale = 1;
  if (magnitude != "1" && magnitude != "10" && magnitude != "100") return std::nullopt;
  for (const std::string_view each : kUnits) {
    if (timescale.substr(unit) == each) return scale * std::stoull(magnitude);
    scale *= 1000;
  }
  return std::nullopt;
}

/// A signal by its meaning.
struct Signal {
  enum class Kind : std::uint8_t { other, number, bytes, step, phase, state, worker, receives };
  Kind kind = Kind::other;
  std::uint32_t tile = 0, worker = 0;  ///< for a superstep's signals, `tile` is the zone
  bool open = false;                   ///< has an unended slice
};

class VcdReading {
 public:
  VcdReading(const std::string& text, const std::string& file)
      : words_(text, file), recording_(file) {}

  Recording read() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) {
      if (word.front() == '$') {
        declare(word);
      } else if (word.front() == '#') {
        go_to(words_.number<std::uint64_t>(word.substr(1)));
      } else {
        change(word);
      }
    }
    if (!is_ours_) words_.fail("found no signal machine.step");
    for (auto& [id, signal] : signals_)
      if (signal.open) close(signal);
    for (auto& [number, zone] : zones_)
      if (zone.open) end_superstep(number);
    return std::move(recording_);
  }

 private:
  void declare(std::string_view keyword) {
    if (keyword == "$end" || keyword.starts_with("$dump")) return;  // these enclose changes
    const std::string text = words_.until_end();
    if (keyword == "$timescale") scale(text);
    if (keyword == "$comment") comment(text);
    if (keyword == "$scope") scopes_.push_back(text.substr(text.rfind(' ') + 1));
    if (keyword == "$upscope" && !scopes_.empty()) scopes_.pop_back();
    if (keyword == "$var") declare_signal(text);
  }

  void scale(const std::string& text) {
    const auto femtoseconds = femtoseconds_of(text);
    if (!femtoseconds)
      words_.fail(
          fmt::format("found timescale {}, allowed 1, 10 or 100 of s, ms, us, ns, ps, fs", text));
    tick_ = *femtoseconds;
    recording_.timescale = text;
  }

  void comment(const std::string& text) {
    constexpr std::string_view kFront = "a cycle is ", kBack = " fs";
    if (!text.starts_with(kFront) || !text.ends_with(kBack))
      return recording_.remarks.push_back(text);
    cycle_ = words_.number<std::uint64_t>(
        std::string_view(text).substr(kFront.size(), text.size() - kFront.size() - kBack.size()));
    recording_.timescale += fmt::format(", {} fs a cycle", cycle_);
  }

  /// Parses "wire 64 ! superstep".
  void declare_signal(const std::string& text) {
    const std::size_t name = text.rfind(' ') + 1;
    if (name < 2 || scopes_.empty()) return words_.fail(fmt::format("found $var {}", text));
    const std::size_t id = text.rfind(' ', name - 2) + 1;
    const Signal signal = signal_of(scopes_.back(), text.substr(name));
    is_ours_ |= signal.kind == Signal::Kind::step;
    if (signal.kind == Signal::Kind::step) recording_.zones[signal.tile];
    signals_[text.substr(id, name - 1 - id)] = signal;
    if (signal.kind == Signal::Kind::state) recording_.tiles[signal.tile];
    if (signal.kind == Signal::Kind::worker) recording_.tiles[signal.tile].workers[signal.worker];
  }

  [[nodiscard]] Signal signal_of(std::string_view scope, std::string_view name) const {
    using Kind = Signal::Kind;
    constexpr std::string_view kZone = "zone_", kTile = "tile_", kWorker = "worker_";
    if (scope == "machine" || scope.starts_with(kZone)) {
      const std::uint32_t zone =
          scope == "machine" ? 0 : words_.number<std::uint32_t>(scope.substr(kZone.size()));
      if (name == "superstep") return {Kind::number, zone};
      if (name == "exchanged_bytes") return {Kind::bytes, zone};
      if (name == "step") return {Kind::step, zone};
      return {name == "phase_of_last_tile" ? Kind::phase : Kind::other, zone};
    }
    if (!scope.starts_with(kTile)) return {};
    const auto tile = words_.number<std::uint32_t>(scope.substr(kTile.size()));
    if (tile >= Recording::kMostTiles) words_.fail(fmt::format("found tile {}", tile));
    if (name == "state") return {Kind::state, tile};
    if (name == "receives") return {Kind::receives, tile};
    if (!name.starts_with(kWorker)) return {};
    return {Kind::worker, tile, words_.number<std::uint32_t>(name.substr(kWorker.size()))};
  }

  void go_to(std::uint64_t tick) {
    if (tick_ == 0 || cycle_ == 0) words_.fail("found a time before timescale and cycle are said");
    if (tick > UINT64_MAX / tick_ || tick * tick_ % cycle_ != 0)
      words_.fail(fmt::format("found time {}, which is no whole number of cycles", tick));
    const Cycle at(tick * tick_ / cycle_);
    if (at < now_) words_.fail(fmt::format("found time {} behind a later one", tick));
    now_ = at;
  }

  /// "s" and a word or "b" and a number, then the signal; or digit and signal in one word.
  void change(std::string_view word) {
    constexpr std::string_view kDigits = "01xXzZ", kWords = "bBrRsS";
    const bool scalar = kDigits.find(word.front()) != std::string_view::npos;
    if (!scalar && kWords.find(word.front()) == std::string_view::npos)
      words_.fail(fmt::format("found {}", word));
    const std::string_view value = scalar ? word.substr(0, 1) : word.substr(1);
    const auto signal = signals_.find(std::string(scalar ? word.substr(1) : words_.needed()));
    if (signal == signals_.end())
      words_.fail(fmt::format("found {} of a signal that is not declared", word));
    set(signal->second, value);
  }

  void set(Signal& signal, std::string_view value) {
    switch (signal.kind) {
      case Signal::Kind::number:
        zones_[signal.tile].number = words_.number<std::uint64_t>(value, 2);
        return;
      case Signal::Kind::bytes:
        zones_[signal.tile].bytes = words_.number<std::uint64_t>(value, 2);
        return;
      case Signal::Kind::step:
        return begin_superstep(signal.tile, value);
      case Signal::Kind::receives:
        return receive(signal.tile, value);
      case Signal::Kind::other:
        return;
      default:
        return show(signal, value);
    }
  }

  void begin_superstep(std::uint32_t number, std::string_view name) {
    OpenZone& zone = zones_[number];
    if (zone.open) end_superstep(number);
    if (name == kUnknownWord) return;
    recording_.zones[number].supersteps.push_back(
        {now_, now_, recording_.name(name), zone.number, Bytes(zone.bytes)});
    zone.open = true;
  }

  /// A superstep ends where the zone's next one begins, or where its last tile ends.
  void end_superstep(std::uint32_t number) {
    recording_.zones[number].supersteps.back().end = now_;
    zones_[number].open = false;
  }

  std::vector<Recording::Slice>& slices_of(const Signal& signal) {
    if (signal.kind == Signal::Kind::phase) return recording_.zones[signal.tile].phases;
    Recording::Tile& tile = recording_.tiles[signal.tile];
    return signal.kind == Signal::Kind::state ? tile.states : tile.workers[signal.worker];
  }

  void close(Signal& signal) {
    std::vector<Recording::Slice>& slices = slices_of(signal);
    if (slices.empty()) words_.fail("found two signals of one name");
    slices.back().end = now_;
    if (slices.back().begin == now_) slices.pop_back();
    signal.open = false;
  }

  void show(Signal& signal, std::string_view value) {
    if (signal.open) close(signal);
    const bool ended = value == kStateNames[name_of(State::ended)] || value == kUnknownWord;
    if (ended && signal.kind == Signal::Kind::phase && zones_[signal.tile].open)
      end_superstep(signal.tile);
    if (ended || value == kStateNames[name_of(State::idle)]) return;
    slices_of(signal).push_back({now_, now_, recording_.name(value)});
    signal.open = true;
  }

  /// "-3:64,+5:128": 64 bytes from tile 3 have arrived, 128 from tile 5 begin.
  void receive(std::uint32_t number, std::string_view value) {
    std::vector<Recording::Arrival>& transfers = recording_.tiles[number].transfers;
    std::vector<std::size_t>& open = receiving_[number];
    if (value == kUnknownWord) return open.clear();
    while (!value.empty()) {
      const std::string_view one = value.substr(0, value.find(','));
      value.remove_prefix(std::min(one.size() + 1, value.size()));
      const std::size_t colon = one.find(':');
      if (colon == std::string_view::npos || (one.front() != '+' && one.front() != '-'))
        words_.fail(fmt::format("found {} for a transfer such as +5:128", one));
      const auto from = words_.number<std::uint32_t>(one.substr(1, colon - 1));
      const Bytes bytes(words_.number<std::uint64_t>(one.substr(colon + 1)));
      if (one.front() == '+') {
        open.push_back(transfers.size());
        transfers.push_back({now_, now_, from, bytes});
        continue;
      }
      const auto begun = std::ranges::find_if(open, [&](std::size_t each) {
        return transfers[each].from == from && transfers[each].bytes == bytes;
      });
      if (begun == open.end()) words_.fail(fmt::format("found {}, which had not begun", one));
      transfers[*begun].end = now_;
      open.erase(begun);
    }
  }

  Words words_;
  Recording recording_;
  std::vector<std::string> scopes_;
  std::unordered_map<std::string, Signal> signals_;
  std::map<std::uint32_t, std::vector<std::size_t>> receiving_;  ///< by tile: open transfers
  std::uint64_t tick_ = 0, cycle_ = 0;                           ///< femtoseconds
  Cycle now_;
  /// The values of a zone's signals; `open`: a superstep has not ended.
  struct OpenZone {
    std::uint64_t number = 0, bytes = 0;
    bool open = false;
  };
  std::map<std::uint32_t, OpenZone> zones_;
  bool is_ours_ = false;
};

}  // namespace

Recording read_vcd(const std::string& text, const std::string& file) {
  return VcdReading(text, file).read();
}

}  // namespace tessera::trace
