#pragma once

#if defined(TESSERA_ALLOCATOR)
#include <mimalloc.h>
#endif

namespace tessera {

/// Keeps freed memory for later allocations; call it first in main. By default mimalloc returned it
/// to the host, and half of the pages that planning touched were touched a second time. No effect
/// with another allocator.
inline void keep_freed_memory() {
#if defined(MI_MALLOC_VERSION) && MI_MALLOC_VERSION < 210  // later versions name it otherwise
  constexpr long kNever = 1'000'000'000;                   // milliseconds
  mi_option_set(mi_option_decommit_delay, kNever);
  mi_option_set(mi_option_segment_decommit_delay, kNever);
#endif
}

}  // namespace tessera
