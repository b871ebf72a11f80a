#include "sim/isa/packed/amp_block.h"

#include "sim/isa/float/host_environment.h"

namespace tessera::packed {

#if TESSERA_HOST_FLOAT

bool host_has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}
AmpBlocks host_blocks() { return host_has_avx512() ? avx512_blocks() : avx2_blocks(); }

#else

bool host_has_avx512() { return false; }
AmpBlocks host_blocks() { return {}; }

#endif

}  // namespace tessera::packed
