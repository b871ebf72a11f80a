#pragma once

namespace tessera::test {

/// Built with AddressSanitizer: it wants terabytes of addresses and several times the time.
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tessera::test
