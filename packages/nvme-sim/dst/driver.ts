import type { Entry } from '../conformance/raw-host/entry.js'
import { bits, CAP, CC, CFS, CSTS, EN, NSSR, RDY, VS } from '../conformance/raw-host/registers.js'
import type { Simulation } from '../src/index.js'
import { BringUp, READY_LIMIT_NS } from './bring-up.js'
import type { CachedMedia } from './cached-media.js'
import type { Commander } from './commander.js'
import { Dice } from './dice.js'
import { RunFailure } from './failure.js'
import { Host } from './host.js'
import { InterruptWatch } from './interrupt-watch.js'
import { Manager } from './manager.js'
import { CONFUSING, Mistakes } from './mistakes.js'
import { MAX_DATA_BYTES, type ResetKind, type Scenario, type Step } from './scenario.js'
import { transferBytes } from './spaces.js'
import type { Submitted } from './submitted.js'

const SHN_NORMAL = 1 << 14
const ALL_ONES = 0xffff_ffff

/** Time limit of a command: longer than any delay of a random plan. */
const COMMAND_LIMIT_NS = 10e9
/** Maximum number of attempts to bring the controller up. */
const BRING_UPS = 4

/** Ends a run in which faults have removed the controller or keep it from becoming ready. */
class Over extends Error {}

/** Executes the steps of a scenario as a simple driver would, with a health check before each. */
export class Driver implements Commander {
  readonly host: Host
  private readonly simulation: Simulation
  private readonly scenario: Scenario
  private readonly starter: BringUp
  private readonly manager: Manager
  private readonly interrupts: InterruptWatch | undefined
  /** Media with a cache that a loss of power empties. */
  private readonly caches: readonly CachedMedia[]
  private readonly dice: Dice
  private readonly mistakes: Mistakes
  /** Number of faults from before the last bring-up, which explain no later failure. */
  private explained = 0
  /** Number of faults before the last Admin command of `send`. */
  private injectedBeforeAdmin = 0

  constructor(simulation: Simulation, scenario: Scenario, caches: readonly CachedMedia[] = []) {
    this.simulation = simulation
    this.scenario = scenario
    this.caches = caches
    this.dice = new Dice(scenario.seed, 'dst power')
    this.host = new Host(simulation, scenario)
    this.mistakes = new Mistakes(simulation, scenario, this.host)
    this.starter = new BringUp(this, scenario)
    this.manager = new Manager(this)
    if (scenario.interrupts) this.interrupts = new InterruptWatch(this.host, scenario.cqs)
  }

  async run(): Promise<void> {
    try {
      await this.bringUp()
      for (const step of this.scenario.steps) {
        await this.checkHealth()
        await this.take(step)
        this.mistakes.check(this.explained)
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
    this.mistakes.check(this.explained)
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
        if (step.order.flaw?.startsWith('prp')) this.allow(/PRP1|PRP2|PRP list|no memory there/)
        if (step.order.flaw?.startsWith('sgl')) this.allow(/SGL/)
        if (command && step.ring) host.ringTail(step.qid)
        return
      }
      case 'fused':
        host.submitFused(step.qid, step.order)
        return
      case 'admin':
        host.submitOperation(step.operation)
        return
      case 'manage':
        return this.manager.take(step.management)
      case 'abort': {
        const target = host.outOn(step.qid)[step.index]
        if (target) host.submitAbort(target)
        return
      }
      case 'ring':
        host.ringTail(step.qid)
        return
      case 'poll':
        host.poll(step.cqid, { max: step.max })
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
        this.mistakes.make(step.what, step.qid)
    }
  }

  /** Brings the controller up and creates all queues. @throws Over if a fault prevents that. */
  private async bringUp(): Promise<void> {
    for (let attempt = 0; attempt < BRING_UPS; attempt++) {
      this.host.controllerLost()
      if (await this.starter.try()) {
        this.countSettings()
        this.host.absorbStrikes()
        this.mistakes.check(this.explained)
        // The doorbell write for the last completion of bring-up may be lost or delayed. Until it arrives, an Admin CQ
        // of two entries has no free slot, so nothing is posted to it (Base 2.2 §3.3.1.2.1), and later writes wait
        // behind it. A fault of that write therefore still explains failures.
        this.explained = this.injectedBeforeAdmin
        return
      }
      if (this.isGone()) throw new Over()
      this.explain('bring-up', 'the controller does not become ready, and no fault explains it')
      await this.simulation.transport.reset!('function')
    }
    throw new Over()
  }

  /** Executes an Admin command; returns whether it succeeded. */
  async admin(what: NonNullable<Submitted['admin']>, entry: Entry, statuses = ['0/00']): Promise<boolean> {
    const command = await this.send(what, entry, statuses)
    return command !== undefined && (await this.answer(command))
  }

  async send(
    what: NonNullable<Submitted['admin']>,
    entry: Entry,
    statuses: readonly string[],
    data?: Uint8Array,
  ): Promise<Submitted | undefined> {
    await this.until(() => this.host.outOn(0).length < this.scenario.adminEntries - 1, COMMAND_LIMIT_NS)
    this.injectedBeforeAdmin = this.simulation.faults.injected.length
    return this.host.submitAdmin(what, entry, statuses, data)
  }

  allow(diagnostic: RegExp): void {
    this.mistakes.allow(diagnostic)
  }

  private countSettings(): void {
    const { tally } = this.host.verdicts
    if (this.host.doorbells.areInMemory) tally.add('shadow doorbells')
    if (this.interrupts) tally.add('interrupts')
    if (this.starter.isWeighted) tally.add('weighted round robin')
  }

  /** Waits for a command's completion; returns whether it succeeded and no fault forged its status. */
  async answer(command: Submitted): Promise<boolean> {
    await this.until(() => command.completions > 0, COMMAND_LIMIT_NS)
    if (command.completions > 0) return command.status === '0/00' && !command.injected.has('status')
    if (command.minCompletions > 0) this.explain('missing-completion', `${command.name} has not completed`)
    return false
  }

  /** Deletes a completion queue and its submission queues, first in the wrong order, and creates them again. */
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
    const { entries } = scenario.cqs.find(({ qid }) => qid === cqid)!
    if (!(await this.starter.createCq(cqid, entries))) return this.reset('controller')
    for (const { qid } of sqs) {
      if (!(await this.starter.createSq(qid))) return this.reset('controller')
    }
  }

  private async deletesNothing(cqid: number): Promise<boolean> {
    const command = await this.send('delete', { opcode: 0x04, cdw: { 10: cqid } }, ['1/0c'])
    if (command === undefined) return false
    await this.answer(command)
    return command.status === '1/0c'
  }

  /** Waits for all commands that can still complete. @throws RunFailure if no fault explains a missing completion. */
  async settle(): Promise<void> {
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
    // As a driver does after a time-out.
    if (missing || isStuck || [...host.cqs.values()].some(({ isWedged }) => isWedged)) await this.reset('controller')
  }

  async reset(how: ResetKind): Promise<void> {
    const { bar, host } = this
    const hasSubsystemReset = bits(bar.read64(CAP), 36, 36) === 1
    if (how === 'shutdown') {
      host.noteShutdown()
      const began = host.medium.tick()
      bar.write32(CC, this.starter.configuration | SHN_NORMAL)
      const isComplete = await this.until(() => ((bar.read32(CSTS) >> 2) & 3) === 2, COMMAND_LIMIT_NS)
      // A completed shutdown has made all written data durable (Base 2.1 §3.6.1).
      if (isComplete && this.isBelievable) for (const { nsid } of host.spaces.all) host.medium.flush(nsid, began)
    }
    host.pollAll()
    if (how === 'power') this.cutPower()
    else if (how === 'function') await this.simulation.transport.reset!('function')
    else if (how === 'subsystem' && hasSubsystemReset) bar.write32(NSSR, 0x4e56_4d65)
    else {
      // Only CC.EN may change: the other fields must not change while the controller is enabled.
      bar.write32(CC, this.starter.configuration & ~EN)
      const endNs = host.nowNs + READY_LIMIT_NS
      while ((bar.read32(CSTS) & RDY) !== 0 && host.nowNs < endNs) await this.simulation.clock.idle(endNs)
    }
    if (this.isGone()) throw new Over()
    if ((bar.read32(CSTS) & RDY) !== 0) {
      this.explain('controller-status', `CSTS.RDY is still 1 after a ${how} reset`)
      await this.simulation.transport.reset!('function')
    }
    // Completions that were posted before the reset are valid.
    host.pollAll(false)
    host.checkMemory()
    await this.bringUp()
    if (how === 'power') await this.readAll()
  }

  /** Reads every block of the attached namespaces. */
  private async readAll(): Promise<void> {
    const { host } = this
    const { qid } = this.scenario.sqs[0]!
    const { cq } = host.sqs.get(qid)!
    for (const space of host.spaces.all) {
      if (!space.isAttached) continue
      const max = Math.floor(MAX_DATA_BYTES / transferBytes(space))
      for (let slba = 0; slba < space.blocks; slba += max) {
        const blocks = Math.min(max, space.blocks - slba)
        const order = { operation: 'read', nsid: space.nsid, slba, blocks, offsetBytes: 0, salt: 0 } as const
        const command = host.submitIo(qid, order)
        host.ringTail(qid)
        if (command === undefined || cq.isWedged || !(await this.answer(command))) return
      }
    }
  }

  /** Whether register reads are reliable, since no fault has changed their values. */
  private get isBelievable(): boolean {
    return !this.simulation.faults.injected.some(({ kind }) => kind === 'read-value' || kind === 'remove-device')
  }

  /** Power-cycles the drive; each unit of its cache may be lost. */
  private cutPower(): void {
    const { host, simulation, dice } = this
    simulation.powerCycle()
    host.verdicts.tally.add('loss of power')
    host.controllerLost()
    // Data and metadata of a block are lost together, but the media do not know which units belong to one block.
    const hasMetadata = host.spaces.all.some(({ metadataBytes }) => metadataBytes > 0)
    for (const media of this.caches) {
      const all = dice.chance(0.5)
      media.losePower(() => (hasMetadata ? all : dice.chance(0.5)))
    }
    host.medium.losePower()
    host.fused.forget()
  }

  /** Checks CSTS, a second time if the first read was bad: a fault may have changed its value. */
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
    if (!this.simulation.faults.injected.some(({ kind }) => kind === 'remove-device')) {
      throw new RunFailure(
        'controller-status',
        'all registers read as all ones although no fault has removed the device',
      )
    }
    return true
  }

  /** @throws RunFailure unless a fault since the last bring-up explains the failure. */
  private explain(assertion: 'bring-up' | 'controller-status' | 'missing-completion', message: string): void {
    const since = this.simulation.faults.injected.slice(this.explained)
    const isCausedByFault = since.some(({ kind, where }) => {
      if (where.startsWith('SQ 0 ')) return true
      return CONFUSING.includes(kind) || kind === 'remove-device' || kind === 'ready-never-falls'
    })
    if (!isCausedByFault) throw new RunFailure(assertion, message)
  }

  /** Polls until `condition` holds; rings all doorbells again every `againNs`. Returns false after `limitNs`. */
  async until(condition: () => boolean, limitNs: number, againNs = Infinity): Promise<boolean> {
    const { host } = this
    const { clock } = this.simulation
    const endNs = clock.now() + limitNs
    let ringNs = clock.now() + againNs
    for (;;) {
      if (this.interrupts) await this.interrupts.poll()
      else host.pollAll()
      if (condition()) return true
      if (clock.now() >= endNs) return false
      await clock.idle(Math.min(endNs, ringNs))
      if (clock.now() >= ringNs) {
        // A doorbell write may have been lost; if none was, the simulator reports the repeated write.
        this.allow(/ is unchanged: it /)
        host.ringAll(true)
        ringNs += againNs
      }
    }
  }
}
