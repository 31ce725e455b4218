// The kernel of examples/read_block.cu, for the stand-in: the same source, on a CPU thread.
#include <cstring>

#include "cpu_port.cuh"
#include "gpunvme.cuh"
#include "solo_team.cuh"
#include "standin/kernels.h"

namespace gnv {
using Device = BasicDevice<gpunvme::SoloTeam, gpunvme::CpuPort>;
}

#define __global__
#include "../../examples/read_block.cu"

namespace standin {

namespace {

void ReadBlock(void** parameters, Extent, Extent) {
  const gnv::Device device{Parameter<gnv_device>(parameters, 0)};
  read_block(device, Parameter<gnv::Buffer>(parameters, 1), Parameter<uint64_t>(parameters, 2),
             Parameter<BlockResult*>(parameters, 3));
}

}  // namespace

Kernel FindMoreKernels(const char* name) { return std::strcmp(name, "read_block") == 0 ? ReadBlock : nullptr; }

}  // namespace standin
