#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/json_text.h"
#include "tests/folder.h"
#include "tests/refusal.h"

namespace tessera::test {

using config::Json;

/// Exit code and output of one call of the program.
struct Answer {
  int code = 0;
  std::string out;
  std::string err;
};

/// A temporary folder in which tests call the built program.
class CommandFolder : public Folder {
 public:
  using Folder::Folder;

  /// Parses a file as JSON; throws if it is not JSON.
  [[nodiscard]] Json json(const std::string& name) const;
  /// Calls the program with shell-quoted arguments in this folder.
  [[nodiscard]] Answer call(const std::string& arguments, const std::string& input = "") const;
  /// A call that must exit with code 0; otherwise the test fails with the program's messages.
  Answer done(const std::string& arguments, const std::string& input = "") const;
  /// Calls the program without a shell and sends `signal` as soon as `ready` returns true, which
  /// must be before the program ends. Returns the exit code; -1 if the signal killed it.
  [[nodiscard]] int interrupt(const std::vector<std::string>& arguments, int signal,
                              const std::function<bool()>& ready) const;
};

/// The config tests/cli/small.json on `tiles` tiles, for tests that need some kernel, whichever it
/// is.
std::string small_config(unsigned tiles);
/// The path of that file.
std::string small_file();

/// Replaces KERNEL in `text` by the kernel of small.json, and PRODUCT by that of
/// configs/runs/quickstart.json, a dense product.
std::string with_kernel(std::string text);
std::vector<std::string> with_kernel(std::vector<std::string> texts);

/// A config of that product on `tiles` tiles of a Bow, with these keys in its workload.
std::string product_config(unsigned tiles, const std::string& keys);

/// Arguments of a run of that product that takes seconds, followed by `options`.
std::vector<std::string> long_run(const std::vector<std::string>& options = {});

/// Parses a file of the source tree as JSON with comments.
Json source_json(const std::string& name);
/// Parses strict JSON. Defined once, since the parser takes long to compile.
Json parsed_json(const std::string& text);

/// A .npy file of elements of `type` such as <f4 and of a shape such as "2, 3", with these bytes.
std::string numpy_file(const std::string& type, const std::string& shape, const std::string& bytes);
/// A .npy file of bytes 0, 1, ..., modulus - 1, 0, ... in file order.
std::string numpy_counting(const std::vector<unsigned>& shape, unsigned modulus);
/// A .npy file of f32 elements that all are `value`.
std::string numpy_filled(const std::vector<unsigned>& shape, float value);

/// A .npy file of zeros of a type.
std::string numpy_zeros(const std::string& type, const std::vector<unsigned>& shape);
/// An IDX file: two zeros, the type (8: unsigned bytes), the rank, 32-bit big-endian extents, then
/// the values, with the last extent varying fastest.
std::string idx_file(const std::vector<unsigned>& shape, const std::string& values, char type = 8);
/// The bytes 0, 1, ..., modulus - 1, 0, ... for an array of that shape.
std::string counting(const std::vector<unsigned>& shape, unsigned modulus);

/// The value at a path of a report, such as time.cycles; null if there is none.
Json value_at(const Json& report, std::string path);
/// Checks the values at paths of a report; null: the path must be absent. A number may be given by
/// bounds: {"above": 0, "below": 1}.
void check_report(const Json& report, const Json& expected);

/// Compares two reports: the bounds of quotients (`ratios`) and of differences (`differences`) of
/// their numbers, the paths with equal values (`same`) and with different ones (`differ`).
void check_compared(const Json& report, const Json& other, const Json& facts);

/// Checks that the call fails with exit code `code`: all parts of `message` on stderr, nothing on
/// stdout, no new file in the folder.
void check_refused(const CommandFolder& folder, const std::string& arguments,
                   const std::vector<std::string>& message, int code = 2);

}  // namespace tessera::test
