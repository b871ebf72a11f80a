#include "models/chip/sram.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/host_limit.h"

namespace tessera {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Sram::Sram(std::uint32_t tiles, std::uint32_t bytes_per_tile)
    : tiles_(tiles),
      bytes_per_tile_(bytes_per_tile),
      stride_(round_up<std::size_t>(bytes_per_tile, page_bytes())) {
  void* base = mmap(nullptr, stride_ * tiles, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw_host_error(errno, fmt::format("machine.tiles: the host cannot map {} tiles of {} KiB: {}",
                                        tiles, bytes_per_tile / 1024, std::strerror(errno)));
  base_ = static_cast<std::byte*>(base);
  // A huge page would make a tile that touches one word cost 2 MiB.
  madvise(base_, stride_ * tiles, MADV_NOHUGEPAGE);
}

Sram::~Sram() { munmap(base_, stride_ * tiles_); }

}  // namespace tessera
