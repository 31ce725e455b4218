import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gpunvmeModule } from './kmod-build.js'
import { unpackKernel } from './kernel-image.js'
import type { Module } from './modules.js'
import { CACHE, type GuestParts } from './parts.js'

const KMOD = join(import.meta.dirname, '../../../../kmod')
const SCRIPT = join(KMOD, 'scripts/kernels.mjs')

/** A kernel, and the modules of ours that were built for it. */
export interface KmodKernel {
  readonly parts: GuestParts
  /** gpunvme, and gpunvme_test of kmod/test/module. */
  readonly ours: readonly Module[]
}

/** The kernel of the other guests, with headers that are installed. Text where something is missing: what. */
export function installedKernel(parts: GuestParts): KmodKernel | string {
  const gpunvme = gpunvmeModule(parts.release)
  if (typeof gpunvme === 'string') return gpunvme
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'new-'))
  try {
    cpSync(join(KMOD, 'test/module'), folder, { recursive: true })
    run('make', '-C', `/usr/src/linux-headers-${parts.release}`, `M=${folder}`, 'modules')
    const test = readFileSync(join(folder, 'gpunvme_test.ko'))
    return { parts, ours: named(gpunvme, test) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The newest kernel that kmod/scripts has a recipe for, without a module of ours. Text where it cannot be had: why. */
export function newestParts(): GuestParts | string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--image', '7.2'], { encoding: 'utf8' })
  if (status !== 0) return missing(stderr)
  const parts = JSON.parse(stdout) as GuestParts
  return { ...parts, kernel: uncompressed(parts.kernel, parts.release) }
}

/** The newest kernel that kmod/scripts has a recipe for, by the packages that it downloads. Text where it cannot: why. */
export function newestKernel(): KmodKernel | string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--guest', '7.2'], { encoding: 'utf8' })
  if (/does not compile|warnings for/.test(stderr)) throw new Error(stderr)
  if (status !== 0) return missing(stderr)
  const { folder, kernel, ...parts } = JSON.parse(stdout) as GuestParts & { readonly folder: string }
  try {
    const [gpunvme, test] = ['gpunvme.ko', 'test/gpunvme_test.ko'].map((path) => readFileSync(join(folder, path)))
    return { parts: { ...parts, kernel: uncompressed(kernel, parts.release) }, ours: named(gpunvme!, test!) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function missing(stderr: string): string {
  return `[vm] Linux 7.2 cannot be had: ${/Error: (.*)/.exec(stderr)?.[1] ?? stderr.slice(-200)}`
}

function uncompressed(kernel: string, release: string): string {
  mkdirSync(CACHE, { recursive: true })
  const path = join(CACHE, `vmlinux-${release}`)
  if (existsSync(path)) return path
  const unpacked = unpackKernel(readFileSync(kernel))
  if (unpacked === undefined) return kernel
  writeFileSync(path, unpacked)
  return path
}

function named(gpunvme: Buffer, test: Buffer): Module[] {
  return [
    { name: 'gpunvme', content: gpunvme },
    { name: 'gpunvme_test', content: test },
  ]
}

/** Builds the program of kmod/test/check where the guest finds it under the same path. @returns that path */
export function buildCheck(): string {
  const sources = join(KMOD, 'test/check')
  const program = join(CACHE, 'kmod-check')
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'))
  const flags = ['-std=gnu11', '-O1', '-static', '-Wall', '-Wextra', '-Werror', `-I${join(KMOD, 'uapi')}`]
  mkdirSync(CACHE, { recursive: true })
  run('gcc', ...flags, '-o', program, ...files.map((name) => join(sources, name)))
  return program
}

function run(command: string, ...args: string[]): void {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
}
