#pragma once

#if defined(TESSERA_ALLOCATOR)
#include <mimalloc.h>
#endif

namespace tessera {

/// For a program's first line: memory that was freed is kept for what comes next. Else half of the
/// pages that planning touches were touched before and given back to the host meanwhile. Nothing
/// where another allocator is used.
inline void keep_freed_memory() {
#if defined(MI_MALLOC_VERSION) && MI_MALLOC_VERSION < 210  // later versions name it otherwise
  constexpr long kNever = 1'000'000'000;                   // milliseconds
  mi_option_set(mi_option_decommit_delay, kNever);
  mi_option_set(mi_option_segment_decommit_delay, kNever);
#endif
}

}  // namespace tessera
