#include "kernels/catalogue.h"

#include "kernels/convnet/convnet.h"
#include "kernels/gemm/gemm.h"
#include "kernels/mlp/mlp.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/snn/snn.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"

namespace tessera {

// Kernels that define their own catalogue entry.
namespace butterfly {
Kernel kernel();
}
namespace fft {
Kernel kernel();
}
namespace latency {
Kernel kernel();
}
namespace matrix_unit {
Kernel kernel();
}
namespace scan {
Kernel kernel();
}
namespace stencil {
Kernel kernel();
}
namespace stream {
Kernel kernel();
}

namespace kernels {

Catalogue catalogue() {
  return {
      butterfly::kernel(),
      make_kernel<convnet::Options>("convnet", "a convolutional network, in int8 or f16",
                                    convnet::make_convnet),
      fft::kernel(),
      make_kernel<gemm::Options>("gemm", "dense matrix product on the matrix units of all tiles",
                                 gemm::make_gemm),
      latency::kernel(),
      matrix_unit::kernel(),
      make_kernel<mlp::Options, mlp::Mlp>(
          "mlp", "a stack of layers trained on images, with the loss on the machine"),
      make_kernel<pixelfly::Options>("pixelfly",
                                     "a layer S + U V^T and its gradients, with S a flat block "
                                     "butterfly matrix and U V^T of low rank",
                                     pixelfly::make_pixelfly),
      scan::kernel(),
      make_kernel<snn::Options, snn::Snn>(
          "snn", "a spiking network on event streams, trained or only run"),
      make_kernel<spmm_dynamic::Options, spmm_dynamic::SpmmDynamic>(
          "spmm_dynamic",
          "sparse times dense product and its gradients, with the pattern given at run time"),
      make_kernel<spmm_static::Options>(
          "spmm_static",
          "sparse times dense product, with the pattern known when the program is built",
          spmm_static::make_spmm_static),
      make_kernel<spmm_tilewise::Options, spmm_tilewise::SpmmTilewise>(
          "spmm_tilewise", "dense matrix times a weight matrix pruned by tiles of columns"),
      stencil::kernel(),
      stream::kernel(),
  };
}

}  // namespace kernels

}  // namespace tessera
