import { CC, CSTS, DOORBELL_BASE, NSSR } from '@gpunvme/nvme-spec'
import type { ArmedPlan, Struck } from '@gpunvme/nvme-spec/faults'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'
import type { Agenda } from './agenda.js'

/** What a fault plan has made of the device behind a transport, as far as a host can see it. */
export class FaultyDevice {
  /** It has left the bus: nothing of it answers any more, and nothing reaches it. */
  isGone = false
  /** Resets that nobody asked for and that are under way; each is settled, never rejected. */
  readonly resets: Promise<void>[] = []
  /** What went wrong with them. */
  readonly resetErrors: unknown[] = []
  private readonly inner: Transport
  private readonly plan: ArmedPlan
  private readonly agenda: Agenda
  /** Whether changes of CC.EN have to be looked at. */
  private readonly strikesEnable: boolean
  private isFatal = false
  /** What CSTS.RDY is stuck at; undefined for as it is. */
  private stuckReady: 0 | 1 | undefined
  /** Writes are late until then: posted writes do not pass each other. */
  private stalledUntilNs = 0
  /** It was reset, and the host cannot know yet: until it does, its doorbells are no mistake of its own. */
  private isResetUnseen = false
  /** Raised by every reset: writes that were late then never arrive. */
  private boots = 0

  constructor(inner: Transport, { rules }: FaultPlan, plan: ArmedPlan, agenda: Agenda) {
    this.inner = inner
    this.plan = plan
    this.agenda = agenda
    this.strikesEnable = rules.some(({ action: { kind } }) => kind.startsWith('ready-never'))
    for (const { atNs, struck } of plan.timed()) agenda.add(atNs, () => this.suffer(struck))
  }

  /** What the host sees of a dword that was read at `offset`. */
  seen(offset: number, value: number): number {
    if (offset !== CSTS.offset) return value
    this.isResetUnseen = false
    const { RDY, CFS } = CSTS
    const ready = this.stuckReady === undefined ? value : (value & ~(1 << RDY.lsb)) | (this.stuckReady << RDY.lsb)
    return (this.isFatal ? ready | (1 << CFS.lsb) : ready) >>> 0
  }

  /** A write is on its way, `delayNs` later than the host has made it. */
  post(delayNs: number, write: () => void): void {
    const nowNs = this.inner.clock.now()
    if (delayNs > 0) this.stalledUntilNs = Math.max(this.stalledUntilNs, nowNs) + delayNs
    if (this.stalledUntilNs <= nowNs) {
      write()
      return
    }
    const { boots } = this
    this.agenda.add(this.stalledUntilNs, () => {
      if (boots === this.boots && !this.isGone) write()
    })
  }

  /** Whether a write that arrives now has its effect; what follows for CSTS from one that has is noted. */
  takes(offset: number, value: number): boolean {
    if (offset === CC.offset) return this.takesConfiguration(value)
    if (offset === NSSR.offset && value === NSSR.NSSRC.RESET) this.reset()
    // A controller that has failed fetches nothing more; it is its registers that still answer.
    return (!this.isFatal && !this.isResetUnseen) || offset < DOORBELL_BASE
  }

  /** Does what a fault does to the device itself. */
  suffer(struck: Struck): void {
    if (this.isGone) return
    for (const kind of ['fatal-status', 'surprise-reset', 'remove-device'] as const) this.plan.happened(struck, kind)
    if (struck.has('fatal-status')) this.isFatal = true
    if (struck.has('surprise-reset')) this.surprise()
    if (struck.has('remove-device')) this.remove()
  }

  /** The function or the subsystem is reset: what faults have made of the controller is over, but for its absence. */
  reset(): void {
    this.boots++
    this.stalledUntilNs = 0
    this.isFatal = false
    this.stuckReady = undefined
    this.isResetUnseen = false
  }

  private takesConfiguration(value: number): boolean {
    const isOn = CC.EN.of(value) === 1
    this.isResetUnseen = false
    // What is enabled before CSTS.RDY became 0 stays disabled (Base 2.1 §3.5.1).
    if (isOn && this.stuckReady === 1) return false
    if (!isOn) this.isFatal = false
    if (!this.strikesEnable) return true
    const wasOn = CC.EN.of(this.inner.bar.read32(CC.offset)) === 1
    if (isOn && !wasOn && this.plan.strikeEnable('ready-never-rises')) this.stuckReady = 0
    if (!isOn && wasOn) this.stuckReady = this.plan.strikeEnable('ready-never-falls') ? 1 : undefined
    return true
  }

  private surprise(): void {
    this.reset()
    this.isResetUnseen = true
    this.resets.push(
      this.inner.reset!('function').catch((error: unknown) => {
        this.resetErrors.push(error)
      }),
    )
  }

  /**
   * What has left the bus writes to no memory any more. The device behind is still there, and a host may give back
   * memory that a device which is gone cannot reach: so its bus mastering ends, or, where there is no way to that, all
   * that the controller does.
   */
  private remove(): void {
    this.isGone = true
    const { bar, config } = this.inner
    if (config === undefined) {
      bar.write32(CC.offset, bar.read32(CC.offset) & ~(1 << CC.EN.lsb))
      return
    }
    const { CMD } = PciHeader
    config.write(CMD.offset, 2, config.read(CMD.offset, 2) & ~(1 << CMD.BME.lsb))
  }
}
