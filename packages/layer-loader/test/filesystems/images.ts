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

/** Time limit for tests that start programs, for loaded machines. */
export const SLOW_MS = 180_000

function findProgram(tool: string): string | undefined {
  return ['/usr/sbin', '/sbin', '/usr/bin', '/bin'].map((bin) => join(bin, tool)).find((path) => existsSync(path))
}

/** Returns the reason to skip in the format of scripts/test-summary.mjs; undefined if all programs are installed. */
export function missing(...tools: string[]): string | undefined {
  const tool = tools.find((one) => findProgram(one) === undefined)
  return tool === undefined ? undefined : `[mkfs] ${tool} is not installed`
}

/** Like `describe`, for tests that need these programs; the title names a missing one. */
export function describeWith(title: string, tools: readonly string[], tests: () => void): void {
  const lacks = missing(...tools)
  describe.skipIf(lacks !== undefined)(lacks === undefined ? title : `${title} (skipped: ${lacks})`, tests)
}

/** Opens the file system of an image, given by path or bytes, with a function that reads one of its files. */
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

/** Runs a program and returns its output. @throws Error with the output if it fails. */
export function run(tool: string, args: readonly string[], { input = '', cwd = '/' } = {}): string {
  // Times and texts must not depend on the machine. mtools must not check geometries, which an image does not have.
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', MTOOLS_SKIP_CHECK: '1' }
  return execFileSync(findProgram(tool)!, args, { input, cwd, env, stdio: ['pipe', 'pipe', 'pipe'] }).toString()
}

/** Returns the exit status and output of a program that checks an image. */
export function verdict(tool: string, args: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(findProgram(tool)!, args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

/** Creates a file of zeros and returns its path. */
export function emptyImage(path: string, sizeBytes: number): string {
  writeFileSync(path, '')
  truncateSync(path, sizeBytes)
  return path
}

/** Returns xorshift32 bytes for a seed; all blocks differ. */
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
