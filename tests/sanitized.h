#pragma once

namespace tessera::test {

/// True with AddressSanitizer, which reserves terabytes of addresses and multiplies run times.
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tessera::test
