import { cudaStatus } from '@gpunvme/cuda-native'
import { availableParallelism, cpus, release, type } from 'node:os'
import type { BenchMachine } from '../report/bench-results.js'

/** The machine that measures, without its name and its owner's. @param withGpu whether one took part. */
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

/** Of the first one, which engines take. */
function gpuName(): string | undefined {
  const status = cudaStatus()
  return status.available ? status.devices[0]?.name : undefined
}
