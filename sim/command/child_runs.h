#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tessera::command {

/// Calls `work` for each of `count` items in a process of its own (SystemC elaborates once a
/// process), `jobs` at a time, and hands the text that it returned to `done`, in the items' order.
/// A process that dies yields an empty text.
void run_in_children(std::size_t count, unsigned jobs,
                     const std::function<std::string(std::size_t)>& work,
                     const std::function<void(std::size_t, const std::string&)>& done);

}  // namespace tessera::command
