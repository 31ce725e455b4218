import { tailDoorbell, VS } from '../conformance/raw-host/registers.js'
import type { Simulation } from '../src/index.js'
import { RunFailure } from './failure.js'
import type { Host } from './host.js'
import type { Scenario, Step } from './scenario.js'

/** Faults after which the state of registers and doorbells may differ from the host's assumption. */
export const CONFUSING = [
  'lose-write',
  'delay-write',
  'read-value',
  'surprise-reset',
  'fatal-status',
  'ready-never-rises',
]

/** Makes deliberate mistakes, and checks that the simulator reports no others. */
export class Mistakes {
  private readonly simulation: Simulation
  private readonly scenario: Scenario
  private readonly host: Host
  /** Patterns of expected diagnostics. */
  private readonly allowed: RegExp[] = []
  private seen = 0

  constructor(simulation: Simulation, scenario: Scenario, host: Host) {
    this.simulation = simulation
    this.scenario = scenario
    this.host = host
  }

  /** Allows a diagnostic of the simulator. */
  allow(diagnostic: RegExp): void {
    this.allowed.push(diagnostic)
  }

  make(what: Extract<Step, { do: 'mistake' }>['what'], qid: number): void {
    const { host } = this
    const { bar } = this.simulation.transport
    const sq = host.sqs.get(qid)
    const cq = sq?.cq
    if (sq === undefined || cq === undefined) return
    const { doorbells } = host
    // The controller may read a shadow doorbell at any time, so a wrong head would have an unpredictable effect.
    if (doorbells.areInMemory && what.startsWith('head')) return
    const delays = this.scenario.faults.rules.some(({ action }) => action.kind === 'delay-write')
    if (what === 'tail') {
      this.allow(new RegExp(`SQ ${qid} tail`))
      sq.ring(doorbells, true, sq.entries)
      sq.isHalted = true
    } else if (what === 'head') {
      this.allow(new RegExp(`CQ ${cq.qid} head ${cq.entries}`))
      cq.ring(doorbells, true, cq.entries)
    } else if (what === 'no-queue') {
      this.allow(/SQ 15 tail 0/)
      bar.write32(tailDoorbell(15, doorbells.strideBytes), 0)
    } else if (what === 'read-only') {
      this.allow(/VS/)
      bar.write32(VS, 0)
    } else if (!delays && !cq.isWedged) {
      // All posted entries are consumed first, so that this head is one beyond them.
      host.poll(cq.qid)
      this.allow(new RegExp(`CQ ${cq.qid} head`))
      cq.ring(doorbells, true, (cq.head + 1) % cq.entries)
    }
  }

  /** @throws RunFailure for a diagnostic without a mistake. @param explained number of oldest faults to ignore. */
  check(explained: number): void {
    const { diagnostics, faults } = this.simulation
    if (diagnostics.length === this.seen) return
    const fresh = diagnostics.slice(this.seen)
    this.seen = diagnostics.length
    const isConfused = faults.injected.slice(explained).some(({ kind }) => CONFUSING.includes(kind))
    const surprise = fresh.find(({ text }) => !isConfused && !this.allowed.some((pattern) => pattern.test(text)))
    if (surprise !== undefined)
      throw new RunFailure('diagnostics', `reported without a mistake of the host: ${surprise.text}`)
  }
}
