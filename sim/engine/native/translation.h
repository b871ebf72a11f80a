#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/engine/native/region.h"

/// Translated regions of one code.
namespace tessera::engine::native {

/// An entry of translated code: an Op in whose place the interpreter's would stand. If the entry
/// does not fit (another memory, another state), `original` goes on.
struct Entry {
  Op op;
  const Op* original = nullptr;
};
inline constexpr int kOriginalAt = sizeof(Op);

// Where translated code ends because slots have run out (Handler).
handler::Signature due_handler;
handler::Signature due_inside_handler;

/// Conditions that translated code assumes; its entries check them.
struct Setting {
  std::uint32_t size = 0;  ///< memory size
  std::uint32_t code_end = 0;
  bool counts = false;  ///< activities
  bool timed = false;
  std::size_t most_steps = 0;  ///< to translate, about
  const HandlerSet* handlers = nullptr;
};

/// Owns the code of all regions translated with it. Not thread-safe.
class Translation {
 public:
  Translation();
  ~Translation();
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  /// An entry for each node, in order, null for those that are not kept; nothing if the host
  /// refuses.
  std::vector<Entry*> translate(Region& region, const Setting& setting);

 private:
  struct Runtime;
  std::unique_ptr<Runtime> runtime_;  ///< once something is translated
  std::deque<Entry> entries_;
};

}  // namespace tessera::engine::native
