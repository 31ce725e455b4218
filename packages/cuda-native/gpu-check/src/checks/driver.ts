import type { Check, Facts } from '../check.js'
import { equal, fail } from '../check.js'
import { entryPoints } from '../kernels.js'

/** Returns environment variables that the CUDA driver reads, some of which the addon sets by default; null if unset. */
function environment(): Facts {
  const names = ['CUDA_DEVICE_MAX_CONNECTIONS', 'CUDA_MODULE_LOADING']
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? null]))
}

const attributes: Check = {
  id: 'attributes',
  title: 'The driver reports the attributes of the GPU',
  limitMs: 10_000,
  run({ device }) {
    const { ordering, engine, ...rest } = device
    const support = { usable: engine.usable, reasons: engine.reasons.map(({ code }) => code) }
    const facts: Facts = { ...rest, ordering: { ...ordering }, engine: support, environment: environment() }
    return Promise.resolve(facts)
  },
}

/** Parameters of launches that do nothing: no bytes, no pieces. Other checks launch the kernels that serve queues. */
const HARMLESS = {
  gpunvme_checksum: [0n, 0n, 4096n, 0n, 0n, 0n, 0n],
  gpunvme_scatter: [0n, 0n, 0n, 0n],
  gpunvme_pattern_fill: [0n, 0n, 0n, 0n],
  gpunvme_pattern_verify: [0n, 0n, 0n, 0n, 0n],
} as const

const ptxLoad: Check = {
  id: 'ptx-load',
  title: 'The driver compiles the shipped PTX for this GPU, finds every kernel, and runs those that accept empty input',
  limitMs: 120_000,
  async run(context) {
    const { cuda, kernels } = context
    const entries = entryPoints(kernels.kernels)
    for (const name of ['gpunvme_serve', ...Object.keys(HARMLESS)])
      if (!entries.has(name)) fail(`kernels.ptx has no entry point ${name}`)
    const startMs = performance.now()
    cuda.loadKernels(kernels.kernels)
    const loadMs = performance.now() - startMs
    const stream = cuda.stream()
    context.later(() => stream.close())
    const launched: string[] = []
    for (const [name, args] of Object.entries(HARMLESS)) {
      cuda.launch(name, 1, 32, args, stream)
      await stream.finished(10e9)
      launched.push(name)
    }
    // These kernels allow fewer threads than this. The error shows that the driver has found the kernel, and gives its limit.
    const limits: Record<string, number> = {}
    for (const [name, parameters] of entries) {
      if (name in HARMLESS) continue
      limits[name] = threadLimit(() => cuda.launch(name, 1, 1024, Array<bigint>(parameters).fill(0n), stream))
    }
    equal('kernels that ran', launched, Object.keys(HARMLESS))
    return { entryPoints: [...entries.keys()], launched, threadLimits: limits, loadMs: Math.round(loadMs) }
  },
}

function threadLimit(launch: () => void): number {
  try {
    launch()
  } catch (error) {
    const limit = /^block: expected at most (\d+) threads/.exec((error as Error).message)?.[1]
    if (limit !== undefined) return Number(limit)
    throw error
  }
  return fail('expected the launch of 1024 threads to be rejected, but it succeeded')
}

export const driverChecks: readonly Check[] = [attributes, ptxLoad]
