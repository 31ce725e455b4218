import type { Check, Facts } from '../check.js'
import { equal, fail } from '../check.js'
import { entryPoints } from '../kernels.js'

const attributes: Check = {
  id: 'attributes',
  title: 'The driver describes the GPU',
  limitMs: 10_000,
  run({ device }) {
    const facts: Facts = { ...device }
    return Promise.resolve(facts)
  },
}

/** Launches that do nothing: no bytes, no pieces. The others serve a queue, and other checks launch them. */
const HARMLESS = {
  gpunvme_checksum: [0n, 0n, 4096n, 0n, 0n, 0n, 0n],
  gpunvme_scatter: [0n, 0n, 0n, 0n],
  gpunvme_pattern_fill: [0n, 0n, 0n, 0n],
  gpunvme_pattern_verify: [0n, 0n, 0n, 0n, 0n],
} as const

const ptxLoad: Check = {
  id: 'ptx-load',
  title: 'The driver compiles the shipped PTX for this GPU, and finds every kernel in it that can run on nothing',
  limitMs: 120_000,
  async run(context) {
    const { cuda, kernels } = context
    const names = entryPoints(kernels.kernels)
    for (const name of ['gpunvme_serve', ...Object.keys(HARMLESS)])
      if (!names.includes(name)) fail(`kernels.ptx has no entry point ${name}`)
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
    equal('kernels that ran', launched, Object.keys(HARMLESS))
    return { entryPoints: names, launched, loadMs: Math.round(loadMs) }
  },
}

export const driverChecks: readonly Check[] = [attributes, ptxLoad]
