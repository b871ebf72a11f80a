#include "sim/trace/vcd_writer.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "sim/base/errors.h"

namespace tessera::trace {
namespace {

/// The shortest text of printable characters for a number.
std::string id_of(std::uint32_t number) {
  constexpr std::uint32_t kPrintable = 94;  // from '!' to '~'
  std::string id;
  for (;; number = number / kPrintable - 1) {
    id += static_cast<char>('!' + number % kPrintable);
    if (number < kPrintable) return id;
  }
}

}  // namespace

VcdWriter::VcdWriter(std::ostream& out) : output_(out) {
  output_.append("$version Tessera $end\n$timescale 1 fs $end\n");
}

void VcdWriter::begin_scope(std::string_view name) {
  output_.append(fmt::format("$scope module {} $end\n", name));
}

void VcdWriter::end_scope() { output_.append("$upscope $end\n"); }

VcdWriter::Signal VcdWriter::declare(std::string_view type, std::uint32_t bits,
                                     std::string_view name) {
  const auto signal = static_cast<Signal>(ids_.size());
  const std::string id = id_of(signal);
  output_.append(fmt::format("$var {} {} {} {} $end\n", type, bits, id, name));
  Id& kept = ids_.emplace_back();
  kept.size = static_cast<std::uint8_t>(id.copy(kept.bytes.data(), kept.bytes.size() - 1) + 1);
  kept.bytes[kept.size - 1U] = '\n';
  return signal;
}

VcdWriter::Signal VcdWriter::add_number(std::string_view name, std::uint32_t bits) {
  return declare("wire", bits, name);
}

VcdWriter::Signal VcdWriter::add_text(std::string_view name) { return declare("string", 1, name); }

void VcdWriter::end_declarations() { output_.append("$enddefinitions $end\n"); }

void VcdWriter::at(std::uint64_t femtoseconds) {
  if (timed_ && femtoseconds == now_) return;
  check(femtoseconds >= now_, "trace: a VCD's time goes from {} fs back to {} fs", now_,
        femtoseconds);
  timed_ = true;
  now_ = femtoseconds;
  output_.append(fmt::format("#{}\n", femtoseconds));
}

void VcdWriter::number(Signal signal, std::uint64_t value) {
  output_.append(fmt::format("b{:b} {}", value, ids_[signal].text()));
}

void VcdWriter::text(Signal signal, std::string_view word) {
  char* at = output_.room(word.size() + 2 + sizeof(Id));
  *at++ = 's';
  std::memcpy(at, word.data(), word.size());
  at += word.size();
  *at++ = ' ';
  const Id& id = ids_[signal];
  std::memcpy(at, id.bytes.data(), id.bytes.size());
  output_.wrote(at + id.size);
}

std::string VcdWriter::word_of(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string word(text.empty() ? "_" : text.substr(0, kLongest));
  std::ranges::replace_if(
      word, [](unsigned char c) { return std::isgraph(c) == 0; }, '_');
  return word;
}

void VcdWriter::comment(std::string_view text) {
  output_.append(fmt::format("$comment {} $end\n", text));
}

}  // namespace tessera::trace
