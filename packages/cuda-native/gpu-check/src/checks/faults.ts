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
import { transfersOf } from './transfers.js'

const COMMANDS = 12
const BYTES = 4 * KIB
const TIMEOUT_NS = 1e9
/** The command that is struck: the ninth. */
const STRUCK = 8
const READ_OF = (command: number): FaultMatch => ({ opcode: 2, lba: [8 * command, 8 * command + 7], times: 1 })

/** One fault, and what the engine says of the twelve reads that are in flight when it strikes. */
interface Scenario {
  readonly id: string
  readonly title: string
  readonly action: FaultAction
  /** Outcomes that are no success: the command and what. */
  readonly first: readonly (readonly [command: number, outcome: string])[]
  /** Completions that belong to no command. */
  readonly stale: number
}

const timedOut = [[STRUCK, 'timeout']] as const
/** All of them: one doorbell announces them, and the fault strikes while they are fetched. */
const lost = Array.from({ length: COMMANDS }, (_, command) => [command, 'device-lost'] as const)

const scenarios: readonly Scenario[] = [
  {
    ...{ id: 'hang', title: 'A read that is never carried out', action: { kind: 'hang' } },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'drop', title: 'A read whose completion is lost', action: { kind: 'drop-completion' } },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'late', title: 'A read whose completion comes after its time' },
    action: { kind: 'delay-completion', delayNs: 3e9 },
    ...{ first: timedOut, stale: 0 },
  },
  {
    ...{ id: 'status', title: 'A read that fails with Unrecovered Read Error and Do Not Retry' },
    action: { kind: 'status', sct: 2, sc: 0x81, dnr: true },
    ...{ first: [[STRUCK, 'status 2h 81h DNR']], stale: 0 },
  },
  {
    ...{ id: 'duplicate', title: 'A read that is completed twice', action: { kind: 'duplicate-completion' } },
    ...{ first: [], stale: 1 },
  },
  {
    // The bits above the slot: that of a command that used the slot before, or will.
    ...{ id: 'wrong-cid', title: 'A completion with the identifier of no command' },
    action: { kind: 'corrupt-cid', xor: 0x8000 },
    ...{ first: timedOut, stale: 1 },
  },
  {
    ...{ id: 'fatal', title: 'A controller that sets CSTS.CFS', action: { kind: 'fatal-status' } },
    ...{ first: lost, stale: 0 },
  },
  {
    ...{ id: 'removed', title: 'A device that leaves the bus', action: { kind: 'remove-device' } },
    ...{ first: lost, stale: 0 },
  },
]

/** All that an engine and the driver on it have said. */
interface Story {
  /** For each plan that the engine was given: outcomes that are no success. */
  readonly engine: readonly (readonly (readonly [number, string])[])[]
  readonly driver: readonly (readonly [number, string])[] | string
  readonly steps: readonly string[]
  readonly stale: number
}

/** Writes down what an engine answers, before the driver makes the best of it. */
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
 * The engine's clock: a word that goes on by eleven seconds whenever the controller has answered nothing for a tenth of a
 * real one. Nobody waits for a time-out, and none strikes a command that is still on its way.
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

async function story(context: CheckContext, { action }: Scenario, make: MakeEngine): Promise<Story> {
  const media = content(COMMANDS * BYTES, 7)
  const rules = [{ match: READ_OF(STRUCK), action }]
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
  // The reads of the opening are another story.
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
    title: `${scenario.title} has the outcomes that the engine cpu-kernel gives, and no other command has another`,
    limitMs: 60_000,
    provokes: true,
    async run(context) {
      const onGpu = await story(context, scenario, (transport, options) => context.engine(transport, options))
      equal('outcomes that the engine gave first', onGpu.engine[0], scenario.first)
      equal('completions of no command', onGpu.stale, scenario.stale)
      const onCpu = await story(context, scenario, cpuKernelEngine)
      equal('all that happened, beside what happens with cpu-kernel', onGpu, onCpu)
      return { ...(onGpu as unknown as Record<string, Fact>) }
    },
  }
}

/** What goes wrong in the controller, with time-outs by a clock of the check. */
export const faultChecks: readonly Check[] = scenarios.map(faultCheck)
