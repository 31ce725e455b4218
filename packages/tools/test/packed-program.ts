import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { packAll, removeScratchFolders, scratchFolder, unpack } from '../../../test/tarballs.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The program, as somebody has it who installed the packed packages. */
    program: string
  }
}

/**
 * Lays the packages out as npm does, from what would be published: a file that is missing there is missing in the tests
 * of the command too. GPUNVME_PROGRAM names another program to test, and saves the packing.
 */
export default function setup({ provide }: TestProject): (() => void) | undefined {
  const given = process.env['GPUNVME_PROGRAM']
  if (given !== undefined) {
    provide('program', given)
    return undefined
  }
  const modules = join(scratchFolder('packed'), 'node_modules')
  for (const [name, tarball] of packAll()) {
    const into = join(modules, '@gpunvme', name)
    for (const [path, bytes] of unpack(tarball)) {
      mkdirSync(dirname(join(into, path)), { recursive: true })
      writeFileSync(join(into, path), bytes)
    }
  }
  // Of others, the command needs one.
  const { resolve } = createRequire(import.meta.url)
  cpSync(dirname(resolve('commander')), join(modules, 'commander'), { recursive: true })
  provide('program', join(modules, '@gpunvme/tools/bin/gpunvme.js'))
  return removeScratchFolders
}
