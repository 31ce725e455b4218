import { beforeAll, describe, expect, test } from 'vitest'
import { IdentifyController, IdentifyNamespace } from '@gpunvme/nvme-spec'
import { claimsOfJson } from '../../../nvme-spec/test/nvme-cli/claims.js'
import { Comparison, type Declared } from '../../../nvme-spec/test/nvme-cli/compare.js'
import { CONTROLLER, NAMESPACE, type Names } from '../../../nvme-spec/test/nvme-cli/names.js'
import { judgeMissing } from '../../../nvme-spec/test/nvme-cli/nvme.js'
import { runGuest, type GuestRun } from './guest.js'
import { kernelFaults } from './kernel-log.js'
import { devicesOf, environmentOf, MODES, modulesOf, parts, type Mode } from './modes.js'
import type { Module } from './modules.js'
import type { GuestParts } from './parts.js'
import type { Scenario } from './protocol.js'

// The driver in a Linux guest, by the interfaces of a real kernel, on QEMU's NVMe controller. Each mode is one boot, in
// which the scenarios run one after another; what they print is judged here.

const MIB = 1024 * 1024

/** In this order: the last of them sees what all others have left behind. Times are for a machine that is busy. */
const SCENARIOS: readonly Omit<Scenario, 'environment' | 'name'>[] = [
  { script: 'smoke', timeoutMs: 20_000 },
  { script: 'identify', timeoutMs: 60_000 },
  { script: 'traffic', timeoutMs: 120_000 },
  { script: 'interop', timeoutMs: 60_000 },
  { script: 'p2p', timeoutMs: 60_000 },
  { script: 'reset', timeoutMs: 90_000 },
  { script: 'killed', timeoutMs: 90_000 },
  { script: 'lost', timeoutMs: 90_000 },
  { script: 'restored', timeoutMs: 20_000 },
]

function prepare(mode: Mode): { parts: GuestParts; modules: Module[] } | string {
  const found = parts()
  if (typeof found === 'string') return found
  const modules = modulesOf(found, mode)
  return typeof modules === 'string' ? modules : { parts: found, modules }
}

function startGuest(mode: Mode, made: Exclude<ReturnType<typeof prepare>, string>): Promise<GuestRun> {
  const environment = environmentOf(mode)
  return runGuest({
    ...made,
    devices: devicesOf(mode),
    images: { fixed: 256 * MIB, loose: 64 * MIB },
    append: `hugepages=96 ${mode.iommu ? 'intel_iommu=on' : ''}`,
    memoryMiB: 1024,
    deadlineMs: 280_000,
    scenarios: SCENARIOS.map((scenario) => ({ ...scenario, name: scenario.script, environment })),
  })
}

for (const mode of MODES) {
  describe(mode.title, () => {
    const made = prepare(mode)
    if (typeof made === 'string') {
      test('in a Linux guest', ({ skip }) => skip(made))
      return
    }
    let guest: GuestRun

    beforeAll(async () => {
      guest = await startGuest(mode, made)
      const times = [...guest.scenarios].map(([name, { end }]) => `${name} ${seconds(end?.ms)}`)
      process.stdout.write(`${mode.title}: boot ${seconds(guest.bootMs)}, ${times.join(', ')}\n`)
    })

    /** What a scenario printed, which ended well. */
    function facts(name: string): unknown {
      const run = guest.scenarios.get(name)
      const trouble = run?.end === undefined ? guest.console : run.end.stderr
      expect(run?.end, trouble).toMatchObject({ code: 0, signal: null })
      return run!.lines.at(-1)
    }

    test('the guest starts with the kernel that was asked for, and sees both controllers', () => {
      expect(guest.release, guest.console).toBe(made.parts.release)
      expect(facts('smoke')).toEqual({
        drives: [
          { serial: 'VM0001', bytes: 256 * MIB },
          { serial: 'VM0002', bytes: 64 * MIB },
        ],
      })
    })

    test.skipIf(judgeMissing)(
      `Identify as we read it is what nvme-cli prints by the kernel's driver, field by field${judgeMissing ? ` (skipped: ${judgeMissing})` : ''}`,
      () => {
        const { printed, read } = facts('identify') as Record<'printed' | 'read', Identified>
        expect(disagreements(IdentifyController, CONTROLLER, printed.controller, read.controller)).toEqual([])
        expect(disagreements(IdentifyNamespace, NAMESPACE, printed.namespace, read.namespace)).toEqual([])
      },
    )

    test('1 GiB of random reads and writes over 4 queues, at the same time, is right to the last byte', () => {
      const { readBytes, writtenBytes, wrongBatches, queues } = facts('traffic') as Record<string, number>
      expect({ readBytes, writtenBytes }).toEqual({ readBytes: 512 * MIB, writtenBytes: 512 * MIB })
      expect({ wrongBatches, queues }).toEqual({ wrongBatches: 0, queues: [0, 1, 2, 3] })
    })

    test("the kernel's driver reads what we wrote, and we read what it wrote", () => {
      expect(facts('interop')).toEqual({
        readBytes: 8 * MIB,
        writtenBytes: 8 * MIB,
        theyReadOurs: true,
        weReadTheirs: true,
      })
    })

    test("the controller reads into another device's BAR and writes from there, and nothing beside it changes", () => {
      expect(facts('p2p')).toEqual({ arrived: true, around: [0xa5, 0xa5], left: true })
    })

    test('reads in flight while the controller is disabled, or its function reset, are read again, and are right', () => {
      const went = { good: true, resets: 1, lost: 0 }
      expect(facts('reset')).toMatchObject({ disabled: went, functionReset: went })
    })

    test('after a process was killed in the middle of its commands, the next one opens the controller and works', () => {
      expect(facts('killed')).toMatchObject({ said: '{"busy":true}', signal: 'SIGKILL', readBack: true })
    })

    test('a device that is pulled out is lost in bounded time: every command ends, and the process by itself', () => {
      const lost = facts('lost') as { noticedMs: number; boundMs: number; events: string[] }
      expect(lost).toMatchObject({
        outcomes: ['device-lost'],
        counted: true,
        after: 'ERR_GPUNVME_CONTROLLER_CLOSED',
        closed: 'closed',
        released: 'closed',
        restored: 'restored',
      })
      expect(lost.events.at(-1)).toBe('lost')
      // The commands' own deadline comes before the ladder.
      expect(lost.noticedMs).toBeLessThan(2000 + lost.boundMs)
    })

    test("at the end the kernel's own driver has the controller again, and reads from it", () => {
      expect(facts('restored')).toEqual({ driver: 'nvme', bytes: 4096 })
    })

    test('the kernel finds no fault in anything that was done, from the first scenario to the last', () => {
      const said = [...guest.kernel, ...[...guest.scenarios.values()].flatMap(({ kernel }) => kernel)]
      expect(kernelFaults(said)).toEqual([])
      expect(guest.finished, guest.console).toBe(true)
    })
  })
}

interface Identified {
  readonly controller: string
  readonly namespace: string
}

/** What nvme-cli's JSON and our decoder say differently, of the bytes that we have read. */
function disagreements(structure: Declared, names: Names, json: string, base64: string): readonly string[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  expect(bytes).toHaveLength(4096)
  const comparison = new Comparison(structure, names)
  comparison.compare('in the guest', new DataView(bytes.buffer), claimsOfJson(json), names.jsonSlips)
  expect(comparison.printedFields.size).toBeGreaterThan(20)
  return comparison.problems
}

function seconds(ms = NaN): string {
  return `${(ms / 1000).toFixed(1)} s`
}
