#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/fields.h"

namespace tessera::config {

/// A field that holds a number, as the declarations have it.
struct NumberKey {
  std::string path;
  std::string sentence;
  std::string unit;
  double value = 0;
  bool is_integer = false;
};

/// Every number that something reads, in the order of the declarations, below key path `path`;
/// those of lists of structs too.
std::vector<NumberKey> number_keys(const std::function<void(Fields&)>& members,
                                   const std::string& path);

}  // namespace tessera::config
