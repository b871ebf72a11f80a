#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <systemc>

// Required by SystemC's library; tests that elaborate a machine do so in a child process.
int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
