#include "sim/base/embedded.h"

#include <algorithm>

namespace tessera::embedded {

struct Record {
  const char* name;
  const std::byte* begin;
  const std::byte* end;
};

// The linker defines these section bounds; both are null in a program that embeds nothing.
extern const Record kFirst[] __asm__("__start_tessera_embedded") __attribute__((weak));
extern const Record kLast[] __asm__("__stop_tessera_embedded") __attribute__((weak));

namespace {

std::span<const Record> records() {
  const Record* const first = kFirst;
  const Record* const last = kLast;
  return first == nullptr ? std::span<const Record>() : std::span(first, last);
}

std::span<const std::byte> bytes_of(const Record& record) { return {record.begin, record.end}; }

}  // namespace

std::vector<File> files(std::string_view prefix) {
  std::vector<File> found;
  for (const Record& record : records()) {
    const std::string_view name = record.name;
    if (name.starts_with(prefix)) found.push_back({name, bytes_of(record)});
  }
  std::ranges::sort(found, {}, &File::name);
  return found;
}

std::span<const std::byte> find(std::string_view name) {
  for (const Record& record : records()) {
    if (name == record.name) return bytes_of(record);
  }
  return {};
}

}  // namespace tessera::embedded
