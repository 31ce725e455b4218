import { AcceptedPlan, checkPlan } from '@gpunvme/nvme-spec/engine'
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
import { callback, checkOptions, timeout } from '../check-options.js'
import { CompletionRing } from '../queues/completion-ring.js'
import { Pump } from '../queues/pump.js'
import { QueuePair } from '../queues/queue-pair.js'
import { NS_PER_MS } from '../wait.js'
import { PlanWork, type CommandObserver } from './plan-work.js'

const DEFAULT_TIMEOUT_NS = 10_000 * NS_PER_MS

/** Options of `HostEngine`. */
export interface HostEngineOptions {
  /** Called for each completed command, for benchmarks. Costs one clock read per command. */
  readonly onCompleted?: CommandObserver
}

/** Engine in which TypeScript writes the entries and rings the doorbells. Needs only a transport. */
export class HostEngine implements Engine {
  readonly name = 'host'
  readonly transport: Pick<Transport, 'bar' | 'clock'>
  private readonly observer: CommandObserver | undefined
  private readonly clockNow: () => number
  private pairs: readonly QueuePair[] = []
  private pump: Pump
  /** Counters of queues that were detached. */
  private detached: EngineStatistics = { commands: 0, doorbellWrites: 0, staleCompletions: 0 }

  /** @throws TypeError for an unknown option. */
  constructor(transport: Pick<Transport, 'bar' | 'clock'>, options: HostEngineOptions = {}) {
    checkOptions('HostEngine', options, { onCompleted: callback })
    this.transport = transport
    this.observer = options.onCompleted
    this.clockNow = () => transport.clock.now()
    this.pump = new Pump(transport, [], [])
  }

  /** Counters since the engine was created. */
  get statistics(): EngineStatistics {
    const { detached } = this
    const now = this.pump.statistics
    return {
      commands: detached.commands + now.commands,
      doorbellWrites: detached.doorbellWrites + now.doorbellWrites,
      staleCompletions: detached.staleCompletions + now.staleCompletions,
    }
  }

  attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    if (this.pairs.length > 0) throw new TypeError('this engine has queues already: detach() it first')
    const { bar } = this.transport
    const rings = new Map(queues.map(({ cq }) => [cq, new CompletionRing(cq, bar)]))
    this.pairs = queues.map((memory, index) => new QueuePair(memory, bar, rings.get(memory.cq)!, index))
    this.pump = new Pump(this.transport, this.pairs, [...rings.values()], watch)
  }

  halt(): void {
    this.pump.halt()
  }

  detach(): void {
    if (!this.pump.isIdle) throw new TypeError('this engine has plans in flight: await them before detach()')
    this.detached = this.statistics
    this.pairs = []
    this.pump = new Pump(this.transport, [], [])
  }

  execute(plan: Plan, memory: DmaMemory, options: ExecuteOptions = {}): Promise<OutcomeSummary> {
    // An error that is thrown here rejects the promise.
    return new Promise((resolve, reject) => {
      const accepted = AcceptedPlan.of(plan)
      const { pairs, clockNow, observer } = this
      checkPlan(accepted, memory, pairs)
      const { signal, timeoutNs = DEFAULT_TIMEOUT_NS } = options
      timeout('timeoutNs', timeoutNs)
      this.pump.start(new PlanWork(accepted, { pairs, memory, timeoutNs, signal, clockNow, observer, resolve, reject }))
    })
  }
}
