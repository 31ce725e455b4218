import { readFileSync } from 'node:fs'
import type { Cuda } from './cuda.js'

/** The PTX text, relative to `src/cuda` and to `dist/cuda`. */
const kernelsFile = new URL('../../cuda/kernels.ptx', import.meta.url)

/** GPUs on which the kernels are loaded. */
const loaded = new WeakSet<Cuda>()

/** Loads the kernels of this package, once per GPU. @throws CudaCallError for a GPU that they do not support. */
export function loadPackageKernels(cuda: Cuda): void {
  if (!loaded.has(cuda)) cuda.loadKernels(readFileSync(kernelsFile))
  loaded.add(cuda)
}
