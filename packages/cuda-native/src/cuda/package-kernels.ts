import { readFileSync } from 'node:fs'
import type { Cuda } from './cuda.js'

/** The text of the kernels, seen from `src/cuda` and from `dist/cuda`. */
const kernelsFile = new URL('../../cuda/kernels.ptx', import.meta.url)

/** GPUs whose kernels are loaded: once is enough. */
const loaded = new WeakSet<Cuda>()

/** Loads the kernels of this package where they are not. @throws CudaCallError for a GPU that they are not for. */
export function loadPackageKernels(cuda: Cuda): void {
  if (!loaded.has(cuda)) cuda.loadKernels(readFileSync(kernelsFile))
  loaded.add(cuda)
}
