import { CC, CSTS, DOORBELL_BASE, NSSR } from '@gpunvme/nvme-spec'
import type { ArmedPlan, MatchedFaults } from '@gpunvme/nvme-spec/faults'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'
import type { Agenda } from './agenda.js'

/** State of the device behind a transport, as changed by a fault plan and visible to a host. */
export class FaultyDevice {
  /** The device has left the bus: it neither responds nor receives anything. */
  isGone = false
  /** Surprise resets in progress; each settles without rejecting. */
  readonly resets: Promise<void>[] = []
  /** Errors of these resets. */
  readonly resetErrors: unknown[] = []
  private readonly inner: Transport
  private readonly plan: ArmedPlan
  private readonly agenda: Agenda
  /** Whether changes of CC.EN must be watched. */
  private readonly affectsEnable: boolean
  private isFatal = false
  /** Value at which CSTS.RDY is stuck; undefined if it is not. */
  private stuckReady: 0 | 1 | undefined
  /** Time until which writes are delayed: posted writes do not pass each other. */
  private stalledUntilNs = 0
  /** The device was reset, but the host cannot know yet: until then, its doorbell writes are not host errors. */
  private isResetUnseen = false
  /** Incremented by every reset: writes delayed before it never arrive. */
  private boots = 0

  constructor(inner: Transport, { rules }: FaultPlan, plan: ArmedPlan, agenda: Agenda) {
    this.inner = inner
    this.plan = plan
    this.agenda = agenda
    this.affectsEnable = rules.some(({ action: { kind } }) => kind.startsWith('ready-never'))
    for (const { atNs, matched } of plan.timed()) agenda.add(atNs, () => this.applyFaults(matched))
  }

  /** Returns what the host sees of a dword that was read at `offset`. */
  seen(offset: number, value: number): number {
    if (offset !== CSTS.offset) return value
    this.isResetUnseen = false
    const { RDY, CFS } = CSTS
    const ready = this.stuckReady === undefined ? value : (value & ~(1 << RDY.lsb)) | (this.stuckReady << RDY.lsb)
    return (this.isFatal ? ready | (1 << CFS.lsb) : ready) >>> 0
  }

  /** Delivers a write `delayNs` after the host made it. */
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

  /** Returns whether a write that arrives now takes effect, and updates the faults of CSTS. */
  takes(offset: number, value: number): boolean {
    if (offset === CC.offset) return this.takesConfiguration(value)
    if (offset === NSSR.offset && value === NSSR.NSSRC.RESET) this.reset()
    // A failed controller fetches no commands, but its registers still respond.
    return (!this.isFatal && !this.isResetUnseen) || offset < DOORBELL_BASE
  }

  /** Applies a fault to the device itself. */
  applyFaults(matched: MatchedFaults): void {
    if (this.isGone) return
    for (const kind of ['fatal-status', 'surprise-reset', 'remove-device'] as const) this.plan.record(matched, kind)
    if (matched.has('fatal-status')) this.isFatal = true
    if (matched.has('surprise-reset')) this.surprise()
    if (matched.has('remove-device')) this.remove()
  }

  /** Resets the function or the subsystem, which ends all faults of the controller except removal. */
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
    // Enabling before CSTS.RDY is 0 has no effect (Base 2.1 §3.5.1).
    if (isOn && this.stuckReady === 1) return false
    if (!isOn) this.isFatal = false
    if (!this.affectsEnable) return true
    const wasOn = CC.EN.of(this.inner.bar.read32(CC.offset)) === 1
    if (isOn && !wasOn && this.plan.matchEnable('ready-never-rises')) this.stuckReady = 0
    if (!isOn && wasOn) this.stuckReady = this.plan.matchEnable('ready-never-falls') ? 1 : undefined
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
   * Removes the device. The real one is still there, and a host may free memory that a removed device cannot access.
   * Its bus mastering is therefore disabled or, if that is not possible, the controller.
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
