import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runGuest, type GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { newestKernel, type KmodKernel } from './kmod-kernels.js'
import { devicesOf, environmentOf, IOMMU, MODES, parts } from './modes.js'
import { ModuleFolder } from './modules.js'
import { CACHE } from './parts.js'
import { IMAGES } from './scenarios.js'

// dma-bufs in place of GPU memory, imported by the gpunvme module. udmabuf exports them, which Debian's Linux 6.1
// lacks, so the guest runs the newest kernel that kmod-kernels.ts can provide. The test module's exporter revokes a
// dma-buf that is in use.

const mode = MODES.find(({ name }) => name === 'kmod')!
const turns = [
  { script: 'dma-bufs', timeoutMs: 240_000 },
  { script: 'revoked', timeoutMs: 120_000 },
  { script: 'restored', timeoutMs: 60_000 },
]

/** Returns the kernel of the guest; a string states why no guest can run. */
function kernel(): KmodKernel | string {
  const made = parts()
  if (typeof made === 'string') return made
  if (spawnSync('gcc', ['--version']).error) return '[kbuild] gcc is not installed'
  return newestKernel()
}

/** Builds with-memfd.c in the cache, which has the same path in the guest. Returns the path. */
function buildWithMemfd(): string {
  const program = join(CACHE, 'with-memfd')
  mkdirSync(CACHE, { recursive: true })
  const source = join(import.meta.dirname, 'with-memfd.c')
  const { status, stderr } = spawnSync('gcc', ['-static', '-Wall', '-Werror', '-o', program, source], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return program
}

const found = kernel()

describe.each(['none', 'translated'] as const)('dma-bufs in a Linux guest, IOMMU: %s', (iommu) => {
  if (typeof found === 'string') {
    test('dma-bufs in place of GPU memory', ({ skip }) => skip(found))
    return
  }
  let guest: GuestRun
  const of = (script: string) => {
    const run = guest.scenarios.get(script)
    expect(run?.end, run?.end === undefined ? guest.console : run.end.stderr).toMatchObject({ code: 0, signal: null })
    return run!.lines.at(-1)
  }

  beforeAll(async () => {
    const environment = { ...environmentOf(mode), VM_WITH_MEMFD: buildWithMemfd() }
    guest = await runGuest({
      parts: found.parts,
      modules: [
        ...new ModuleFolder(found.parts.modules).inOrder(['nvme', 'virtio_pci', '9pnet_virtio', '9p']),
        ...found.ours,
      ],
      devices: devicesOf({ iommu, modes: [mode] }),
      images: IMAGES,
      append: `hugepages=96 ${IOMMU[iommu]}`,
      memoryMiB: 1024,
      deadlineMs: 900_000,
      scenarios: turns.map((turn) => ({ ...turn, name: turn.script, environment })),
    })
    const times = [...guest.scenarios].map(([name, { end }]) => `${name} ${((end?.ms ?? NaN) / 1000).toFixed(1)} s`)
    process.stdout.write(`dma-bufs on ${guest.release}, IOMMU ${iommu}: ${times.join(', ')}\n`)
  })

  test('accepts memory for tier 3 if data arrive in it, and otherwise demotes it to tier 1 with the reason', () => {
    expect(of('dma-bufs')).toMatchObject({
      right: { tier: 3, reasons: [] },
      wrong: { tier: 1, reasons: [expect.stringMatching(/^wrong-place: one page in the middle: /)] },
      iommu,
    })
  })

  test('tier 2: reads into the memory and writes from it transfer every byte', () => {
    expect(of('dma-bufs')).toMatchObject({ tier2: { arrived: true, left: true, hasView: false } })
  })

  test('tier 3: queues and PRP lists in the memory work too, with the host engine and with cpu-kernel', () => {
    expect(of('dma-bufs')).toMatchObject({ tier3: { host: true, 'cpu-kernel': true }, unusedBytes: 64 * 2 ** 20 })
  })

  test('after the exporter revokes the memory, every command ends as lost, and the controller can be reopened', () => {
    expect(of('revoked')).toEqual({
      outcomes: ['device-lost'],
      roundsBefore: 3,
      mappingsLeft: 0,
      departure: 'revoked',
      isRevoked: true,
      isRead: true,
    })
  })

  test("the kernel's driver owns the controller again, and the kernel reports no faults", () => {
    expect(of('restored')).toEqual({ driver: 'nvme', bytes: 4096 })
    const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap((run) => run.kernel)]
    expect(kernelFaults(said)).toEqual([])
    expect(guest.finished, guest.console).toBe(true)
  })
})
