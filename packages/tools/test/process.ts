import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { sharedFolder } from '../../../test/shared-folder.js'
import { packAll, unpack } from '../../../test/tarballs.js'
import type { Ended, RunOptions } from './gpunvme.js'

/**
 * Path of the program, from the packages as they would be published, so that a file missing from them fails tests.
 * GPUNVME_PROGRAM names another program to test.
 */
export const BIN = process.env['GPUNVME_PROGRAM'] ?? (await packedProgram())

/** Lays the packages out as npm does, once per run. Returns the path of the program. */
async function packedProgram(): Promise<string> {
  const tarballs = await packAll()
  const folder = await sharedFolder('packed', (to) => {
    const modules = join(to, 'node_modules')
    for (const [name, tarball] of tarballs) {
      for (const [path, bytes] of unpack(tarball)) {
        const file = join(modules, '@gpunvme', name, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, bytes)
      }
    }
    // The only dependency of the command outside this workspace.
    cpSync(dirname(createRequire(import.meta.url).resolve('commander')), join(modules, 'commander'), {
      recursive: true,
    })
  })
  return join(folder, 'node_modules/@gpunvme/tools/bin/gpunvme.js')
}

/** Runs the program in its own process, with pipes as stdin, stdout and stderr. */
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
  // The program may end before it has read all input.
  child.stdin.on('error', () => undefined).end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const bytes = Buffer.concat(chunks)
      resolve({ code, stdout: bytes.toString(), stderr, bytes })
    })
  })
}
