import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Compiles the QEMU plugin that counts instructions. Returns its path. @throws Error with the compiler's output */
export function buildCounter(folder: string): string {
  const plugin = join(folder, 'count-instructions.so')
  compile('-shared', '-fPIC', '-fvisibility=hidden', '-o', plugin, join(import.meta.dirname, 'count-instructions.c'))
  return plugin
}

/**
 * Compiles libnvm-read.c to `program`, which must have the same path in the guest. `source` is a checkout of
 * ssd-gpu-dma. A string states why it cannot be built.
 */
export function buildLibnvm(source: string | undefined, program: string): { program: string } | string {
  if (source === undefined) return 'GPUNVME_LIBNVM is not set to a checkout of ssd-gpu-dma'
  const library = join(source, 'src')
  if (!existsSync(library)) return `${library} does not exist`
  const files = readdirSync(library).filter((name) => name.endsWith('.c'))
  const includes = [`-I${join(source, 'include')}`, `-I${library}`]
  const ours = join(import.meta.dirname, 'libnvm-read.c')
  compile(
    '-w',
    '-D_GNU_SOURCE',
    ...includes,
    '-o',
    program,
    ours,
    ...files.map((name) => join(library, name)),
    '-lpthread',
  )
  return { program }
}

function compile(...args: string[]): void {
  const { error, status, stderr } = spawnSync('cc', ['-O2', ...args], { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(stderr)
}
