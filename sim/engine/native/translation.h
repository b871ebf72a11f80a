#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/engine/native/region.h"

/// Translated regions of one code.
namespace tessera::engine::native {

/// An entry of translated code: an Op that replaces the interpreter's. If the entry does not fit
/// (other memory size, other state), `original` goes on.
struct Entry {
  Op op;
  const Op* original = nullptr;
};
inline constexpr int kOriginalAt = sizeof(Op);

// Handlers at which translated code ends if slots have run out.
handler::Function due_handler;
handler::Function due_inside_handler;

/// Conditions that translated code assumes; its entries check them.
struct Setting {
  std::uint32_t size = 0;  ///< memory size
  std::uint32_t code_end = 0;
  bool counts = false;  ///< activities
  bool timed = false;
  std::size_t most_steps = 0;  ///< about the most to translate
  const HandlerSet* handlers = nullptr;
};

/// Owns the code of all regions translated with it. Not thread-safe.
class Translation {
 public:
  Translation();
  ~Translation();
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  /// Returns an entry for each node in order, null for those that are not kept; nothing if the host
  /// refuses.
  std::vector<Entry*> translate(Region& region, const Setting& setting);

 private:
  struct Runtime;
  std::unique_ptr<Runtime> runtime_;  ///< once something is translated
  std::deque<Entry> entries_;
};

}  // namespace tessera::engine::native
