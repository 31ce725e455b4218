import { setTimeout as sleep } from 'node:timers/promises'
import { cpuKernelEngine, type KernelEngineOptions } from '@gpunvme/cuda-native'
import type {
  Engine,
  EngineStatistics,
  ExecuteOptions,
  FaultAction,
  FaultMatch,
  OutcomeSummary,
  Plan,
  Transport,
  DmaMemory,
  QueuePairMemory,
} from '@gpunvme/nvme-spec/transport'
import { equal, equalBytes, type Check, type Fact } from '../check.js'
import { content } from '../content.js'
import { KIB, MIB, type CheckContext, type Drive } from '../context.js'
import { bytesOf } from '../memory.js'
import { transfersOf } from '../plans.js'

const COMMANDS = 12
const BYTES = 4 * KIB
const TIMEOUT_NS = 1e9
/** Index of the command with the fault. */
const FAULTY = 8
const READ_OF = (command: number): FaultMatch => ({ opcode: 2, lba: [8 * command, 8 * command + 7], times: 1 })

/** A fault, and the expected outcomes of the twelve reads that are in flight when it occurs. */
interface Scenario {
  readonly id: string
  readonly title: string
  readonly action: FaultAction
  /** Failed commands and their outcomes. */
  readonly first: readonly (readonly [command: number, outcome: string])[]
  /** Number of completions that belong to no command. */
  readonly stale: number
}

const timedOut = [[FAULTY, 'timeout']] as const
/** All commands fail: one doorbell write announces them, and the fault occurs while the controller fetches them. */
const lost = Array.from({ length: COMMANDS }, (_, command) => [command, 'device-lost'] as const)

const scenarios: readonly Scenario[] = [
  {
    ...{ id: 'hang', title: 'A read that is never executed', action: { kind: 'hang' } },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'drop', title: 'A read whose completion is lost', action: { kind: 'drop-completion' } },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'late', title: 'A read whose completion arrives after the time limit' },
    action: { kind: 'delay-completion', delayNs: 3e9 },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'status', title: 'A read that fails with Unrecovered Read Error and Do Not Retry' },
    action: { kind: 'status', sct: 2, sc: 0x81, dnr: true },
    ...{ first: [[FAULTY, 'status 2h 81h DNR']], stale: 0 },
  },
  {
    ...{ id: 'duplicate', title: 'A read that is completed twice', action: { kind: 'duplicate-completion' } },
    ...{ first: [], stale: 1 },
  },
  {
    // Changes the generation, not the slot: the identifier belongs to an earlier or later command in the slot.
    ...{ id: 'wrong-cid', title: 'A completion with an unknown command identifier' },
    action: { kind: 'corrupt-cid', xor: 0x8000 },
    ...{ first: timedOut, stale: 1 },
  },
  {
    ...{ id: 'fatal', title: 'A controller that sets CSTS.CFS', action: { kind: 'fatal-status' } },
    ...{ first: lost, stale: 0 },
  },
  {
    ...{ id: 'removed', title: 'A device that is removed from the bus', action: { kind: 'remove-device' } },
    ...{ first: lost, stale: 0 },
  },
]

/** Results of an engine, and of the driver that uses it. */
interface FaultResult {
  /** Failed commands of each plan that the engine executed. */
  readonly engine: readonly (readonly (readonly [number, string])[])[]
  readonly driver: readonly (readonly [number, string])[] | string
  readonly steps: readonly string[]
  readonly stale: number
}

/** Records the outcomes of an engine before the driver handles them. */
class Recorded implements Engine {
  readonly name: string
  readonly answers: (readonly (readonly [number, string])[])[] = []
  private readonly inner: Engine

  constructor(inner: Engine) {
    this.inner = inner
    this.name = inner.name
  }

  get statistics(): EngineStatistics {
    return this.inner.statistics!
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    this.inner.attach(queues, watch)
  }

  async execute(plan: Plan, memory: DmaMemory, options?: ExecuteOptions): Promise<OutcomeSummary> {
    const summary = await this.inner.execute(plan, memory, options)
    this.answers.push(outcomesOf(summary))
    return summary
  }

  detach(): void {
    this.inner.detach()
  }
}

function outcomesOf({ failures }: OutcomeSummary): [number, string][] {
  return failures.map(({ command, outcome }) => {
    if (outcome.kind !== 'status') return [command, outcome.kind]
    const hex = (value: number) => `${value.toString(16)}h`
    return [command, `status ${hex(outcome.sct)} ${hex(outcome.sc)}${outcome.dnr ? ' DNR' : ''}`]
  })
}

/**
 * Advances the engine's clock by eleven seconds whenever the controller has completed nothing for 0.1 s of real time. Thus
 * the check need not wait for time-outs, and no command times out while the controller makes progress.
 */
async function passTime(drive: Drive, pass: () => void, isOver: () => boolean): Promise<void> {
  let seen = ''
  for (let still = 0; !isOver(); still++) {
    await sleep(25)
    const now = await drive.simulator.statistics().then(
      ({ ioCommands, adminCommands }) => JSON.stringify([ioCommands, adminCommands]),
      () => 'ended',
    )
    if (now !== seen) still = 0
    seen = now
    if (still < 4) continue
    pass()
    still = 0
  }
}

type MakeEngine = (transport: Transport, options: KernelEngineOptions) => Engine

async function runScenario(context: CheckContext, { action }: Scenario, make: MakeEngine): Promise<FaultResult> {
  const media = content(COMMANDS * BYTES, 7)
  const rules = [{ match: READ_OF(FAULTY), action }]
  const drive = await context.drive(media, 4 * MIB, { rules })
  const clock = context.allocate(4096)
  const engine = new Recorded(make(drive.transport, { clock: new BigUint64Array(clock.buffer) }))
  const { controller, namespace, watched } = await context.open(
    drive,
    { queueDepth: 16, maxTransferBytes: BYTES },
    engine,
  )
  const before = context.recoveries.length
  const memory = namespace.dma.alloc(COMMANDS * BYTES)
  bytesOf(memory).fill(0xa5)
  // Excludes the reads that open the controller.
  const staleBefore = engine.statistics.staleCompletions
  engine.answers.length = 0
  let over = false
  const ended = namespace
    .execute(namespace.planReads(transfersOf(COMMANDS, BYTES)), memory, { timeoutNs: TIMEOUT_NS })
    .then(outcomesOf, (error: unknown) => (error instanceof Error ? error.name : String(error)))
    .finally(() => (over = true))
  await passTime(
    drive,
    () => clock.store64(0, clock.load64(0) + 11_000_000_000n),
    () => over,
  )
  const driver = await ended
  const failed = new Set(typeof driver === 'string' ? transfersOf(COMMANDS, BYTES).keys() : driver.map(([at]) => at))
  for (let command = 0; command < COMMANDS; command++) {
    if (failed.has(command)) continue
    const part = (all: Uint8Array) => all.subarray(command * BYTES, (command + 1) * BYTES)
    equalBytes(`command ${command}`, part(bytesOf(memory)), part(media))
  }
  const stale = engine.statistics.staleCompletions - staleBefore
  await controller.close().catch(() => undefined)
  await watched
  return { engine: engine.answers, driver, steps: context.recoveries.slice(before), stale }
}

function faultCheck(scenario: Scenario): Check {
  return {
    id: `fault-${scenario.id}`,
    title: `${scenario.title}: every command has the same outcome as with the engine cpu-kernel`,
    limitMs: 60_000,
    injectsFaults: true,
    async run(context) {
      const onGpu = await runScenario(context, scenario, (transport, options) => context.engine(transport, options))
      equal('outcomes of the first plan of the engine', onGpu.engine[0], scenario.first)
      equal('stale completions', onGpu.stale, scenario.stale)
      const onCpu = await runScenario(context, scenario, cpuKernelEngine)
      equal('outcomes, recovery steps and stale completions, compared with cpu-kernel', onGpu, onCpu)
      return { ...(onGpu as unknown as Record<string, Fact>) }
    },
  }
}

/** Faults of the controller, with time-outs by a clock that the check advances. */
export const faultChecks: readonly Check[] = scenarios.map(faultCheck)
