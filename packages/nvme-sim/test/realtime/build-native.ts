import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { NativeHost } from '@gpunvme/nvme-spec/transport'

/** Exports of `native-host.c`. */
export interface NativeTestHost extends NativeHost {
  /** Allocates memory until the process ends. Returns its address. */
  map(lengthBytes: number): bigint
  /** Starts a thread that submits pairs of Write and Read to the controller, and verifies each. */
  startHost(bar: bigint, dma: bigint, pairs: number): void
  /** Returns the result of the thread; undefined while it runs. */
  outcome(): string | undefined
}

/** Compiles `native-host.c` into a folder that the caller removes. A string states why it cannot be compiled. */
export function buildNativeHost(): { readonly module: URL; readonly folder: string } | string {
  const headers = [join(dirname(process.execPath), '../include/node'), '/usr/include/node'].find((path) =>
    existsSync(join(path, 'node_api.h')),
  )
  if (headers === undefined) return '[native] the headers of node are not installed'
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-native-'))
  const source = join(import.meta.dirname, 'native-host.c')
  const addon = join(folder, 'host.node')
  try {
    const flags = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-O1', '-shared', '-fPIC', '-pthread']
    execFileSync('cc', [...flags, '-I', headers, '-o', addon, source], { stdio: 'pipe' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '[native] no C compiler is installed'
    throw error
  }
  const module = join(folder, 'host.mjs')
  const script = `import { createRequire } from 'node:module'\nexport default createRequire(import.meta.url)('./host.node')\n`
  writeFileSync(module, script)
  return { module: pathToFileURL(module), folder }
}
