import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import {
  fileOnDiskSource,
  openFileSystem,
  type FileOnDisk,
  type OpenFileSystemOptions,
} from '../../src/filesystems/index.js'
import { memorySource } from '../../src/formats/byte-source.js'

export const MIB = 1024 * 1024

/** Programs may be slow to start where much else runs. */
export const SLOW_MS = 180_000

function findProgram(tool: string): string | undefined {
  return ['/usr/sbin', '/sbin', '/usr/bin', '/bin'].map((bin) => join(bin, tool)).find((path) => existsSync(path))
}

/** Why a test cannot run, in the form that scripts/test-summary.mjs knows; undefined where every program is there. */
export function missing(...tools: string[]): string | undefined {
  const tool = tools.find((one) => findProgram(one) === undefined)
  return tool === undefined ? undefined : `[mkfs] ${tool} is not installed`
}

/** `describe` for tests that need these programs; its title says which one is missing. */
export function describeWith(title: string, tools: readonly string[], tests: () => void): void {
  const lacks = missing(...tools)
  describe.skipIf(lacks !== undefined)(lacks === undefined ? title : `${title} (skipped: ${lacks})`, tests)
}

/** Opens the file system of an image, by its path or its bytes, with a function that reads a file of it. */
export async function opened(image: string | Uint8Array, options: OpenFileSystemOptions = {}) {
  const source = memorySource(typeof image === 'string' ? readFileSync(image) : image, 'image')
  const fileSystem = await openFileSystem(source, options)
  const bytesOf = async (file: FileOnDisk) => {
    const into = Buffer.alloc(file.sizeBytes, 0xa5)
    await fileOnDiskSource(source, file).read(0, into)
    return into
  }
  return { fileSystem, bytesOf }
}

/** Runs a program to its end, and gives what it printed. @throws Error with what it said, where it failed. */
export function run(tool: string, args: readonly string[], { input = '', cwd = '/' } = {}): string {
  // Times and texts must not depend on where this runs; mtools would compare geometries that an image does not have.
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', MTOOLS_SKIP_CHECK: '1' }
  return execFileSync(findProgram(tool)!, args, { input, cwd, env, stdio: ['pipe', 'pipe', 'pipe'] }).toString()
}

/** Exit status of a program that judges. */
export function verdict(tool: string, args: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(findProgram(tool)!, args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

/** An image of zeros. */
export function emptyImage(path: string, sizeBytes: number): string {
  writeFileSync(path, '')
  truncateSync(path, sizeBytes)
  return path
}

/** The same bytes for the same seed, and no two blocks alike: xorshift32. */
export function noise(lengthBytes: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4))
  let state = (seed * 0x9e37_79b1 + 1) >>> 0
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
  return Buffer.from(words.buffer, 0, lengthBytes)
}
