import { createCqEntry, createSqEntry } from '../conformance/raw-host/entry.js'
import { ACQ, AQA, ASQ, bits, CAP, CC, CC_ENABLED, CFS, CSTS, RDY } from '../conformance/raw-host/registers.js'
import type { Commander } from './commander.js'
import { Region } from './region.js'
import type { Scenario } from './scenario.js'

/** Time limit for CSTS.RDY: longer than any delay of a random plan. */
export const READY_LIMIT_NS = 20e9

/** Bits and offsets as the specification's figures number them. */
const AMS_WEIGHTED = 1 << 11
const CAP_AMS_WEIGHTED = 17
const OACS_DOORBELL_BUFFER = 0x100
const PC = 1
const IEN = 2
const FEATURE = { arbitration: 0x01, cache: 0x06, queues: 0x07, coalescing: 0x08 } as const
const PAGE_BYTES = 4096

/** Brings a controller up with the queues, features, doorbells and interrupts of a scenario. */
export class BringUp {
  /** The value of CC with which the controller was enabled. */
  configuration = CC_ENABLED
  private readonly commander: Commander
  private readonly scenario: Scenario
  /** OACS of Identify Controller. */
  private optionalAdmin = 0

  constructor(commander: Commander, scenario: Scenario) {
    this.commander = commander
    this.scenario = scenario
  }

  /** Attempts the bring-up; returns whether the controller is ready and all queues were created. */
  async try(): Promise<boolean> {
    const { commander, scenario } = this
    const { host } = commander
    const { bar } = host.transport
    const { adminEntries, cqs, sqs, arbitration, shadow } = scenario
    const cap = bar.read64(CAP)
    host.doorbells.strideBytes = 4 << bits(cap, 35, 32)
    const isWeighted = arbitration !== undefined && bits(cap, CAP_AMS_WEIGHTED, CAP_AMS_WEIGHTED) === 1
    this.configuration = CC_ENABLED | (isWeighted ? AMS_WEIGHTED : 0)
    const cq = host.addCq(0, adminEntries)
    if (scenario.interrupts) cq.vector = 0
    const sq = host.addSq(0, adminEntries, 0)
    bar.write32(AQA, (adminEntries - 1) | ((adminEntries - 1) << 16))
    bar.write64(ASQ, BigInt(sq.memory.iova()))
    bar.write64(ACQ, BigInt(cq.memory.iova()))
    bar.write32(CC, this.configuration)
    const isUp = await commander.until(() => (bar.read32(CSTS) & (RDY | CFS)) !== 0, READY_LIMIT_NS)
    if (!isUp || (bar.read32(CSTS) & (RDY | CFS)) !== RDY) return false
    if (!(await this.identify())) return false
    if (!(await this.setFeatures())) return false
    if (shadow && (this.optionalAdmin & OACS_DOORBELL_BUFFER) !== 0 && !(await this.useShadowDoorbells())) return false
    for (const { qid, entries } of cqs) if (!(await this.createCq(qid, entries))) return false
    for (const each of sqs) if (!(await this.createSq(each.qid))) return false
    return true
  }

  /** Whether weighted round robin is enabled. */
  get isWeighted(): boolean {
    return (this.configuration & AMS_WEIGHTED) !== 0
  }

  /** Creates a completion queue of the scenario. */
  createCq(qid: number, entries: number): Promise<boolean> {
    const { host } = this.commander
    const cq = host.addCq(qid, entries)
    const shape = this.scenario.cqs.find((each) => each.qid === qid)
    // A queue with interrupts disabled has a vector too, which must not fire.
    const vector = this.scenario.interrupts ? qid : 0
    const hasInterrupts = this.scenario.interrupts !== undefined && shape?.interrupts === true
    if (hasInterrupts) cq.vector = vector
    const cdw11 = PC | (hasInterrupts ? IEN : 0) | (vector << 16)
    return this.commander.admin('create', createCqEntry(qid, entries, cq.memory.iova(), cdw11))
  }

  /** Creates a submission queue of the scenario. */
  createSq(qid: number): Promise<boolean> {
    const { entries, cqid, priority = 0 } = this.scenario.sqs.find((each) => each.qid === qid)!
    const { memory } = this.commander.host.addSq(qid, entries, cqid)
    const entry = createSqEntry(qid, entries, cqid, memory.iova())
    const cdw = { ...entry.cdw, 11: entry.cdw![11]! | (priority << 1) }
    return this.commander.admin('create', { ...entry, cdw })
  }

  private async identify(): Promise<boolean> {
    const { commander } = this
    const { host } = commander
    const command = host.submitOperation('identify')!
    const { bytes } = command.slot!.data
    if (!(await commander.answer(command))) return false
    // A fault has changed some of these bytes.
    if (command.injected.has('corrupt-data')) return false
    this.optionalAdmin = bytes[256]! | (bytes[257]! << 8)
    host.optionalCommands = bytes[520]! | (bytes[521]! << 8)
    return true
  }

  private async setFeatures(): Promise<boolean> {
    const { arbitration, interrupts, cacheOff = false } = this.scenario
    const { host } = this.commander
    if (!(await this.set(FEATURE.queues, 0x003f_003f))) return false
    if (arbitration) {
      const [high, medium, low] = arbitration.weights
      const cdw11 = (arbitration.burst | (low << 8) | (medium << 16) | (high << 24)) >>> 0
      if (!(await this.set(FEATURE.arbitration, cdw11))) return false
    }
    if (interrupts) {
      if (!(await this.set(FEATURE.coalescing, interrupts.threshold | (interrupts.time << 8)))) return false
    }
    host.verdicts.isCacheOff = false
    if (cacheOff) {
      if (!(await this.set(FEATURE.cache, 0))) return false
      host.verdicts.isCacheOff = true
    }
    return true
  }

  private set(feature: number, cdw11: number): Promise<boolean> {
    return this.commander.admin('set-features', { opcode: 0x09, cdw: { 10: feature, 11: cdw11 } })
  }

  /** Enables shadow doorbells (Base 2.1 §5.2.5), initialized with the doorbell values of the Admin queues. */
  private async useShadowDoorbells(): Promise<boolean> {
    const { host } = this.commander
    const { dma } = host.transport
    const values = new Region(dma, 'the shadow doorbells', PAGE_BYTES, true)
    const eventIndexes = new Region(dma, 'the event indexes', PAGE_BYTES, true)
    for (const memory of [values, eventIndexes]) host.keep(memory)
    const [sq, cq] = [host.sqs.get(0)!, host.cqs.get(0)!]
    const store = (isTail: boolean, value: number) => {
      const at = host.doorbells.offsetOf(0, isTail)
      values.view.setUint32(at, value, true)
      values.accept(at, 4)
    }
    store(true, (sq.tail + 1) % sq.entries)
    store(false, cq.head)
    eventIndexes.isUnknown = true
    const entry = { opcode: 0x7c, prp1: values.iova(), prp2: eventIndexes.iova() }
    if (!(await this.commander.admin('doorbell-buffer', entry))) return false
    store(true, sq.tail)
    store(false, cq.head)
    host.doorbells.useMemory(values, eventIndexes)
    return true
  }
}
