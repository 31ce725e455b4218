import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { CSTS } from '@gpunvme/nvme-spec'
import { AcceptedPlan, checkPlan, EngineFailedError, isLost } from '@gpunvme/nvme-spec/engine'
import type {
  DmaMemory,
  Engine,
  EngineStatistics,
  ExecuteOptions,
  OutcomeSummary,
  Plan,
  QueuePairMemory,
  Transport,
} from '@gpunvme/nvme-spec/transport'
import { CompletionRing } from '../queues/completion-ring.js'
import { Job } from './job.js'
import { Lane, type CommandObserver } from './lane.js'
import { callback, checkOptions } from '../check-options.js'
import { isTimeout, NS_PER_MS, TIMEOUT_EXPECTED } from '../wait.js'

const DEFAULT_TIMEOUT_NS = 10_000 * NS_PER_MS

/** Interval of CSTS checks while nothing completes: a removed device is detected before the deadline. */
const HEALTH_CHECK_NS = 10 * NS_PER_MS

/** Turns of the pump after which the event loop gets a turn, since a fast device never leaves the pump idle. */
const TURNS_BEFORE_YIELD = 128

/** Options of `HostEngine`. */
export interface HostEngineOptions {
  /** Called for each completed command, for benchmarks. Costs two clock reads per command. */
  readonly onCompleted?: CommandObserver
}

interface Pending {
  readonly job: Job
  readonly resolve: (summary: OutcomeSummary) => void
  readonly reject: (error: Error) => void
}

/** Defined once: a function expression in the pump would be allocated at every turn. */
const isFinished = ({ job }: Pending) => job.finished

/** Engine in which TypeScript writes the entries and rings the doorbells. Needs only a transport. */
export class HostEngine implements Engine {
  readonly name = 'host'
  readonly transport: Pick<Transport, 'bar' | 'clock'>
  private lanes: Lane[] = []
  private rings: CompletionRing[] = []
  private readonly onCompleted: CommandObserver | undefined
  private watch: (() => void) | undefined
  private pending: Pending[] = []
  private pumping = false
  private stopped = false
  private commands = 0
  /** Counters of queues that were detached. */
  private detached: Omit<EngineStatistics, 'commands'> = { doorbellWrites: 0, staleCompletions: 0 }

  /** @throws TypeError for an unknown option. */
  constructor(transport: Pick<Transport, 'bar' | 'clock'>, options: HostEngineOptions = {}) {
    checkOptions('HostEngine', options, { onCompleted: callback })
    this.transport = transport
    this.onCompleted = options.onCompleted
  }

  /** Counters since the engine was created. */
  get statistics(): EngineStatistics {
    const { commands, detached, lanes, rings } = this
    const doorbells = [...lanes.map(({ pair }) => pair.doorbell), ...rings.map(({ doorbell }) => doorbell)]
    const stale = lanes.reduce((total, { pair }) => total + pair.staleCompletions, 0)
    const foreign = rings.reduce((total, ring) => total + ring.foreignCompletions, 0)
    return {
      commands,
      doorbellWrites: doorbells.reduce((total, { writes }) => total + writes, detached.doorbellWrites),
      staleCompletions: detached.staleCompletions + stale + foreign,
    }
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    if (this.lanes.length > 0) throw new TypeError('this engine has queues already: detach() it first')
    const { bar, clock } = this.transport
    const rings = new Map(queues.map(({ cq }) => [cq, new CompletionRing(cq, bar)]))
    this.rings = [...rings.values()]
    const now = () => clock.now()
    const { onCompleted } = this
    this.lanes = queues.map((memory, index) => new Lane(index, memory, bar, rings.get(memory.cq)!, now, onCompleted))
    this.watch = watch
    this.stopped = false
  }

  detach(): void {
    if (this.pending.length > 0) throw new TypeError('this engine has plans in flight: await them before detach()')
    this.detached = this.statistics
    this.lanes = []
    this.rings = []
    this.watch = undefined
  }

  async execute(plan: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    const accepted = AcceptedPlan.of(plan)
    checkPlan(accepted, memory, this.lanes)
    const { signal, timeoutNs = DEFAULT_TIMEOUT_NS } = options
    if (!isTimeout(timeoutNs)) throw new RangeError(`timeoutNs: ${TIMEOUT_EXPECTED}, got ${timeoutNs}`)
    const job = new Job(accepted, memory, this.lanes.length, this.transport.clock.now(), timeoutNs, signal)
    if (this.stopped) job.stop()
    return new Promise((resolve, reject) => {
      this.pending.push({ job, resolve, reject })
      if (!this.pumping) this.pump().catch((error: unknown) => this.breakDown(error))
    })
  }

  /** Keeps the queues full and handles completions until no plan is left. */
  private async pump(): Promise<void> {
    const { clock } = this.transport
    this.pumping = true
    let healthCheckNs = clock.now() + HEALTH_CHECK_NS
    for (let turn = 1; this.pending.length > 0; turn++) {
      const moved = this.submit() + this.consume()
      // Under a constant flow of completions the pump never idles; lost commands must reach their deadline
      // nevertheless.
      if (turn % TURNS_BEFORE_YIELD === 0) this.checkHealth()
      if (this.settleFinished() || turn % TURNS_BEFORE_YIELD === 0) {
        // Lets awaiting callers start the next plan before time advances, and gives signals a turn.
        await nextTurn()
      } else if (moved === 0) {
        const deadlineNs = this.earliestDeadlineNs()
        await clock.idle(Math.min(deadlineNs, healthCheckNs))
        if (this.consume() === 0 && clock.now() >= Math.min(deadlineNs, healthCheckNs)) {
          healthCheckNs = clock.now() + HEALTH_CHECK_NS
          this.checkHealth()
        }
      }
    }
    this.pumping = false
  }

  private submit(): number {
    let staged = 0
    for (const lane of this.lanes) {
      for (const { job } of this.pending) {
        if (lane.pair.ids.free === 0) break
        staged += lane.stageFrom(job)
      }
      lane.pair.ring()
    }
    this.commands += staged
    return staged
  }

  private consume(): number {
    let consumed = 0
    for (const ring of this.rings) consumed += ring.poll()
    return consumed
  }

  private settleFinished(): boolean {
    if (!this.pending.some(isFinished)) return false
    const finished = this.pending.filter(isFinished)
    this.pending = this.pending.filter(({ job }) => !job.finished)
    const now = this.transport.clock.now()
    for (const { job, resolve } of finished) resolve(job.summary(now))
    return true
  }

  private earliestDeadlineNs(): number {
    let earliest = Infinity
    for (const lane of this.lanes) earliest = Math.min(earliest, lane.earliestDeadlineNs())
    return earliest
  }

  /** Ends all plans after the transport failed: the outcome of commands in flight is unknown. */
  private breakDown(cause: unknown): void {
    this.stopped = true
    this.pumping = false
    for (const { reject } of this.pending.splice(0)) reject(new EngineFailedError(this.name, cause))
  }

  /** Checks whether the device is present, and whether any command is overdue. */
  private checkHealth(): void {
    const { bar, clock } = this.transport
    this.watch?.()
    const csts = bar.read32(CSTS.offset)
    const lost = isLost(csts)
    const untilNs = lost ? Infinity : clock.now()
    let givenUp = 0
    for (const lane of this.lanes) givenUp += lane.giveUp(lost ? 'device-lost' : 'timeout', csts, untilNs)
    if (!lost && givenUp === 0) return
    this.stopped = true
    for (const { job } of this.pending) job.stop()
    // Before the next poll: it would write a doorbell, and the device may be lost.
    if (lost) this.settleFinished()
  }
}
