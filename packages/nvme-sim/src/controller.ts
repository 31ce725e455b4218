import {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  countOf,
  CRTO,
  CSTS,
  DOORBELL_BASE,
  INTMS,
  maxTransferBytes,
  memoryPageBytes,
  NSSR,
  VS,
} from '@gpunvme/nvme-spec'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { performAdmin, type AdminContext } from './admin.js'
import type { SimulationClock } from './clock.js'
import type { Result, ServedCommand } from './command.js'
import { hex, type Diagnostics } from './diagnostics.js'
import { DriveModel } from './drive-model.js'
import { Faults } from './fault.js'
import type { HostMemory } from './host-memory.js'
import { LinkModel } from './link.js'
import type { Namespaces } from './namespace.js'
import type { NvmContext } from './nvm.js'
import { Pipeline, type PipelineContext } from './pipeline.js'
import type { DriveProfile } from './profiles.js'
import { PrpWalker } from './prp-walk.js'
import { QueueSet } from './queue-set.js'
import { CompletionQueue, CQE_BYTES, SQE_BYTES, SubmissionQueue } from './queue.js'
import { randomStream } from './random.js'
import { RegisterFile } from './register-file.js'
import { byOpcode, Counters, type Statistics } from './statistics.js'

export interface ControllerOptions {
  readonly clock: SimulationClock
  readonly memory: HostMemory
  readonly namespaces: Namespaces
  readonly profile: DriveProfile
  readonly diagnostics: Diagnostics
  readonly faults: FaultPlan | undefined
  readonly seed: number
}

const ALL_ONES = 0xffff_ffff

/** Fields of CC that may change only while CC.EN is 0 (Base 2.1 §3.1.4.5). */
const FIXED_FIELDS = [CC.CSS, CC.MPS, CC.AMS] as const
const FIXED_BITS = FIXED_FIELDS.reduce((bits, { msb, lsb }) => bits | ((1 << (msb + 1)) - (1 << lsb)), 0)

/**
 * The controller as its registers show it: the CC/CSTS state machine, resets and shutdown, doorbells. It owns all
 * state; commands run in its pipeline.
 */
export class Controller implements PipelineContext, AdminContext, NvmContext {
  readonly clock: SimulationClock
  readonly memory: HostMemory
  readonly namespaces: Namespaces
  readonly profile: DriveProfile
  readonly diagnostics: Diagnostics
  readonly link: LinkModel
  readonly drive: DriveModel
  readonly prps: PrpWalker
  readonly faults: Faults
  readonly counters = new Counters()
  readonly queues = new QueueSet()
  readonly eventRequests: number[] = []
  readonly nvm: NvmContext = this
  readonly maxQueueEntries: number
  readonly maxTransferBytes: number
  readonly doorbellStrideBytes: number
  grantedSqs: number
  grantedCqs: number
  pageBytes = 4096

  private readonly registers: RegisterFile
  private readonly pipeline: Pipeline
  private readonly capabilities: bigint
  private isRemoved = false
  /** Raised by every reset: what was scheduled before it does not happen. */
  private generation = 0

  constructor({ clock, memory, namespaces, profile, diagnostics, faults, seed }: ControllerOptions) {
    this.clock = clock
    this.memory = memory
    this.namespaces = namespaces
    this.profile = profile
    this.diagnostics = diagnostics
    this.link = new LinkModel(profile.link)
    this.drive = new DriveModel(profile, randomStream(seed, 'drive'))
    this.prps = new PrpWalker(memory, diagnostics)
    this.faults = new Faults(faults)
    this.capabilities = CAP.encode(profile.CAP)
    const { MQES, DSTRD, MPSMIN } = CAP.decode(this.capabilities)
    this.maxQueueEntries = countOf(MQES)
    this.doorbellStrideBytes = 2 ** (2 + DSTRD)
    this.maxTransferBytes = maxTransferBytes(profile.identify.MDTS ?? 0, MPSMIN) ?? Infinity
    this.grantedSqs = profile.ioQueuePairs
    this.grantedCqs = profile.ioQueuePairs
    this.registers = new RegisterFile(diagnostics)
    this.pipeline = new Pipeline(this)
    this.powerOn()
  }

  get commandSlots(): number {
    return this.profile.commandSlots
  }

  get adminNs(): number {
    return this.profile.adminNs
  }

  /** Raw CC. */
  get configuration(): number {
    return this.registers.get32(CC)
  }

  get statistics(): Statistics {
    const { counters, link } = this
    const { errors, bytesRead, bytesWritten, doorbellWrites } = counters
    return {
      adminCommands: byOpcode(counters.admin),
      ioCommands: byOpcode(counters.io),
      errors,
      bytesRead,
      bytesWritten,
      doorbellWrites,
      upstreamBusyNs: link.upstream.busyNs,
      downstreamBusyNs: link.downstream.busyNs,
    }
  }

  /** The host reads a register. */
  read32(offset: number): number {
    if (this.isRemoved) return ALL_ONES
    if (offset < DOORBELL_BASE) return this.registers.read(offset)
    this.diagnostics.report(`host read offset ${hex(offset)}: what a doorbell reads as is not defined`)
    return 0
  }

  /** The host writes a register. Nothing happens before the clock moves on. */
  write32(offset: number, value: number): void {
    if (this.isRemoved) return
    if (offset >= DOORBELL_BASE) this.ring(offset - DOORBELL_BASE, value)
    else this.writeProperty(offset, value)
  }

  private writeProperty(offset: number, value: number): void {
    const before = this.configuration
    const register = this.registers.write(offset, value)
    if (register === undefined) return
    if (register.name === CC.name) this.configure(before)
    else if (register.name === NSSR.name) this.subsystemReset(value >>> 0)
    else if ([AQA, ASQ, ACQ].some(({ name }) => name === register.name) && CC.EN.of(before) === 1) {
      this.diagnostics.report(`host wrote ${register.name} while CC.EN = 1: the Admin queues stay where they are`)
    }
  }

  admin(command: ServedCommand): Result {
    return performAdmin(command, this)
  }

  abortAll = (sq: SubmissionQueue): void => this.pipeline.abortAll(sq)

  /** The controller cannot go on: CSTS.CFS is set, and only a reset helps (Base 2.1 §3.1.4.6). */
  fail(reason: string): void {
    this.diagnostics.report(`controller failed, CSTS.CFS = 1: ${reason}`)
    this.pipeline.reset()
    this.setStatus({ CFS: 1 })
  }

  /** The device leaves the bus: every read gives all ones from here on. */
  remove(): void {
    this.forget()
    this.isRemoved = true
  }

  /** Everything as after power on: a reset of the function, or of the NVM subsystem. */
  powerOn(): void {
    this.forget()
    for (const register of [CC, CSTS, NSSR, AQA, ASQ, ACQ]) this.registers.set(register, 0)
    this.registers.set(CAP, this.capabilities)
    this.registers.set(VS, this.profile.VS)
    const { CRWMS, TO } = CAP.decode(this.capabilities)
    this.registers.set(CRTO, CRWMS === 1 ? CRTO.encode({ CRWMT: TO }) : 0)
  }

  /** CC was written. */
  private configure(before: number): void {
    const wasOn = CC.EN.of(before) === 1
    if (wasOn) this.keepFixedFields(before)
    const after = this.configuration
    const isOn = CC.EN.of(after) === 1
    if (!wasOn && isOn) this.enable()
    if (wasOn && !isOn) this.reset()
    // A notification is a change of SHN: bits that are written again as they were announce nothing new.
    if (CC.SHN.of(after) !== CC.SHN.NONE && CC.SHN.of(after) !== CC.SHN.of(before)) this.shutDown()
  }

  private keepFixedFields(before: number): void {
    const after = this.configuration
    const changed = FIXED_FIELDS.filter((field) => field.of(before) !== field.of(after)).map(({ name }) => `CC.${name}`)
    if (changed.length === 0) return
    this.diagnostics.report(`host changed ${changed.join(', ')} while CC.EN = 1: that has no effect`)
    this.registers.set(CC, ((after & ~FIXED_BITS) | (before & FIXED_BITS)) >>> 0)
  }

  /** CC.EN 0 -> 1: the Admin queues are where the registers say now; CSTS.RDY follows (Base 2.1 §3.5.1). */
  private enable(): void {
    if (this.isReady()) {
      this.diagnostics.report('host set CC.EN before CSTS.RDY became 0: that has no effect')
      this.registers.set(CC, this.configuration & ~1)
      return
    }
    // A shutdown that is complete ends here too (Base 2.1 §3.6.1).
    this.setStatus({ SHST: CSTS.SHST.NORMAL })
    const mistake = this.enableMistake()
    this.later(this.profile.enableNs, () => {
      if (mistake === undefined) this.becomeReady()
      else this.fail(mistake)
    })
  }

  /** What keeps the controller from being enabled. */
  private enableMistake(): string | undefined {
    const { CSS, MPS, AMS } = CC.decode(this.configuration)
    const { CSS_NCSS, MPSMIN, MPSMAX, AMS_WRRUPC } = CAP.decode(this.capabilities)
    const { asqEntries, acqEntries, asq, acq } = this.adminQueues()
    const pageBytes = memoryPageBytes(MPS)
    if (CSS !== CC.CSS.NVM || CSS_NCSS === 0) return `CC.CSS is ${CSS}, which CAP does not offer`
    if (MPS < MPSMIN || MPS > MPSMAX) return `CC.MPS is ${MPS}, CAP allows ${MPSMIN} to ${MPSMAX}`
    if (AMS !== CC.AMS.ROUND_ROBIN && !(AMS === CC.AMS.WRRUPC && AMS_WRRUPC === 1)) {
      return `CC.AMS is ${AMS}, which CAP does not offer`
    }
    if (asqEntries < 2 || acqEntries < 2)
      return `AQA gives ${asqEntries} and ${acqEntries} entries, at least 2 are needed`
    if (asq % pageBytes !== 0 || acq % pageBytes !== 0) return `ASQ or ACQ is not aligned to ${pageBytes} bytes`
    if (!this.memory.has(asq, asqEntries * SQE_BYTES)) return `ASQ ${hex(asq)}: no memory there, or not all of it`
    if (!this.memory.has(acq, acqEntries * CQE_BYTES)) return `ACQ ${hex(acq)}: no memory there, or not all of it`
    return undefined
  }

  private adminQueues(): { asqEntries: number; acqEntries: number; asq: number; acq: number } {
    const { ASQS, ACQS } = AQA.decode(this.registers.get32(AQA))
    return {
      asqEntries: countOf(ASQS),
      acqEntries: countOf(ACQS),
      asq: Number(this.registers.get64(ASQ)),
      acq: Number(this.registers.get64(ACQ)),
    }
  }

  private becomeReady(): void {
    const { asqEntries, acqEntries, asq, acq } = this.adminQueues()
    this.pageBytes = memoryPageBytes(CC.MPS.of(this.configuration))
    const cq = new CompletionQueue(0, acqEntries, acq, this.memory.bytes(acq, acqEntries * CQE_BYTES)!)
    this.queues.addCq(cq)
    this.queues.addSq(new SubmissionQueue(0, asqEntries, asq, cq))
    this.setStatus({ RDY: 1 })
    this.pipeline.start()
  }

  /** CC.EN 1 -> 0: a Controller Reset. AQA, ASQ and ACQ stay (Base 2.1 §3.7.2). */
  private reset(): void {
    if (!this.isReady() && CSTS.CFS.of(this.registers.get32(CSTS)) === 0) {
      this.diagnostics.report('host cleared CC.EN before CSTS.RDY became 1')
    }
    this.forget()
    this.registers.set(CC, 0)
    this.setStatus({ SHST: CSTS.SHST.NORMAL })
    this.later(this.profile.resetNs, () => this.setStatus({ RDY: 0, CFS: 0 }))
  }

  /** CC.SHN: what was written becomes permanent, then CSTS.SHST says so (Base 2.1 §3.6.1). */
  private shutDown(): void {
    if (CSTS.SHST.of(this.registers.get32(CSTS)) !== CSTS.SHST.NORMAL) return
    this.setStatus({ SHST: CSTS.SHST.OCCURRING })
    this.later(this.profile.shutdownNs, () => {
      this.pipeline.stop()
      for (const { media } of this.namespaces.active) media.flush()
      this.setStatus({ SHST: CSTS.SHST.COMPLETE })
    })
  }

  private subsystemReset(value: number): void {
    this.registers.set(NSSR, 0)
    if (CAP.decode(this.capabilities).NSSRS === 0 || value !== NSSR.NSSRC.RESET) {
      this.diagnostics.report(`host wrote ${hex(value)} to NSSR: that has no effect`)
    } else {
      this.powerOn()
      this.setStatus({ NSSRO: 1 })
    }
  }

  /** Nothing that the host set up is used any more: no queue, no address, no command. */
  private forget(): void {
    this.generation++
    this.pipeline.reset()
    this.queues.clear()
    this.eventRequests.length = 0
    this.grantedSqs = this.profile.ioQueuePairs
    this.grantedCqs = this.profile.ioQueuePairs
    this.registers.set(INTMS, 0)
  }

  /** A doorbell was written, `offset` bytes into the doorbells (PCIe 1.2 §3.1.2). */
  private ring(offset: number, value: number): void {
    this.counters.doorbellWrites++
    const index = offset / this.doorbellStrideBytes
    const qid = index >> 1
    const isTail = index % 2 === 0
    const queue = isTail ? this.queues.sq(qid) : this.queues.cq(qid)
    let mistake: string | undefined
    if (!Number.isInteger(index)) mistake = `doorbells are ${this.doorbellStrideBytes} bytes apart`
    else if (!this.isReady()) mistake = 'CSTS.RDY is 0'
    else if (queue === undefined) mistake = 'there is no such queue'
    // The value counts from now on; its effects begin when the packet has crossed the link.
    else if (queue instanceof SubmissionQueue) {
      mistake = queue.submit(value)
      this.pipeline.wake(this.link.doorbell(this.clock.now()))
    } else {
      mistake = queue.release(value)
      this.pipeline.drain(queue, this.link.doorbell(this.clock.now()))
    }
    if (mistake === undefined) return
    const doorbell = isTail ? `SQ ${qid} tail` : `CQ ${qid} head`
    this.diagnostics.report(`host rang ${doorbell} ${value}, but ${mistake}`)
  }

  private isReady(): boolean {
    return CSTS.RDY.of(this.registers.get32(CSTS)) === 1
  }

  private setStatus(values: Parameters<typeof CSTS.encode>[0]): void {
    this.registers.set(CSTS, CSTS.encode(values, this.registers.get32(CSTS)))
  }

  /** Does something in `delayNs`, unless a reset comes first. */
  private later(delayNs: number, action: () => void): void {
    const { generation } = this
    this.clock.schedule(this.clock.now() + delayNs, () => {
      if (generation === this.generation) action()
    })
  }
}
