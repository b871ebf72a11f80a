#include "sim/engine/memory_access.h"

#include "sim/base/types.h"

namespace tessera::engine {
namespace {

constexpr unsigned kSizes = 4;

bool in_range(const Frame& frame, std::uint32_t address, std::uint32_t bytes) {
  return std::uint64_t{address} + bytes <= frame.size;
}

bool note(Frame& frame, Fault fault, std::uint32_t address) {
  frame.fault = fault;
  frame.address = address;
  return false;
}

}  // namespace

void set_bounds(Frame& frame, const TileMemory& memory) {
  constexpr std::uint32_t kGranule = 8;
  frame.size = memory.size;
  frame.code_end = memory.code_end;
  const std::uint32_t base = round_up(memory.code_end, kGranule);
  const std::uint32_t writable = memory.size > base ? memory.size - base : 0;
  for (unsigned log = 0; log < kSizes; ++log) {
    frame.load_limit[log] = memory.size >> log;
    frame.store_base[log] = base >> log;
    frame.store_limit[log] = writable >> log;
  }
}

bool note_load_fault(Frame& frame, std::uint32_t address, std::uint32_t bytes) {
  const bool aligned = address % bytes == 0;
  return note(frame, aligned ? Fault::out_of_range : Fault::misaligned, address);
}

bool check_store(Frame& frame, std::uint32_t address, std::uint32_t bytes) {
  if (address % bytes != 0) return note(frame, Fault::misaligned, address);
  if (!in_range(frame, address, bytes)) return note(frame, Fault::out_of_range, address);
  if (address < frame.code_end) return note(frame, Fault::write_to_code, address);
  return true;
}

}  // namespace tessera::engine
