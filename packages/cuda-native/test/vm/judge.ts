import { expect, test, type TestContext } from 'vitest'
import { IdentifyController, IdentifyNamespace, SmartHealthLog } from '@gpunvme/nvme-spec'
import { claimsOfJson } from '../../../nvme-spec/test/nvme-cli/claims.js'
import { Comparison, type Declared } from '../../../nvme-spec/test/nvme-cli/compare.js'
import { CONTROLLER, HEALTH, NAMESPACE, type Names } from '../../../nvme-spec/test/nvme-cli/names.js'
import { judgeMissing } from '../../../nvme-spec/test/nvme-cli/nvme.js'
import { standinMissing } from './bundle.js'
import type { ScenarioRun } from './guest.js'
import { caseDifferences, type CaseLine } from './known-differences.js'
import { DRIVES, type Mode } from './modes.js'
import { REFUSALS, type Refused } from './refusals.js'
import { hasTurn, KERNEL_CASES, KERNEL_LOST, TRAFFIC_MIB } from './scenarios.js'

const MIB = 1024 * 1024

/** Scenarios in which the driver does nothing that a controller could object to. */
const GOOD = [
  'refusals',
  'refusals-of-module',
  'traffic',
  'registration',
  'identify',
  'interrupts',
  'interop',
  'p2p',
  'restored',
]

/** The tests of one mode. @param of what came of a scenario, which has ended well. */
export function judge(mode: Mode, of: (script: string) => ScenarioRun): void {
  const facts = (script: string) => of(script).lines.at(-1)
  /** A test of what came of a turn, where the mode has it. */
  const judged = (turn: string, title: string, check: (context: TestContext) => void) => {
    if (hasTurn(mode, turn)) test(title, check)
  }

  judged('enable', 'vfio-pci is refused while the kernel has none, or none without an IOMMU, and then works', () => {
    const { refusals, parameter } = facts('enable') as { refusals: Refused; parameter: string }
    expect(refusals).toEqual(REFUSALS.enable)
    expect(parameter).toBe('Y')
  })

  judged('smoke', 'the kernel sees all drives', () => {
    expect(facts('smoke')).toEqual({ drives: Object.values(DRIVES) })
  })

  for (const turn of ['refusals', 'refusals-of-module'])
    judged(turn, 'whatever is refused has an error of its own with the next step, and leaves nothing behind', () => {
      const { refusals } = facts(turn) as { refusals: Refused }
      expect(refusals).toEqual(REFUSALS[mode.name])
    })

  judged(
    'identify',
    "Identify and SMART as we read them are what nvme-cli prints by the kernel's driver",
    ({ skip }) => {
      if (judgeMissing) return skip(judgeMissing)
      const { printed, read, decoded, reads } = facts('identify') as Identified
      expect(disagreements(IdentifyController, CONTROLLER, printed.controller, read.controller)).toEqual([])
      expect(disagreements(IdentifyNamespace, NAMESPACE, printed.namespace, read.namespace)).toEqual([])
      expect(disagreements(SmartHealthLog, HEALTH, printed.health, read.health)).toEqual([])
      expect(decoded).toBe(true)
      // Of what traffic has read: zeroes would be alike however they are decoded.
      expect(Number(reads)).toBeGreaterThan(100)
    },
  )

  judged(
    'registration',
    "the engine cuda drives queues and registers of the module, by what NVIDIA's driver registers (on a stand-in)",
    ({ skip }) => {
      if (standinMissing !== undefined) return skip(standinMissing)
      expect(facts('registration')).toEqual({ isSame: true })
    },
  )

  const mib = TRAFFIC_MIB[mode.name]
  judged(
    'traffic',
    `${mib} MiB of random reads and writes over 4 queues, at the same time, are right to the last byte`,
    () => {
      const { readBytes, writtenBytes, wrongBatches, queues } = facts('traffic') as Record<string, number>
      expect({ readBytes, writtenBytes }).toEqual({ readBytes: (mib / 2) * MIB, writtenBytes: (mib / 2) * MIB })
      expect({ wrongBatches, queues }).toEqual({ wrongBatches: 0, queues: [0, 1, 2, 3] })
    },
  )

  judged('interrupts', 'completions are waited for by MSI-X and an eventfd, and what is read is right', () => {
    const { fired, ...others } = facts('interrupts') as Record<string, unknown>
    expect(others).toMatchObject({ right: true, vectors: 1, resets: 0 })
    // Waits also end every 10 ms, to look whether the controller is well.
    expect(fired).toBeGreaterThan(2)
  })

  judged('interop', "the kernel's driver reads what we wrote, and we read what it wrote", () => {
    expect(facts('interop')).toEqual({
      readBytes: 8 * MIB,
      writtenBytes: 8 * MIB,
      theyReadOurs: true,
      weReadTheirs: true,
    })
  })

  judged(
    'p2p',
    "static BAR1: the controller reads into scattered pages of another device's BAR, writes from them, and changes nothing else",
    () => {
      // An IOMMU gives the pages consecutive addresses.
      const segments: unknown = mode.name === 'vfio' ? 1 : expect.toSatisfy((count: number) => count > 1)
      expect(facts('p2p')).toEqual({ accepted: true, arrived: true, left: true, misplaced: [], segments })
    },
  )

  judged(
    'reset',
    'reads in flight while the controller is disabled, or its function reset, are read again, and are right',
    () => {
      const went = { good: true, resets: 1, lost: 0 }
      expect(facts('reset')).toMatchObject({ disabled: went, functionReset: went })
    },
  )

  judged(
    'killed',
    'after a process was killed in the middle of its commands, the next one opens the controller and works',
    () => {
      expect(facts('killed')).toMatchObject({ said: '{"busy":true}', signal: 'SIGKILL', readBack: true })
    },
  )

  for (const [title, turn, least] of [
    ['the driver cases that this controller can be judged by pass, apart from what is known', 'cases', 40],
    // Fewer: some are about the entries and doorbells of the driver's own engine.
    ['and by the engine cpu-kernel, the device code on threads, they pass too', KERNEL_CASES, 35],
  ] as const)
    judged(turn, title, () => {
      const lines = of(turn).lines as CaseLine[]
      const summary = lines.at(-1) as unknown as { cases: number; gone: string[]; ms: number }
      const cases = lines.slice(0, -1)
      const count = (outcome: string) => cases.filter((each) => each.outcome === outcome).length
      const passed = `${mode.title}, ${turn}: ${count('passed')} passed in ${Math.round(summary.ms / 1000)} s`
      process.stdout.write(`${passed}\n`)
      const skips = cases.filter(({ outcome }) => outcome === 'skipped')
      for (const { id, why } of skips) process.stdout.write(`  skipped ${id}: ${why?.slice(0, 150)}\n`)
      expect(caseDifferences(mode, cases)).toEqual([])
      expect(cases).toHaveLength(summary.cases)
      expect(summary.gone).toEqual([])
      expect(count('passed')).toBeGreaterThanOrEqual(least)
    })

  for (const [turn, by] of [
    ['lost', "the driver's own engine"],
    [KERNEL_LOST, 'cpu-kernel'],
  ] as const)
    judged(turn, `a device that is pulled out is lost in bounded time, and every command ends: ${by}`, () => {
      const lost = facts(turn) as { noticedMs: number; boundMs: number; events: string[] }
      expect(lost).toMatchObject({
        outcomes: ['device-lost'],
        counted: true,
        after: 'ERR_GPUNVME_DEVICE_LOST',
        closed: 'closed',
        released: 'closed',
        restored: 'restored',
      })
      expect(lost.events.at(-1)).toBe('lost')
      // The commands' own deadline comes before the ladder.
      expect(lost.noticedMs).toBeLessThan(2000 + lost.boundMs)
    })

  judged('restored', "at the end the kernel's own driver has the controller again, and reads from it", () => {
    expect(facts('restored')).toEqual({ driver: 'nvme', bytes: 4096 })
  })

  test("QEMU's controllers were told nothing wrong in anything that goes well", () => {
    const told = GOOD.filter((script) => hasTurn(mode, script)).flatMap((script) =>
      of(script).misuse.map((line) => `${script}: ${line}`),
    )
    expect(told).toEqual([])
  })
}

/** What identify.ts has to say: nvme-cli's JSON, and the bytes that we have read in base64. */
interface Identified {
  readonly printed: Described
  readonly read: Described
  /** Whether `smartLog` is what the declaration makes of those bytes. */
  readonly decoded: boolean
  /** Host Read Commands, as `smartLog` has it. */
  readonly reads: string
}

interface Described {
  readonly controller: string
  readonly namespace: string
  readonly health: string
}

/** What nvme-cli's JSON and our decoder say differently, of the bytes that we have read. */
function disagreements(structure: Declared, names: Names, json: string, base64: string): readonly string[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  expect(bytes).toHaveLength(structure.bytes)
  const comparison = new Comparison(structure, names)
  comparison.compare('in the guest', new DataView(bytes.buffer), claimsOfJson(json), names.jsonSlips)
  expect(comparison.printedFields.size).toBeGreaterThan(20)
  return comparison.problems
}
