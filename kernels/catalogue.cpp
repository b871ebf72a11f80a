#include "kernels/catalogue.h"

#include "kernels/butterfly/butterfly.h"
#include "kernels/convnet/convnet.h"
#include "kernels/gemm/gemm.h"
#include "kernels/latency/latency.h"
#include "kernels/matrix_unit/matrix_unit.h"
#include "kernels/mlp/mlp.h"
#include "kernels/pixelfly/pixelfly.h"
#include "kernels/snn/snn.h"
#include "kernels/spmm_dynamic/spmm_dynamic.h"
#include "kernels/spmm_static/spmm_static.h"
#include "kernels/spmm_tilewise/spmm_tilewise.h"
#include "kernels/stream/stream.h"

namespace tessera {

// Kernels that state all of themselves.
namespace fft {
Kernel kernel();
}
namespace scan {
Kernel kernel();
}
namespace stencil {
Kernel kernel();
}

namespace kernels {

Catalogue catalogue() {
  return {
      make_kernel<butterfly::Options, butterfly::Butterfly>(
          "butterfly", "product of butterfly factors, and its gradients"),
      make_kernel<convnet::Options>("convnet", "a convolutional network, in int8 or f16",
                                    convnet::make_convnet),
      fft::kernel(),
      make_kernel<gemm::Options>("gemm", "dense matrix product on the matrix units of all tiles",
                                 gemm::make_gemm),
      make_kernel<latency::Options>("latency", "chains of dependent instructions on every context",
                                    latency::make_latency),
      make_kernel<matrix_unit::Options>("matrix_unit",
                                        "[n, 16] times [16, 16] on every tile's matrix unit",
                                        matrix_unit::make_matrix_unit),
      make_kernel<mlp::Options, mlp::Mlp>(
          "mlp", "a stack of layers trained on images, loss and all on the machine"),
      make_kernel<pixelfly::Options>("pixelfly",
                                     "a layer S + U V^T and its gradients, S a flat block "
                                     "butterfly, U and V of low rank",
                                     pixelfly::make_pixelfly),
      scan::kernel(),
      make_kernel<snn::Options, snn::Snn>(
          "snn", "a spiking network on streams of events, trained or only run"),
      make_kernel<spmm_dynamic::Options, spmm_dynamic::SpmmDynamic>(
          "spmm_dynamic", "sparse times dense and its gradients, the pattern given at run time"),
      make_kernel<spmm_static::Options>(
          "spmm_static", "sparse times dense, the pattern known when the program is built",
          spmm_static::make_spmm_static),
      make_kernel<spmm_tilewise::Options, spmm_tilewise::SpmmTilewise>(
          "spmm_tilewise", "dense times a weight matrix pruned by tiles of columns"),
      stencil::kernel(),
      make_kernel<stream::Options, stream::Stream>(
          "stream", "STREAM copy, scale, add, triad, and updates in every tile's SRAM"),
  };
}

}  // namespace kernels

}  // namespace tessera
