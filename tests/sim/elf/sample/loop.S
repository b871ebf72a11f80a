#include "xtile.h"

// A hardware loop that ends with its function, and every Xtile operand shape.
codelet sample_loop
  ld2 fa0, fa1, (a0), (a1)
  fld.p fa2, (a2), -8
  zip.h fa3, fa4, fa0, fa1
  amp.h fa5, fa0, fa2, 11
  lgx.s ft0, a3, (a4)
  ld4 ft8, (a5)
  amp.b acc7, h23, v11
  st.bh acc1, (a0), (a1), t0
  xctl 19
  la a3, worker
worker:
  rpt t1, end
  ld2st fa0, fa1, fa2
  fma.4h fa3, fa0, fa1, fa2
end:
end_codelet sample_loop
