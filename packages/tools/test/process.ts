import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { packAll, removeScratchFolders, unpack } from '../../../test/tarballs.js'
import type { Ended, RunOptions } from './gpunvme.js'

/** How long another worker may take to pack. */
const PACK_MS = 120_000

/**
 * The program, from the packages as they would be published: a file that is missing there is missing here too.
 * GPUNVME_PROGRAM names another program to test. The first worker that needs it packs, and the others wait.
 */
export const BIN = process.env['GPUNVME_PROGRAM'] ?? (await packed(inject('packed')))

async function packed(folder: string): Promise<string> {
  const modules = join(folder, 'node_modules')
  if (mkdirSync(join(folder, 'packing'), { recursive: true }) !== undefined) layOut(modules)
  const untilMs = performance.now() + PACK_MS
  while (!existsSync(modules)) {
    if (performance.now() > untilMs) throw new Error('Another worker has not packed the packages: see its failure')
    await sleep(50)
  }
  return join(modules, '@gpunvme/tools/bin/gpunvme.js')
}

/** Lays the packages out as npm does. The folder appears when it is complete. */
function layOut(modules: string): void {
  const partial = `${modules}.partial`
  for (const [name, tarball] of packAll()) {
    for (const [path, bytes] of unpack(tarball)) {
      const file = join(partial, '@gpunvme', name, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, bytes)
    }
  }
  removeScratchFolders()
  // The command's only dependency that is not of this workspace.
  cpSync(dirname(createRequire(import.meta.url).resolve('commander')), join(partial, 'commander'), { recursive: true })
  renameSync(partial, modules)
}

/** Runs the program as a user does, in a process of its own, with pipes for a terminal. */
export function gpunvmeProcess(
  args: readonly string[],
  { cwd, env = {}, input = '', onStderr }: RunOptions,
): Promise<Ended & { readonly bytes: Buffer }> {
  const colours = { FORCE_COLOR: undefined, NO_COLOR: undefined }
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env: { ...process.env, ...colours, ...env } })
  const chunks: Buffer[] = []
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    onStderr?.(stderr, child)
  })
  // The program may end before it has read all of it.
  child.stdin.on('error', () => undefined).end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const bytes = Buffer.concat(chunks)
      resolve({ code, stdout: bytes.toString(), stderr, bytes })
    })
  })
}
