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

/** Scenarios in which the driver must cause no host error on the controller. */
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

/** Defines the tests of one mode. @param of returns the run of a scenario, after checking that it succeeded */
export function judge(mode: Mode, of: (script: string) => ScenarioRun): void {
  const facts = (script: string) => of(script).lines.at(-1)
  /** Defines a test of a turn's result, if the mode has that turn. */
  const judged = (turn: string, title: string, check: (context: TestContext) => void) => {
    if (hasTurn(mode, turn)) test(title, check)
  }

  judged(
    'enable',
    'binding to vfio-pci fails until it is loaded and may be used without an IOMMU, and then works',
    () => {
      const { refusals, parameter } = facts('enable') as { refusals: Refused; parameter: string }
      expect(refusals).toEqual(REFUSALS.enable)
      expect(parameter).toBe('Y')
    },
  )

  judged('smoke', 'the kernel sees all drives', () => {
    expect(facts('smoke')).toEqual({ drives: Object.values(DRIVES) })
  })

  for (const turn of ['refusals', 'refusals-of-module'])
    judged(turn, 'each rejected request has its own error with a next step, and changes nothing', () => {
      const { refusals } = facts(turn) as { refusals: Refused }
      expect(refusals).toEqual(REFUSALS[mode.name])
    })

  judged(
    'identify',
    "Identify data and the SMART log match what nvme-cli prints through the kernel's driver",
    ({ skip }) => {
      if (judgeMissing) return skip(judgeMissing)
      const { printed, read, decoded, reads } = facts('identify') as Identified
      expect(disagreements(IdentifyController, CONTROLLER, printed.controller, read.controller)).toEqual([])
      expect(disagreements(IdentifyNamespace, NAMESPACE, printed.namespace, read.namespace)).toEqual([])
      expect(disagreements(SmartHealthLog, HEALTH, printed.health, read.health)).toEqual([])
      expect(decoded).toBe(true)
      // Not zero, since `traffic` has read: zeros would match in any decoding.
      expect(Number(reads)).toBeGreaterThan(100)
    },
  )

  judged(
    'registration',
    "the engine cuda uses queues and registers that the module maps and NVIDIA's driver can register (on a stand-in)",
    ({ skip }) => {
      if (standinMissing !== undefined) return skip(standinMissing)
      expect(facts('registration')).toEqual({ isSame: true })
    },
  )

  const mib = TRAFFIC_MIB[mode.name]
  judged(
    'traffic',
    `${mib} MiB of concurrent random reads and writes over 4 queues transfer every byte correctly`,
    () => {
      const { readBytes, writtenBytes, wrongBatches, queues } = facts('traffic') as Record<string, number>
      expect({ readBytes, writtenBytes }).toEqual({ readBytes: (mib / 2) * MIB, writtenBytes: (mib / 2) * MIB })
      expect({ wrongBatches, queues }).toEqual({ wrongBatches: 0, queues: [0, 1, 2, 3] })
    },
  )

  judged('interrupts', 'the driver waits for completions by MSI-X and an eventfd, and reads the right data', () => {
    const { fired, ...others } = facts('interrupts') as Record<string, unknown>
    expect(others).toMatchObject({ right: true, vectors: 1, resets: 0 })
    // Waits also end every 10 ms, to check the controller's state.
    expect(fired).toBeGreaterThan(2)
  })

  judged('interop', "the kernel's driver reads what this driver wrote, and vice versa", () => {
    expect(facts('interop')).toEqual({
      readBytes: 8 * MIB,
      writtenBytes: 8 * MIB,
      theyReadOurs: true,
      weReadTheirs: true,
    })
  })

  judged(
    'p2p',
    "static BAR1: transfers to and from scattered pages of another device's BAR are correct, and change nothing else",
    () => {
      // An IOMMU gives the pages consecutive addresses.
      const segments: unknown = mode.name === 'vfio' ? 1 : expect.toSatisfy((count: number) => count > 1)
      expect(facts('p2p')).toEqual({ accepted: true, arrived: true, left: true, misplaced: [], segments })
    },
  )

  judged(
    'reset',
    'reads in flight while the controller is disabled, or its function reset, are retried and return the right data',
    () => {
      const went = { good: true, resets: 1, lost: 0 }
      expect(facts('reset')).toMatchObject({ disabled: went, functionReset: went })
    },
  )

  judged(
    'killed',
    'after a process is killed with commands in flight, the next one can open and use the controller',
    () => {
      expect(facts('killed')).toMatchObject({ said: '{"busy":true}', signal: 'SIGKILL', readBack: true })
    },
  )

  for (const [title, turn, min] of [
    ['the driver cases that apply to this controller pass, except for known differences', 'cases', 40],
    // Fewer, since some cases concern the entries and doorbells of the host engine.
    ['the driver cases pass with the engine cpu-kernel too, which runs device code on CPU threads', KERNEL_CASES, 35],
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
      expect(count('passed')).toBeGreaterThanOrEqual(min)
    })

  for (const [turn, by] of [
    ['lost', 'the host engine'],
    [KERNEL_LOST, 'cpu-kernel'],
  ] as const)
    judged(turn, `after an unplug, the device is lost in bounded time, and every command ends: ${by}`, () => {
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
      // Recovery starts after the commands have timed out.
      expect(lost.noticedMs).toBeLessThan(2000 + lost.boundMs)
    })

  judged('restored', "the kernel's driver owns the controller again, and reads from it", () => {
    expect(facts('restored')).toEqual({ driver: 'nvme', bytes: 4096 })
  })

  test("QEMU's controllers detect no host error in scenarios without faults", () => {
    const told = GOOD.filter((script) => hasTurn(mode, script)).flatMap((script) =>
      of(script).misuse.map((line) => `${script}: ${line}`),
    )
    expect(told).toEqual([])
  })
}

/** Output of identify.ts: nvme-cli's JSON, and the bytes that this driver read, in base64. */
interface Identified {
  readonly printed: Described
  readonly read: Described
  /** Whether `smartLog` equals the decoded bytes. */
  readonly decoded: boolean
  /** Host Read Commands of `smartLog`. */
  readonly reads: string
}

interface Described {
  readonly controller: string
  readonly namespace: string
  readonly health: string
}

/** Returns the differences between nvme-cli's JSON and the decoded bytes. */
function disagreements(structure: Declared, names: Names, json: string, base64: string): readonly string[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  expect(bytes).toHaveLength(structure.bytes)
  const comparison = new Comparison(structure, names)
  comparison.compare('in the guest', new DataView(bytes.buffer), claimsOfJson(json), names.jsonSlips)
  expect(comparison.printedFields.size).toBeGreaterThan(20)
  return comparison.problems
}
