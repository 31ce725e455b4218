import { createCqEntry, createSqEntry, type Entry } from '../conformance/raw-host/entry.js'
import {
  ACQ,
  AQA,
  ASQ,
  bits,
  CAP,
  CC,
  CC_ENABLED,
  CFS,
  CSTS,
  NSSR,
  RDY,
  tailDoorbell,
  VS,
} from '../conformance/raw-host/registers.js'
import type { Simulation } from '../src/index.js'
import { RunFailure } from './failure.js'
import { Host } from './host.js'
import type { Scenario, Step } from './scenario.js'
import type { Submitted } from './submitted.js'

const SHN_NORMAL = 1 << 14
const ALL_ONES = 0xffff_ffff

/** Time limits for CSTS.RDY and for a command: longer than any delay of a random plan. */
const READY_LIMIT_NS = 20e9
const COMMAND_LIMIT_NS = 10e9
const BRING_UPS = 4

/** Faults after which registers and doorbells may differ from what the host assumes. */
const CONFUSING = ['lose-write', 'delay-write', 'read-value', 'surprise-reset', 'fatal-status', 'ready-never-rises']

/** The controller is off the bus, or no longer comes up: the run ends, and the plan explains it. */
class Over extends Error {}

/** Executes the steps of a scenario like a simple driver, with a health check before each. */
export class Driver {
  readonly host: Host
  private readonly simulation: Simulation
  private readonly scenario: Scenario
  /** Diagnostics of deliberate mistakes. */
  private readonly allowed: RegExp[] = []
  private diagnosticsSeen = 0
  /** Number of oldest strikes that no longer explain anything: the controller came up after them. */
  private explained = 0
  /** Number of strikes before the last Admin command of `admin`. */
  private strikesBeforeAdmin = 0

  constructor(simulation: Simulation, scenario: Scenario) {
    this.simulation = simulation
    this.scenario = scenario
    this.host = new Host(simulation, scenario)
  }

  async run(): Promise<void> {
    try {
      await this.bringUp()
      for (const step of this.scenario.steps) {
        await this.checkHealth()
        await this.take(step)
        this.checkDiagnostics()
      }
      await this.settle()
      await this.reset('controller')
      // Nothing from before the reset may arrive, except a duplicate of the last completion of bring-up.
      await this.host.pass(1e9)
      this.host.pollAll(false)
    } catch (error) {
      if (!(error instanceof Over)) throw error
      this.host.pollAll(false)
      this.host.controllerLost()
      await this.host.pass(1e9)
    }
    this.checkDiagnostics()
    this.host.checkMemory()
  }

  private get bar() {
    return this.simulation.transport.bar
  }

  private async take(step: Step): Promise<void> {
    const { host } = this
    switch (step.do) {
      case 'io': {
        const command = host.submitIo(step.qid, step.order)
        if (step.order.flaw?.startsWith('prp')) this.allowed.push(/PRP1|PRP2|PRP list|no memory there/)
        if (command && step.ring) host.ringTail(step.qid)
        return
      }
      case 'admin':
        host.submitOperation(step.operation)
        return
      case 'abort': {
        const target = host.outOn(step.qid)[step.index]
        if (target) host.submitAbort(target)
        return
      }
      case 'ring':
        host.ringTail(step.qid)
        return
      case 'poll':
        host.poll(step.cqid, { most: step.most })
        return
      case 'pass':
        return host.pass(step.ns)
      case 'settle':
        return this.settle()
      case 'recreate':
        return this.recreate(step.cqid)
      case 'reset':
        return this.reset(step.how)
      case 'mistake':
        this.mistake(step.what, step.qid)
    }
  }

  /** Brings the controller up, with all queues. @throws Over if a fault keeps it down. */
  private async bringUp(): Promise<void> {
    for (let attempt = 0; attempt < BRING_UPS; attempt++) {
      this.host.controllerLost()
      if (await this.tryBringUp()) {
        this.host.absorbStrikes()
        this.checkDiagnostics()
        // A doorbell write after the last completion of bring-up may still be lost or on its way. Until it arrives, an Admin
        // CQ of two entries has no free slot, and nothing is posted to it (Base 2.2 §3.3.1.2.1); later writes wait behind it.
        this.explained = this.strikesBeforeAdmin
        return
      }
      if (this.isGone()) throw new Over()
      this.explain('bring-up', 'the controller does not come up, and no fault explains it')
      await this.simulation.transport.reset!('function')
    }
    throw new Over()
  }

  private async tryBringUp(): Promise<boolean> {
    const { host, bar, scenario } = this
    const { adminEntries, cqs, sqs } = scenario
    const cap = bar.read64(CAP)
    host.strideBytes = 4 << bits(cap, 35, 32)
    const cq = host.addCq(0, adminEntries)
    const sq = host.addSq(0, adminEntries, 0)
    bar.write32(AQA, (adminEntries - 1) | ((adminEntries - 1) << 16))
    bar.write64(ASQ, BigInt(sq.memory.iova()))
    bar.write64(ACQ, BigInt(cq.memory.iova()))
    bar.write32(CC, CC_ENABLED)
    const isUp = await this.until(() => (bar.read32(CSTS) & (RDY | CFS)) !== 0, READY_LIMIT_NS)
    if (!isUp || (bar.read32(CSTS) & (RDY | CFS)) !== RDY) return false
    if (!(await this.identify())) return false
    if (!(await this.admin('set-features', { opcode: 0x09, cdw: { 10: 0x07, 11: 0x003f_003f } }))) return false
    for (const { qid, entries } of cqs) if (!(await this.createCq(qid, entries))) return false
    for (const { qid, entries, cqid } of sqs) if (!(await this.createSq(qid, entries, cqid))) return false
    return true
  }

  private async identify(): Promise<boolean> {
    const { host } = this
    const command = host.submitOperation('identify')!
    const { bytes } = command.slot!.data
    if (!(await this.answer(command))) return false
    // The bytes that a fault has flipped are not known here.
    if (!command.struck.has('corrupt-data')) host.optionalCommands = bytes[520]! | (bytes[521]! << 8)
    return !command.struck.has('corrupt-data')
  }

  private createCq(qid: number, entries: number): Promise<boolean> {
    const { memory } = this.host.addCq(qid, entries)
    return this.admin('create', createCqEntry(qid, entries, memory.iova()))
  }

  private createSq(qid: number, entries: number, cqid: number): Promise<boolean> {
    const { memory } = this.host.addSq(qid, entries, cqid)
    return this.admin('create', createSqEntry(qid, entries, cqid, memory.iova()))
  }

  /** Executes an Admin command; returns whether it succeeded. */
  private async admin(what: 'create' | 'delete' | 'set-features', entry: Entry, statuses = ['0/00']): Promise<boolean> {
    await this.until(() => this.host.outOn(0).length < this.scenario.adminEntries - 1, COMMAND_LIMIT_NS)
    this.strikesBeforeAdmin = this.simulation.faults.strikes.length
    const command = this.host.submitAdmin(what, entry, statuses)
    return command !== undefined && (await this.answer(command))
  }

  /** Waits for a command's completion; returns whether it is a success that no fault made up. */
  private async answer(command: Submitted): Promise<boolean> {
    await this.until(() => command.completions > 0, COMMAND_LIMIT_NS)
    if (command.completions > 0) return command.status === '0/00' && !command.struck.has('status')
    if (command.least > 0) this.explain('missing-completion', `${command.name} has not completed`)
    return false
  }

  /** Deletes a completion queue with its submission queues, first in the wrong order, and creates them again. */
  private async recreate(cqid: number): Promise<void> {
    const { host, scenario } = this
    const sqs = scenario.sqs.filter((each) => each.cqid === cqid)
    const inUse = sqs.some(({ qid }) => host.sqs.has(qid))
    // 1/0c is Invalid Queue Deletion: the completion queue still has submission queues.
    if (inUse && !(await this.deletesNothing(cqid))) return this.reset('controller')
    for (const { qid } of sqs) {
      const sq = host.sqs.get(qid)
      if (sq === undefined) continue
      host.markDeleting(sq, true)
      const isDone = await this.admin('delete', { opcode: 0x00, cdw: { 10: qid } })
      host.markDeleting(sq, isDone)
      if (!isDone) return this.reset('controller')
      host.pollAll()
      host.queueDeleted(sq)
    }
    host.pollAll()
    host.cqs.get(cqid)!.isClosing = true
    if (!(await this.admin('delete', { opcode: 0x04, cdw: { 10: cqid } }))) return this.reset('controller')
    host.poll(cqid)
    if (!(await this.createCq(cqid, scenario.cqs.find(({ qid }) => qid === cqid)!.entries)))
      return this.reset('controller')
    for (const { qid, entries } of sqs) {
      if (!(await this.createSq(qid, entries, cqid))) return this.reset('controller')
    }
  }

  private async deletesNothing(cqid: number): Promise<boolean> {
    await this.until(() => this.host.outOn(0).length < this.scenario.adminEntries - 1, COMMAND_LIMIT_NS)
    const command = this.host.submitAdmin('delete', { opcode: 0x04, cdw: { 10: cqid } }, ['1/0c'])
    if (command === undefined) return false
    await this.answer(command)
    return command.status === '1/0c'
  }

  /** Waits until all commands have completed that still can; the others must be explained by a fault. */
  private async settle(): Promise<void> {
    const { host } = this
    host.ringAll()
    await this.until(() => host.unsettled.length === 0, COMMAND_LIMIT_NS, 1e9)
    const [missing] = host.unsettled
    const isStuck = [...host.sqs.values()].some(({ isHalted, cq }) => isHalted || cq.isWedged)
    if (missing) {
      await this.checkHealth()
      const [still] = host.unsettled
      if (still) this.explain('missing-completion', `${still.name} has not completed`)
    }
    // A driver resets after waiting in vain.
    if (missing || isStuck || [...host.cqs.values()].some(({ isWedged }) => isWedged)) await this.reset('controller')
  }

  private async reset(how: 'controller' | 'function' | 'subsystem' | 'shutdown'): Promise<void> {
    const { bar, host } = this
    const hasSubsystemReset = bits(bar.read64(CAP), 36, 36) === 1
    if (how === 'shutdown') {
      host.noteShutdown()
      bar.write32(CC, CC_ENABLED | SHN_NORMAL)
      await this.until(() => ((bar.read32(CSTS) >> 2) & 3) === 2, COMMAND_LIMIT_NS)
    }
    host.pollAll()
    if (how === 'function') await this.simulation.transport.reset!('function')
    else if (how === 'subsystem' && hasSubsystemReset) bar.write32(NSSR, 0x4e56_4d65)
    else {
      bar.write32(CC, 0)
      const endNs = host.nowNs + READY_LIMIT_NS
      while ((bar.read32(CSTS) & RDY) !== 0 && host.nowNs < endNs) await this.simulation.clock.idle(endNs)
    }
    if (this.isGone()) throw new Over()
    if ((bar.read32(CSTS) & RDY) !== 0) {
      this.explain('controller-status', `CSTS.RDY is still 1 after a ${how} reset`)
      await this.simulation.transport.reset!('function')
    }
    // Completions posted before the reset count, and are the last of these queues.
    host.pollAll(false)
    host.checkMemory()
    await this.bringUp()
  }

  /** Checks the controller's status, twice if it is bad. */
  private async checkHealth(): Promise<void> {
    const { bar } = this
    const isWell = () => (bar.read32(CSTS) & (RDY | CFS)) === RDY
    if (isWell() || isWell()) return
    if (this.isGone()) throw new Over()
    const csts = bar.read32(CSTS)
    this.explain('controller-status', `CSTS is ${csts.toString(16)}h, and no fault explains it`)
    await this.reset('controller')
  }

  private isGone(): boolean {
    if (this.bar.read32(VS) !== ALL_ONES || this.bar.read32(CSTS) !== ALL_ONES) return false
    if (!this.simulation.faults.strikes.some(({ kind }) => kind === 'remove-device')) {
      throw new RunFailure('controller-status', 'all registers read as all ones, and no fault has removed the device')
    }
    return true
  }

  /** Fails unless a fault of the controller or its registers has struck since the controller last came up. */
  private explain(assertion: 'bring-up' | 'controller-status' | 'missing-completion', message: string): void {
    const since = this.simulation.faults.strikes.slice(this.explained)
    const isStruck = since.some(({ kind, where }) => {
      if (where.startsWith('SQ 0 ')) return true
      return CONFUSING.includes(kind) || kind === 'remove-device' || kind === 'ready-never-falls'
    })
    if (!isStruck) throw new RunFailure(assertion, message)
  }

  private mistake(what: Extract<Step, { do: 'mistake' }>['what'], qid: number): void {
    const { host, bar } = this
    const sq = host.sqs.get(qid)
    const cq = sq?.cq
    if (sq === undefined || cq === undefined) return
    const { strideBytes } = host
    const delays = this.scenario.faults.rules.some(({ action }) => action.kind === 'delay-write')
    if (what === 'tail') {
      this.allowed.push(new RegExp(`SQ ${qid} tail`))
      sq.ring(bar, strideBytes, sq.entries)
      sq.isHalted = true
    } else if (what === 'head') {
      this.allowed.push(new RegExp(`CQ ${cq.qid} head ${cq.entries}`))
      cq.ring(bar, strideBytes, cq.entries)
    } else if (what === 'no-queue') {
      this.allowed.push(/SQ 15 tail 0/)
      bar.write32(tailDoorbell(15, strideBytes), 0)
    } else if (what === 'read-only') {
      this.allowed.push(/VS/)
      bar.write32(VS, 0)
    } else if (!delays && !cq.isWedged) {
      // One beyond all posted entries: a delayed completion would otherwise be misinterpreted.
      host.poll(cq.qid)
      this.allowed.push(new RegExp(`CQ ${cq.qid} head`))
      cq.ring(bar, strideBytes, (cq.head + 1) % cq.entries)
    }
  }

  /** Checks that the simulator's diagnostics match the deliberate mistakes. */
  private checkDiagnostics(): void {
    const { diagnostics, faults } = this.simulation
    if (diagnostics.length === this.diagnosticsSeen) return
    const fresh = diagnostics.slice(this.diagnosticsSeen)
    this.diagnosticsSeen = diagnostics.length
    const isConfused = faults.strikes.slice(this.explained).some(({ kind }) => CONFUSING.includes(kind))
    const surprise = fresh.find((line) => !isConfused && !this.allowed.some((pattern) => pattern.test(line)))
    if (surprise !== undefined) throw new RunFailure('diagnostics', `the host did nothing wrong: ${surprise}`)
  }

  /** Polls and passes time until `condition` holds; rings again every `againNs`. Returns false if it never holds. */
  private async until(condition: () => boolean, limitNs: number, againNs = Infinity): Promise<boolean> {
    const { host } = this
    const { clock } = this.simulation
    const endNs = clock.now() + limitNs
    let ringNs = clock.now() + againNs
    for (;;) {
      host.pollAll()
      if (condition()) return true
      if (clock.now() >= endNs) return false
      await clock.idle(Math.min(endNs, ringNs))
      if (clock.now() >= ringNs) {
        // A doorbell may have been lost; if none was, ringing again is a mistake.
        this.allowed.push(/ is unchanged: it /)
        host.ringAll(true)
        ringNs += againNs
      }
    }
  }
}
