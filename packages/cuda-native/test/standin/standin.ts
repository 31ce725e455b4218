import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { addonPlaces } from '../../src/native-addon.js'
import { built } from '../programs/build.mjs'
import { BUILD_MS, hasCompiler, skippedWithoutCompiler } from '../programs/program.js'

/** Whether the stand-in can be built, and the addons that use it are built. */
export const hasStandin: boolean =
  hasCompiler &&
  (['gpunvme_host', 'gpunvme_cuda'] as const).every((name) => addonPlaces(name).some((path) => existsSync(path)))

/** Suffix of the titles of skipped tests; empty if the stand-in can be used. */
export const skippedWithoutStandin: string = hasStandin
  ? ''
  : skippedWithoutCompiler || ' (skipped: [native] the addons are not built)'

/** Numbers of live resources in the stand-in. */
export interface Live {
  readonly contexts: number
  readonly modules: number
  readonly streams: number
  readonly events: number
  readonly device: number
  readonly pinned: number
  readonly registered: number
  readonly graphs: number
}

/** No live resources. */
export const NOTHING: Live = {
  ...{ contexts: 0, modules: 0, streams: 0, events: 0 },
  ...{ device: 0, pinned: 0, registered: 0, graphs: 0 },
}

/** Memory of this process. */
export interface MemoryRange {
  readonly address: bigint
  readonly lengthBytes: number
}

/** A mapping as described in /proc/self/smaps. */
export interface PretendedMapping {
  readonly name: string
  readonly permissions: string
  /** VmFlags of two letters each. Default: those of a BAR that is mapped through sysfs. */
  readonly flags: string
  /** Whether its pages are RAM instead of device memory. */
  readonly isRam: boolean
}

const BAR: PretendedMapping = {
  name: '/sys/devices/pci0000:00/0000:00:04.0/resource0',
  permissions: 'rw-s',
  flags: 'rd wr sh mr mw me ms pf io de dd',
  isRam: false,
}

/** Returns the text of smaps for a mapping. */
function smapsOf({ address, lengthBytes, ...given }: MemoryRange & Partial<PretendedMapping>): string {
  const { name, permissions, flags, isRam } = { ...BAR, ...given }
  const hex = (number: bigint) => number.toString(16)
  const head = `${hex(address)}-${hex(address + BigInt(lengthBytes))} ${permissions} 00000000 00:16 4242 ${name}`
  return `${head}\nSize: ${lengthBytes / 1024} kB\n${isRam ? 'Frames: ram\n' : ''}VmFlags: ${flags}\n`
}

/** A library that replaces libcuda.so.1 in the tests of a file. */
export interface Standin {
  /** PTX of kernels that it can run. */
  readonly ptx: Uint8Array
  live(): Live
  /**
   * Plans failures from the next cuInit on: `'cuMemAlloc_v2=2@3'`, or permanent, stopping all work:
   * `'cuStreamQuery=719@3+'`.
   */
  fail(plan: string): void
  /** Returns the number of planned failures that have occurred. */
  failed(): number
  /** Holds back the end of copies of at least `minBytes` bytes, until it is called with false. */
  holdCopies(hold: boolean, minBytes?: number): void
  /** Returns the numbers of kernels that were looked up by name, and loaded. */
  lookups(): { readonly asked: number; readonly loaded: number }
  copies(): { readonly started: number; readonly done: number }
  /** Returns the number of kernels of this package that were launched in this test. */
  launched(): number
  /** Holds back the start of the n-th launched kernel of this package, counted from 1, until it is called with 0. */
  holdLaunch(number: number): void
  /**
   * Applies the registration rules of a driver from the next cuInit on: 'open 580.95.05 6.12'; ' user' for no
   * privileges.
   */
  driver(machine: string): void
  /** Presents memory to the stand-in as these mappings. Default: as registers. */
  pretend(...mappings: readonly (MemoryRange & Partial<PretendedMapping>)[]): void
  /** Drops stores of kernels to this registered memory, from the next cuInit on. */
  lose(range: MemoryRange): void
  /** Returns the last range of registers that was registered. */
  registers(): { readonly at: bigint; readonly lengthBytes: number }
}

/** Polls every millisecond until the condition holds. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1))
}

const VARIABLES = [
  'LOST',
  'LIBRARY',
  'FAIL',
  'DEVICES',
  'VERSION',
  'TIME_LIMIT',
  'CONTROL',
  'ATTRIBUTES',
  'PEERS',
  'DRIVER',
  'SMAPS',
].map((name) => (name === 'LIBRARY' ? 'GPUNVME_CUDA_LIBRARY' : `GPUNVME_STANDIN_${name}`))

/** Makes the stand-in the libcuda of this test file. Must be called outside of tests. */
export function useStandin(): Standin {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-standin-'))
  const control = join(folder, 'control')
  const smaps = join(folder, 'smaps')
  let plans = 0
  let library: string

  // The layout of Control in libcuda.cc.
  const writeAt = (position: number, bytes: Uint32Array) => {
    const fd = openSync(control, 'r+')
    writeSync(fd, bytes, 0, bytes.byteLength, position)
    closeSync(fd)
  }
  const words = () => new Int32Array(new Uint8Array(readFileSync(control)).buffer, 0, 21)

  beforeAll(async () => {
    if (hasStandin) library = await built('standin/libcuda')
  }, BUILD_MS)
  beforeEach(() => {
    writeFileSync(control, new Uint8Array(4096), { flag: existsSync(control) ? 'r+' : 'w' })
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    process.env['GPUNVME_CUDA_LIBRARY'] = library
    process.env['GPUNVME_STANDIN_CONTROL'] = control
    process.env['GPUNVME_STANDIN_SMAPS'] = smaps
    writeFileSync(smaps, '')
  })
  afterAll(() => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    ptx: readFileSync(join(import.meta.dirname, 'kernels.ptx')),
    live() {
      const all = words()
      const [, , contexts, modules, streams, events, device, pinned, registered] = all as unknown as number[]
      return { contexts, modules, streams, events, device, pinned, registered, graphs: all[20] } as Live
    },
    fail(plan) {
      // A new text restarts the count of calls.
      process.env['GPUNVME_STANDIN_FAIL'] = `${plan},plan${plans++}=0`
    },
    failed: () => words()[1]!,
    holdCopies(hold, minBytes = 1) {
      writeFileSync(control, new Uint32Array([hold ? minBytes : 0]), { flag: 'r+' })
    },
    lookups: () => ({ asked: words()[18]!, loaded: words()[19]! }),
    copies: () => ({ started: words()[9]!, done: words()[10]! }),
    launched: () => words()[11]!,
    holdLaunch(number) {
      writeAt(48, new Uint32Array([number]))
    },
    driver(machine) {
      process.env['GPUNVME_STANDIN_DRIVER'] = machine
    },
    pretend(...mappings) {
      writeFileSync(smaps, mappings.map(smapsOf).join(''))
    },
    lose({ address, lengthBytes }) {
      process.env['GPUNVME_STANDIN_LOST'] = `${address.toString(16)}-${(address + BigInt(lengthBytes)).toString(16)}`
    },
    registers() {
      const [at, lengthBytes] = new BigUint64Array(words().slice(14, 18).buffer)
      return { at: at!, lengthBytes: Number(lengthBytes) }
    },
  }
}
