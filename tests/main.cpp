#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <systemc>

// SystemC's library asks for it; tests that elaborate a machine do so in a process of their own.
int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
