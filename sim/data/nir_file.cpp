#include "sim/data/nir_file.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/children.h"
#include "sim/base/host_limit.h"
#include "sim/data/nir_hdf5.h"
#include "sim/data/read_file.h"

namespace tessera::data {

namespace {

/// Of the process that reads, beside copies of the file that the library makes. The numbers that a
/// file may hold stand there twice; they are read in less than a second.
constexpr std::uint64_t kMostMemory = 3 * sizeof(double) * kMostNirValues;
constexpr std::uint64_t kFileCopies = 3;
constexpr rlim_t kMostSeconds = 4;

/// What begins the text of a child.
constexpr char kGraph = 'G';
constexpr char kMistake = 'M';

/// A graph as bytes from this program to itself.
class Packer {
 public:
  std::string pack(const NirGraph& graph) {
    std::uint64_t values = 0;
    for (const auto& [name, node] : graph.nodes)
      for (const auto& [key, parameter] : node.parameters) values += parameter.values.size();
    text_.reserve(values * sizeof(double));
    text_ += kGraph;
    add(graph.nodes.size());
    for (const auto& [name, node] : graph.nodes) {
      add(name);
      add(node.type);
      add(node.parameters.size());
      for (const auto& [key, parameter] : node.parameters) {
        add(key);
        add(parameter.text);
        add(parameter.shape);
        add(parameter.values);
      }
    }
    add(graph.edges.size());
    for (const auto& [from, to] : graph.edges) {
      add(from);
      add(to);
    }
    return std::move(text_);
  }

 private:
  void add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  template <class Number>
  void add(const std::vector<Number>& numbers) {
    add(numbers.size());
    text_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  }

  std::string text_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::string& text) : text_(text) {}

  NirGraph unpack() {
    NirGraph graph;
    for (std::uint64_t left = number(); left > 0; --left) {
      const std::string name = text();
      NirNode& node = graph.nodes[name];
      node.type = text();
      for (std::uint64_t parameters = number(); parameters > 0; --parameters) {
        NirParameter& parameter = node.parameters[text()];
        parameter.text = text();
        parameter.shape = numbers<std::uint64_t>();
        parameter.values = numbers<double>();
      }
    }
    for (std::uint64_t left = number(); left > 0; --left) {
      const std::string from = text();
      graph.edges.emplace_back(from, text());
    }
    return graph;
  }

 private:
  void take(void* into, std::uint64_t bytes) {
    check(bytes <= text_.size() - at_, "nir: {} bytes of {} from byte {} on", bytes, text_.size(),
          at_);
    if (bytes != 0) std::memcpy(into, text_.data() + at_, bytes);
    at_ += bytes;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    take(&number, sizeof number);
    return number;
  }
  std::string text() {
    std::string text(number(), '\0');
    take(text.data(), text.size());
    return text;
  }
  template <class Number>
  std::vector<Number> numbers() {
    std::vector<Number> numbers(number());
    take(numbers.data(), numbers.size() * sizeof(Number));
    return numbers;
  }

  const std::string& text_;
  std::uint64_t at_ = 1;
};

void lower_limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, most);
  ::setrlimit(resource, &limit);
}

/// What a process that may die does first: it takes so much and no more, says nothing and leaves no
/// core.
void expect_the_worst(std::uint64_t memory) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  lower_limit(RLIMIT_AS, pages * page_bytes + memory);
  lower_limit(RLIMIT_CPU, kMostSeconds);
  lower_limit(RLIMIT_CORE, 0);
  for (const int signal : {SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, SIG_DFL);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

std::string read_for_parent(const std::string& name, std::string bytes) {
  const std::uint64_t memory = kMostMemory + kFileCopies * bytes.size();
  expect_the_worst(memory);
  try {
    return Packer().pack(parse_nir(name, std::move(bytes)));
  } catch (const UserError& error) {
    return kMistake + std::string(error.what());
  } catch (const std::bad_alloc&) {
    return kMistake + fmt::format("{}: reading it takes more than {} MiB", name, memory >> 20U);
  }
}

}  // namespace

NirGraph read_nir(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::string bytes = read_file(path);
  Children children;
  children.start(0, [&](std::size_t) { return read_for_parent(name, std::move(bytes)); });
  std::vector<Children::Finished> finished;
  while (finished.empty()) finished = children.wait();
  const auto& [item, text, death, starved] = finished.front();
  if (starved) throw HostLimit(fmt::format("{}: the process that reads it: {}", name, death));
  if (!death.empty())
    throw UserError(fmt::format("{}: no file that libhdf5 can read: it ends with {}", name, death));
  check(!text.empty(), "nir: nothing came of reading {}", name);
  if (text.front() == kMistake) throw UserError(text.substr(1));
  return Unpacker(text).unpack();
}

}  // namespace tessera::data
