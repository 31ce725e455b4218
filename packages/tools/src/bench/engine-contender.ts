import { Controller, HostEngine, type SmartLog, type WriteRequest } from '@gpunvme/host-driver'
import type { DmaMemory, Engine, Transport } from '@gpunvme/nvme-spec/transport'
import type { EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BenchRepeat, BenchSource, BenchCommand } from '../report/bench-results.js'
import { Addresses } from './addresses.js'
import { areZeros, fillWithMarker, fillWithPattern, findWrong, samplesOf, type Sample } from './content.js'
import type { Contender, Measured } from './contender.js'
import { engineSource } from './engine-sources.js'
import { allocate, requireFit } from './fit.js'
import { paceOf } from './pace.js'
import { commandsPerPlan, PlanRing } from './plan-ring.js'
import { runPlans, type Run } from './run-plans.js'
import type { Setting } from './setting.js'
import type { Shape } from './shape.js'
import { healthOf } from './smart.js'
import { problemOf, type Evidence } from './verdict.js'
import { LatencyHistogram } from './latency-histogram.js'

/** Minimum transfer length that `Controller.open` accepts. */
const MIN_TRANSFER_BYTES = 4096

export interface EngineContenderOptions {
  readonly name: EngineName
  readonly opened: Pick<OpenedTransport, 'transport' | 'time' | 'link' | 'serial'>
  readonly setting: Setting
  readonly nsid: number
  /** Creates the engine for each repeat. Engines that report commands use `recorder`. */
  readonly makeEngine: (transport: Transport, recorder: CommandRecorder) => Engine
  /** Present if writes are allowed. */
  readonly write?: WriteRequest | undefined
}

/** Data of one repeat, before its verdict. */
interface Turn {
  readonly run: Run
  readonly cpuSeconds: number
  readonly before: SmartLog
  readonly after: SmartLog
  readonly evidence: Omit<Evidence, 'wrongBytes'>
  readonly samples: readonly Sample[]
}

/** An engine of this package. Each repeat opens the controller again, since queues and engine may differ. */
export class EngineContender implements Contender {
  readonly source: BenchSource
  private readonly options: EngineContenderOptions
  /** Number of fills of memory with data to write; each has different data. */
  private fills = 0

  constructor(options: EngineContenderOptions) {
    this.options = options
    this.source = engineSource(options.name)
  }

  async measure(shape: Shape, withTimeline: boolean): Promise<Measured> {
    const { opened, setting } = this.options
    const recorder = new CommandRecorder(shape.blockBytes, withTimeline)
    const turn = await this.take(shape, recorder)
    const { run } = turn
    const wrongBytes = await this.lookAgain(turn.samples, shape)
    const seconds = (run.endNs - run.startNs) / 1e9
    const latency = recorder.histogram.latency()
    const repeat: BenchRepeat = {
      bytes: run.bytes,
      commands: run.commands,
      seconds,
      ...(opened.time === 'wall' && { cpuSeconds: turn.cpuSeconds }),
      ...(latency !== undefined && { latency: this.named(latency, shape) }),
      ...healthOf(turn.before, turn.after),
    }
    const pace = paceOf(run, setting.seconds)
    const problem = problemOf(repeat, { ...turn.evidence, wrongBytes }, shape.rw, opened.link)
    return {
      repeat: problem === undefined ? repeat : { ...repeat, problem },
      ...(withTimeline && recorder.commands.length > 0 && { timeline: recorder.timeline() }),
      ...(pace !== undefined && { pace }),
      remarks: this.blankRemark(turn.samples, shape),
    }
  }

  private named(latency: NonNullable<BenchRepeat['latency']>, shape: Shape): NonNullable<BenchRepeat['latency']> {
    if (this.source.latencyOf === 'command') return latency
    return { commandsPerPlan: commandsPerPlan(shape), ...latency }
  }

  private blankRemark(samples: readonly Sample[], { rw }: Shape): string[] {
    // Simulated drives answer reads of unwritten blocks no faster.
    const isReal = this.options.opened.serial === undefined
    if (rw === 'write' || !isReal || !areZeros(samples)) return []
    return [
      'All checked blocks are zero: they may never have been written, and drives answer such reads without accessing flash. Write to the area first.',
    ]
  }

  /** Runs one repeat, on a controller that is opened for it and closed afterwards. */
  private async take(shape: Shape, recorder: CommandRecorder): Promise<Turn> {
    const { opened, makeEngine, write, nsid, setting } = this.options
    const engine = makeEngine(opened.transport, recorder)
    const controller = await Controller.open(opened.transport, {
      engine,
      queues: shape.jobs,
      queueDepth: shape.depth,
      maxTransferBytes: Math.max(MIN_TRANSFER_BYTES, shape.blockBytes),
      write: shape.rw === 'write' ? write : undefined,
    })
    try {
      requireFit(shape, controller, controller.namespace(nsid), setting.span)
      const memory = allocate(controller.namespace(nsid), shape)
      try {
        return await this.runOn(controller, engine, memory, shape, recorder)
      } finally {
        memory.free()
      }
    } finally {
      await controller.close()
    }
  }

  private async runOn(
    controller: Controller,
    engine: Engine,
    memory: DmaMemory,
    shape: Shape,
    recorder: CommandRecorder,
  ): Promise<Turn> {
    const { seconds, warmUpSeconds, span, seed, signal } = this.options.setting
    const namespace = controller.namespace(this.options.nsid)
    const ring = new PlanRing(shape, namespace, new Addresses(shape, span, namespace.blockBytes, seed))
    this.fill(memory, shape)
    await runPlans(namespace, memory, ring, { seconds: warmUpSeconds, signal })
    recorder.clear()
    // Data from the warm-up must not be mistaken for data of the repeat.
    this.fill(memory, shape)
    const before = await controller.smartLog()
    const counted = { engine: engine.statistics?.commands, sent: controller.statistics.commands }
    const cpuBefore = cpuSecondsNow()
    const ofPlans = this.source.latencyOf === 'plan' ? { onPlan: (ns: number) => recorder.histogram.add(ns) } : {}
    const run = await runPlans(namespace, memory, ring, { seconds, signal, ...ofPlans })
    const cpuSeconds = cpuSecondsNow() - cpuBefore
    const engineAfter = engine.statistics?.commands
    const evidence = {
      sentCommands: controller.statistics.commands - counted.sent,
      engineCommands: engineAfter === undefined ? undefined : engineAfter - (counted.engine ?? 0),
    }
    const after = await controller.smartLog()
    return { run, cpuSeconds, before, after, evidence, samples: samplesOf(ring, memory) }
  }

  private fill(memory: DmaMemory, { rw }: Shape): void {
    const { seed, dataPattern } = this.options.setting
    if (rw === 'write') fillWithPattern(memory, dataPattern, seed + this.fills++)
    else fillWithMarker(memory)
  }

  /** Reads the same blocks with the host engine on a newly opened controller, independently of the measured engine. */
  private async lookAgain(samples: readonly Sample[], { rw }: Shape): Promise<string | undefined> {
    const { transport } = this.options.opened
    const controller = await Controller.open(transport, { engine: new HostEngine(transport) })
    try {
      return await findWrong(controller.namespace(this.options.nsid), samples, rw === 'write' ? 'write' : 'read')
    } finally {
      await controller.close()
    }
  }
}

/** Returns the CPU time of this process so far, including system time, in seconds. */
function cpuSecondsNow(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Maximum commands of a timeline. */
const MAX_COMMANDS = 400

/** Records the latencies of commands, and the first commands individually. */
class CommandRecorder {
  readonly histogram = new LatencyHistogram()
  readonly commands: BenchCommand[] = []
  private readonly blockBytes: number
  private readonly withTimeline: boolean

  constructor(blockBytes: number, withTimeline: boolean) {
    this.blockBytes = blockBytes
    this.withTimeline = withTimeline
  }

  /** Callback of HostEngine. */
  readonly onCompleted = (queue: number, _slot: number, startNs: number, endNs: number): void => {
    this.histogram.add(endNs - startNs)
    if (!this.withTimeline || this.commands.length >= MAX_COMMANDS) return
    // Queue 0 is the Admin queue.
    this.commands.push({ queue: queue + 1, startNs, endNs, bytes: this.blockBytes })
  }

  /** Discards all records, for example those of the warm-up. */
  clear(): void {
    this.histogram.clear()
    this.commands.length = 0
  }

  /** Returns commands in the order of submission, with times relative to the first. */
  timeline(): BenchCommand[] {
    const firstNs = this.commands.reduce((min, { startNs }) => Math.min(min, startNs), Infinity)
    return this.commands
      .map((command) => ({ ...command, startNs: command.startNs - firstNs, endNs: command.endNs - firstNs }))
      .sort((a, b) => a.startNs - b.startNs)
  }
}
