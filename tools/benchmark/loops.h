#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::benchmark {

/// A loop of guest/, as a program for tiles and as a host function.
struct Loop {
  std::string name;
  std::uint32_t (*on_host)();
};
std::vector<Loop> loops();

/// Time of a loop: processor seconds, the best of several rounds; and its checksum.
struct Timed {
  double seconds = 0;
  std::string sum;
};

/// The measurements of a loop. Instructions and slots are equal for both engines.
struct Measured {
  std::string name;
  std::uint64_t instructions = 0;
  std::uint64_t slots = 0;
  Timed interpreter, native, host;
  std::optional<Timed> qemu;  ///< nullopt if qemu-riscv32 is not installed
};

/// Throws if checksums differ, or if the engines differ in anything.
Measured measure(const Loop& loop);

}  // namespace tessera::benchmark
