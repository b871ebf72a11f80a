#include "models/chip/sram.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/errors.h"

namespace tessera {
namespace {

// Bits of /proc/self/pagemap: the page is in memory, or swapped out.
constexpr std::uint64_t kTouchedBits = std::uint64_t{3} << 62;
constexpr std::size_t kBatch = 4096;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

Sram::Sram(std::uint32_t tiles, std::uint32_t bytes_per_tile)
    : tiles_(tiles),
      bytes_per_tile_(bytes_per_tile),
      page_(page_bytes()),
      stride_(round_up<std::size_t>(bytes_per_tile, page_)) {
  void* base = mmap(nullptr, stride_ * tiles, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw UserError(
        fmt::format("machine.tiles: the host cannot map {} tiles of {} KiB (address space limit)",
                    tiles, bytes_per_tile / 1024));
  base_ = static_cast<std::byte*>(base);
  // A huge page would make a tile that touches one word cost 2 MiB.
  madvise(base_, stride_ * tiles, MADV_NOHUGEPAGE);
}

Sram::~Sram() { munmap(base_, stride_ * tiles_); }

std::vector<Bytes> Sram::touched() const {
  std::vector<Bytes> result(tiles_);
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return result;
  const std::size_t pages = stride_ / page_ * tiles_;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(base_) / page_;
  std::vector<std::uint64_t> entries(kBatch);
  for (std::size_t page = 0; page < pages;) {
    const std::size_t wanted = std::min(kBatch, pages - page) * sizeof(std::uint64_t);
    const auto offset = static_cast<off_t>((first + page) * sizeof(std::uint64_t));
    const ssize_t got = pread(file, entries.data(), wanted, offset);
    if (got <= 0) break;
    const std::size_t count = static_cast<std::size_t>(got) / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; ++i)
      if ((entries[i] & kTouchedBits) != 0) result[(page + i) * page_ / stride_] += Bytes(page_);
    page += count;
  }
  close(file);
  return result;
}

}  // namespace tessera
