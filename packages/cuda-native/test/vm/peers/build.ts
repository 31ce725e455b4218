import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Compiles the plugin that counts instructions, for QEMU to load. @throws Error with what the compiler says. */
export function buildCounter(folder: string): string {
  const plugin = join(folder, 'count-instructions.so')
  compile('-shared', '-fPIC', '-fvisibility=hidden', '-o', plugin, join(import.meta.dirname, 'count-instructions.c'))
  return plugin
}

/**
 * The program that reads by libnvm, in the cache, where the guest finds it; `source` is a checkout of ssd-gpu-dma. Text
 * where there is none: why.
 */
export function buildLibnvm(source: string | undefined, program: string): { program: string } | string {
  if (source === undefined) return 'GPUNVME_LIBNVM names no checkout of ssd-gpu-dma'
  const library = join(source, 'src')
  if (!existsSync(library)) return `there is no ${library}`
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
