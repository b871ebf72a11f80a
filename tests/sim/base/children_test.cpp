#include "sim/base/children.h"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <unistd.h>

#include <doctest/doctest.h>

using tessera::Children;
using tessera::run_in_children;

TEST_SUITE("unit") {
  TEST_CASE("outcomes arrive in the items' order whichever child ends first") {
    std::string order;
    run_in_children(
        5, 3,
        [](std::size_t item) {
          ::usleep(item == 0 ? 50'000 : 1'000);
          return std::string(item == 1 ? 300'000 : 1, static_cast<char>('a' + item));
        },
        [&](const Children::Finished& finished) {
          CHECK(finished.death.empty());
          CHECK(finished.text.size() == (finished.item == 1 ? 300'000 : 1));
          order += finished.text.front();
        });
    CHECK(order == "abcde");
  }

  TEST_CASE("a waiting caller learns how many children have ended while others still run") {
    std::vector<std::size_t> told;
    run_in_children(
        2, 2,
        [](std::size_t item) {
          ::usleep(item == 0 ? 400'000 : 1'000);
          return std::string();
        },
        [](const Children::Finished&) {}, [&](std::size_t ended) { told.push_back(ended); });
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(std::count(told.begin(), told.end(), 1U) > 1);
    CHECK(told.back() == 2);
  }

  TEST_CASE("a child that ends early is handed out before an older one") {
    Children children;
    const auto work = [](std::size_t item) {
      if (item == 0) ::pause();
      return std::string("done");
    };
    children.start(0, work);
    children.start(1, work);
    std::vector<Children::Finished> finished;
    while (finished.empty()) finished = children.wait();
    CHECK(finished.size() == 1);
    CHECK(finished.front().item == 1);
    CHECK(children.running() == 1);  // its destructor ends the other
  }

  TEST_CASE("how a child died is told") {
    std::vector<std::string> deaths;
    run_in_children(
        3, 2,
        [](std::size_t item) -> std::string {
          if (item == 0) ::raise(SIGKILL);
          if (item == 1) ::_exit(3);
          throw std::runtime_error("unexpected");
        },
        [&](const Children::Finished& finished) { deaths.push_back(finished.death); });
    CHECK(deaths == std::vector<std::string>{"signal 9 (Killed)", "exit code 3", "exit code 4"});
  }

  TEST_CASE("a kept child takes one item after another and remembers") {
    Children children(Children::Kept::yes);
    std::string seen;
    const auto work = [&seen](std::size_t item) {
      if (item == 3) ::_exit(7);
      seen += static_cast<char>('a' + item);
      return seen + std::string(item == 1 ? 200'000 : 0, '.');
    };
    const auto answer_to = [&](std::size_t item) {
      children.start(item, work);
      std::vector<Children::Finished> finished;
      while (finished.empty()) finished = children.wait();
      REQUIRE(finished.size() == 1);
      CHECK(finished.front().item == item);
      return finished.front();
    };
    CHECK(answer_to(0).text == "a");
    CHECK(answer_to(1).text == "ab" + std::string(200'000, '.'));
    CHECK(answer_to(2).text == "abc");
    CHECK(children.running() == 0);
    CHECK(answer_to(3).death == "exit code 7");
    CHECK(answer_to(4).text == "e");  // that of another child
    children.dismiss();
    CHECK(answer_to(5).text == "f");
  }

  TEST_CASE("waiting ends when input can be read or the time is over") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    Children children;
    CHECK(children.wait(1, ends[0]).empty());
    REQUIRE(::write(ends[1], "x", 1) == 1);
    CHECK(children.wait(-1, ends[0]).empty());
  }
}
