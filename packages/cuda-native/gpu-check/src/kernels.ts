import { readFileSync } from 'node:fs'

/** PTX of the kernels that the package ships, and of those that only these checks use. */
export interface KernelTexts {
  readonly kernels: Uint8Array
  readonly measure: Uint8Array
}

export function readKernels(): KernelTexts {
  const packageFolder = new URL('.', import.meta.resolve('@gpunvme/cuda-native/package.json'))
  return {
    kernels: readFileSync(new URL('cuda/kernels.ptx', packageFolder)),
    measure: readFileSync(new URL('../kernels/measure.ptx', import.meta.url)),
  }
}

/** Returns the number of parameters of each entry point in a PTX text. */
export function entryPoints(ptx: Uint8Array): ReadonlyMap<string, number> {
  const entries = new TextDecoder().decode(ptx).matchAll(/\.entry\s+([\w$]+)\s*\(([^)]*)\)/g)
  return new Map([...entries].map(([, name, list]) => [name!, list!.split('.param').length - 1]))
}
