import { unknown, type Known } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import type { KernelExports } from './driver-state.js'
import { LOOKUP_SYMBOLS } from './module-file.js'

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads a kernel's exports from its headers, where the driver's conftest looks.
 */
export async function readKernelExports(root: Root, release: string): Promise<KernelExports> {
  return { release, exports: await exportsOf(root, release) }
}

async function exportsOf(root: Root, release: string): Promise<KernelExports['exports']> {
  const places = [`lib/modules/${release}/build/Module.symvers`, `lib/modules/${release}/source/Module.symvers`]
  for (const path of places) {
    const bytes = await root.bytes(path, MAX_BYTES)
    if (bytes !== undefined) return parse(Buffer.from(bytes).toString('latin1'), path)
  }
  return missing(root, places[0]!)
}

function missing(root: Root, path: string): Known<never> {
  const why = root.why(path)
  return why.unknown.startsWith('there is no') ? unknown(`the kernel's headers are not installed: no /${path}`) : why
}

/**
 * Lines of checksum, name, module, kind of export and namespace, separated by tabs (Linux,
 * Documentation/kbuild/modules.rst).
 */
function parse(text: string, path: string): KernelExports['exports'] {
  if (!/^0x[0-9a-f]{8}\t/.test(text)) return unknown(`/${path} does not have the format of a kernel build`)
  const found = LOOKUP_SYMBOLS.flatMap((name) => {
    const [, kind] = new RegExp(`^0x[0-9a-f]{8}\\t${name}\\t[^\\t\\n]*\\t(\\w+)`, 'm').exec(text) ?? []
    return kind === undefined ? [] : [[name, kind.endsWith('_GPL') ? 'GPL' : 'any'] as const]
  })
  return Object.fromEntries(found)
}
