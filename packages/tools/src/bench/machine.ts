import { cudaStatus } from '@gpunvme/cuda-native'
import { availableParallelism, cpus, release, type } from 'node:os'
import type { BenchMachine } from '../report/bench-results.js'

/** Describes the measuring machine, without names of it or of its owner. @param withGpu whether a GPU took part. */
export function describeMachine(withGpu: boolean): BenchMachine {
  const gpu = withGpu ? gpuName() : undefined
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpus: availableParallelism(),
    kernel: `${type()} ${release()}`,
    node: process.version,
    ...(gpu !== undefined && { gpu }),
  }
}

/** Name of the first GPU, which engines use. */
function gpuName(): string | undefined {
  const status = cudaStatus()
  return status.available ? status.devices[0]?.name : undefined
}
