#include "tests/tools/viewer/chromium.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace tessera::test {
namespace {

constexpr const char* kProgram = "/usr/bin/chromium";
constexpr int kPatienceMilliseconds = 60'000;  // for one answer; the host may be busy

[[noreturn]] void fail(const std::string& problem) {
  throw std::runtime_error("chromium: " + problem);
}

/// In the child: moves the pipes to 3 and 4; exec closes everything else.
[[noreturn]] void become_chromium(int commands, int answers, const std::string& profile) {
  ::setpgid(0, 0);
  // First to high numbers, since the pipes' own may be 3 and 4.
  const int in = ::fcntl(commands, F_DUPFD, 10);
  const int out = ::fcntl(answers, F_DUPFD, 10);
  ::dup2(in, 3);
  ::dup2(out, 4);
  ::close(in);
  ::close(out);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int each = 0; each < 3; ++each) ::dup2(nowhere, each);
  ::execl(kProgram, kProgram, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
          "--no-first-run", "--disable-background-networking", "--disable-component-update",
          "--disable-sync", "--window-size=1440,1000", "--remote-debugging-pipe",
          ("--user-data-dir=" + profile).c_str(), "about:blank", nullptr);
  ::_exit(127);
}

}  // namespace

bool Chromium::installed() { return ::access(kProgram, X_OK) == 0; }

Chromium::Chromium(const std::filesystem::path& profile) {
  std::signal(SIGPIPE, SIG_IGN);
  start(profile);
  const Json targets = call("Target.getTargets").at("targetInfos");
  for (const Json& target : targets) {
    if (target.at("type") != "page") continue;
    const Json attached =
        call("Target.attachToTarget", {{"targetId", target.at("targetId")}, {"flatten", true}});
    session_ = attached.at("sessionId").get<std::string>();
  }
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) {
    call(std::string(domain) + ".enable");
  }
}

void Chromium::start(const std::filesystem::path& profile) {
  std::array<int, 2> commands{};
  std::array<int, 2> answers{};
  if (::pipe2(commands.data(), O_CLOEXEC) != 0 || ::pipe2(answers.data(), O_CLOEXEC) != 0) {
    fail("no pipe");
  }
  process_ = ::fork();
  if (process_ < 0) fail("no process");
  if (process_ == 0) become_chromium(commands[0], answers[1], profile.string());
  ::setpgid(process_, process_);
  ::close(commands[0]);
  ::close(answers[1]);
  to_ = commands[1];
  from_ = answers[0];
}

Chromium::~Chromium() {
  ::close(to_);
  ::close(from_);
  ::kill(-process_, SIGKILL);  // its process group: only this browser's processes
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

Chromium::Json Chromium::receive() {
  std::size_t end = buffer_.find('\0');
  while (end == std::string::npos) {
    pollfd ready{from_, POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMilliseconds) <= 0) fail("no answer");
    std::array<char, 65536> piece;
    const ssize_t got = ::read(from_, piece.data(), piece.size());
    if (got <= 0) fail("it ended");
    const std::size_t before = buffer_.size();
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    end = buffer_.find('\0', before);
  }
  Json message = config::parse_json(buffer_.substr(0, end), "chromium");
  buffer_.erase(0, end + 1);
  return message;
}

Chromium::Json Chromium::call(const std::string& method, const Json& parameters) {
  Json message = {{"id", ++number_}, {"method", method}, {"params", parameters}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump();
  for (std::size_t at = 0; at <= text.size();) {
    const ssize_t written = ::write(to_, text.c_str() + at, text.size() + 1 - at);
    if (written <= 0) fail("it takes no commands");
    at += static_cast<std::size_t>(written);
  }
  while (true) {
    const Json answer = receive();
    if (!answer.contains("id")) {
      note(answer);
    } else if (answer.at("id") == number_) {
      if (answer.contains("error")) fail(method + ": " + answer.at("error").dump());
      return answer.at("result");
    }
  }
}

void Chromium::note(const Json& event) {
  const auto method = event.at("method").get<std::string>();
  if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" ||
      method == "Log.entryAdded") {
    complaints_.push_back(event.at("params").dump());
  } else if (method == "Network.requestWillBeSent") {
    requests_.push_back(event.at("params").at("request").at("url").get<std::string>());
  }
}

void Chromium::open(const std::filesystem::path& page, bool dark) {
  complaints_.clear();
  requests_.clear();
  const char* scheme = dark ? "dark" : "light";
  call("Emulation.setEmulatedMedia",
       {{"features", {{{"name", "prefers-color-scheme"}, {"value", scheme}}}}});
  call("Page.navigate", {{"url", "file://" + std::filesystem::absolute(page).string()}});
  constexpr int kTries = 600;
  for (int i = 0; i < kTries; ++i) {
    if (evaluate("performance.getEntriesByName('painted').length") == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail("the page does not paint");
}

Chromium::Json Chromium::evaluate(const std::string& expression) {
  const Json answer =
      call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (answer.contains("exceptionDetails")) fail(answer.at("exceptionDetails").dump());
  return answer.at("result").value("value", Json());
}

void Chromium::wheel(double x, double y, double by) {
  call("Input.dispatchMouseEvent",
       {{"type", "mouseWheel"}, {"x", x}, {"y", y}, {"deltaX", 0}, {"deltaY", by}});
}

void Chromium::resize(unsigned width, unsigned height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
}

void Chromium::print_look() { call("Emulation.setEmulatedMedia", {{"media", "print"}}); }

void Chromium::look_as_before() {
  call("Emulation.clearDeviceMetricsOverride");
  call("Emulation.setEmulatedMedia", {{"media", ""}});
}

void Chromium::press(const std::string& key) {
  // Keys that move the focus or press buttons need their Windows key codes.
  const int code = key == "Tab" ? 9 : key == "Enter" ? 13 : 0;
  const std::string text = key == "Enter" ? "\r" : key == "Tab" ? "" : key;
  Json down = {{"type", "keyDown"}, {"key", key}, {"text", text}};
  Json up = {{"type", "keyUp"}, {"key", key}};
  if (code != 0) down["windowsVirtualKeyCode"] = up["windowsVirtualKeyCode"] = code;
  call("Input.dispatchKeyEvent", down);
  call("Input.dispatchKeyEvent", up);
}

std::size_t Chromium::colours_shown() {
  const auto picture = call("Page.captureScreenshot").at("data").get<std::string>();
  return evaluate(fmt::format(R"((async () => {{
    const bytes = Uint8Array.from(atob('{}'), c => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {{type: 'image/png'}}));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
    return new Set(pixels).size;
  }})())",
                              picture))
      .get<std::size_t>();
}

}  // namespace tessera::test
