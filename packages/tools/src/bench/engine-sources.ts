import type { EngineName } from '../drive/by-name.js'
import type { BenchSource } from '../report/bench-results.js'

const SOURCES: Readonly<Record<EngineName, BenchSource>> = {
  host: {
    name: 'host',
    kind: 'engine',
    description: 'TypeScript writes the commands and rings the doorbells',
    memory: 'host',
    latencyOf: 'command',
  },
  'cpu-kernel': {
    name: 'cpu-kernel',
    kind: 'engine',
    description: 'the device code, compiled for the CPU, one thread per queue',
    memory: 'host',
    latencyOf: 'plan',
  },
  cuda: {
    name: 'cuda',
    kind: 'engine',
    description: 'a CUDA kernel writes the commands and rings the doorbells; queues and data in host memory',
    memory: 'host',
    latencyOf: 'plan',
  },
}

export function engineSource(name: EngineName): BenchSource {
  return SOURCES[name]
}
