// Instantiates for the CPU everything that kernels.cu instantiates.
#include "checksum.cuh"
#include "cpu_port.cuh"
#include "pattern.cuh"
#include "scatter.cuh"
#include "serve.cuh"
#include "solo_team.cuh"
#include "store32.cuh"

using namespace gpunvme;

void all(Leader& leader, PatternVerdict* verdict, uint32_t* at) {
  serve<SoloTeam, CpuPort>(leader, 1);
  checksum<SoloTeam>({});
  scatter<SoloTeam>({});
  pattern_fill<SoloTeam>({});
  pattern_verify<SoloTeam>({}, verdict);
  store32<CpuPort>(at, 1);
}
