#include "sim/base/demand_zero.h"

#include <sys/mman.h>

namespace tessera {

DemandZero::DemandZero(std::size_t bytes) : bytes_(bytes) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base != MAP_FAILED) data_ = static_cast<std::byte*>(base);
}

DemandZero::~DemandZero() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void DemandZero::use_huge_pages(bool use) {
  madvise(data_, bytes_, use ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace tessera
