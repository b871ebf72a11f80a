#pragma once

namespace tessera::test {

/// True with AddressSanitizer, which reserves terabytes of addresses and multiplies run times.
#if defined(__SANITIZE_ADDRESS__)  // g++
inline constexpr bool kSanitized = true;
#elif !defined(__has_feature)
inline constexpr bool kSanitized = false;
#elif __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tessera::test
