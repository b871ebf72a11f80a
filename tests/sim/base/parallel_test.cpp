#include "sim/base/parallel.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using tessera::HostThreads;

TEST_SUITE("unit") {
  TEST_CASE("every item is visited once, whatever the grain and the number of threads") {
    for (const unsigned threads : {0U, 1U, 2U, 5U}) {
      HostThreads pool(threads);
      for (const std::size_t grain : {1U, 3U, 64U, 5000U}) {
        std::vector<int> visits(1000, 0);
        pool.for_ranges(visits.size(), grain, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        });
        CHECK(std::accumulate(visits.begin(), visits.end(), 0) == 1000);
        CHECK(*std::max_element(visits.begin(), visits.end()) == 1);
      }
    }
  }

  TEST_CASE("jobs that follow each other closely do not mix") {
    HostThreads pool(3);
    std::vector<std::size_t> sums(4, 0);
    for (std::size_t job = 0; job < 20000; ++job)
      pool.for_ranges(4, 1, [&](std::size_t begin, std::size_t) { sums[begin] += job; });
    for (const std::size_t sum : sums) CHECK(sum == std::size_t{20000} * 19999 / 2);
  }

  TEST_CASE("the failure of the lowest item is reported") {
    HostThreads pool(4);
    std::string message;
    try {
      pool.for_ranges(100, 1, [](std::size_t begin, std::size_t) {
        if (begin % 10 == 7) throw std::runtime_error(std::to_string(begin));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "7");
  }

  TEST_CASE("no item is no call") {
    HostThreads pool(2);
    pool.for_ranges(0, 1, [](std::size_t, std::size_t) { FAIL("called"); });
  }
}
