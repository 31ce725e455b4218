import { ACQ, AQA, ASQ, CAP, CC, CRTO, CSTS, INTMS, memoryPageBytes, NSSR, VS } from '@gpunvme/nvme-spec'
import { flush } from '../features/flush.js'
import { keepFixedFields, keepReservedFields } from './configuration.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { adminQueuesOf, createAdminQueues, validateEnable, type AdminQueues } from './enable.js'
import type { Pipeline } from './pipeline.js'

/** CC and CSTS: enabling, reset and shutdown of the controller, and the state they clear. */
export class ControllerState {
  private readonly device: Device
  private readonly pipeline: Pipeline
  /** Incremented by every reset: events scheduled before it have no effect. */
  private generation = 0
  /** Set from an NVM Subsystem Reset until the host clears CSTS.NSSRO. */
  private hasResetSubsystem = false

  constructor(device: Device, pipeline: Pipeline) {
    this.device = device
    this.pipeline = pipeline
  }

  /** Fatal error: sets CSTS.CFS, after which only a reset helps (Base 2.1 §3.1.4.6). */
  fail(reason: string): void {
    if (this.hasFailed()) return
    this.device.diagnostics.report('controller-fatal', `controller failed, CSTS.CFS = 1: ${reason}`)
    this.setFatal()
  }

  /** Sets CSTS.CFS and stops all activity. */
  setFatal(): void {
    this.pipeline.reset()
    this.setStatus({ CFS: 1 })
  }

  /** Resets everything except configuration space to the power-on state. */
  powerOn(): void {
    this.forget()
    const { registers, capabilities, profile } = this.device
    for (const register of [CC, NSSR, AQA, ASQ, ACQ]) registers.set(register, 0)
    // NSSRO refers to the last subsystem reset, whatever happened since (Base 2.1 §3.1.4.6).
    registers.set(CSTS, CSTS.encode({ NSSRO: this.hasResetSubsystem ? 1 : 0 }))
    const { CRWMS, TO } = CAP.decode(capabilities)
    registers.set(CAP, capabilities)
    registers.set(VS, profile.VS)
    registers.set(CRTO, CRWMS === 1 ? CRTO.encode({ CRWMT: TO }) : 0)
  }

  /** Power was cycled: NSSRO no longer applies. */
  forgetSubsystemReset(): void {
    this.hasResetSubsystem = false
  }

  /** CSTS was written: NSSRO may have been cleared. */
  noteStatusWrite(): void {
    this.hasResetSubsystem = CSTS.NSSRO.of(this.device.registers.get32(CSTS)) === 1
  }

  /** CC was written. */
  configure(before: number): void {
    const wasOn = CC.EN.of(before) === 1
    if (wasOn) keepFixedFields(this.device, before)
    keepReservedFields(this.device, before)
    const after = this.device.configuration
    const isOn = CC.EN.of(after) === 1
    if (!wasOn && isOn) this.enable()
    if (wasOn && !isOn) this.reset()
    // Only a change of SHN is a notification: writing the same bits again is not.
    if (CC.SHN.of(after) !== CC.SHN.NONE && CC.SHN.of(after) !== CC.SHN.of(before)) this.shutDown()
  }

  /**
   * NSSR was written. Returns true if that resets the NVM subsystem: the controller then returns to its power-on state.
   */
  beginSubsystemReset(value: number): boolean {
    const { registers, capabilities, diagnostics } = this.device
    registers.set(NSSR, 0)
    if (CAP.NSSRS.of(capabilities) === 0 || value !== NSSR.NSSRC.RESET) {
      diagnostics.report('ignored-setting', `host wrote ${hex(value)} to NSSR: that has no effect`)
      return false
    }
    this.hasResetSubsystem = true
    return true
  }

  /** CC.EN 0 -> 1: takes the Admin queues from the registers; CSTS.RDY follows (Base 2.1 §3.5.1). */
  private enable(): void {
    const { device } = this
    if (device.isReady()) {
      device.diagnostics.report('enable-order', 'host set CC.EN before CSTS.RDY became 0: that has no effect')
      device.registers.set(CC, (device.configuration & ~1) >>> 0)
      return
    }
    const { SHST } = CSTS.decode(device.registers.get32(CSTS))
    if (SHST !== CSTS.SHST.NORMAL && CC.SHN.of(device.configuration) !== CC.SHN.NONE) {
      // CC.SHN must be 00b in the same write (Base 2.1 §3.6.1).
      device.diagnostics.report(
        'enable-order',
        'host set CC.EN after a shutdown and left CC.SHN set: CSTS.RDY never becomes 1',
      )
      return
    }
    // A completed shutdown ends here.
    this.setStatus({ SHST: CSTS.SHST.NORMAL })
    // The registers are read now; later writes before CSTS.RDY is 1 have no effect.
    const admin = adminQueuesOf(device)
    if (device.faults.matchEnable('ready-never-rises')) return
    this.later(device.profile.enableNs, () => {
      const mistake = validateEnable(device, admin)
      if (mistake === undefined) this.becomeReady(admin)
      else this.fail(mistake)
    })
  }

  private becomeReady(admin: AdminQueues): void {
    this.device.pageBytes = memoryPageBytes(CC.MPS.of(this.device.configuration))
    createAdminQueues(this.device, admin)
    this.setStatus({ RDY: 1 })
    this.pipeline.start()
  }

  /** CC.EN 1 -> 0: a Controller Reset. AQA, ASQ and ACQ stay (Base 2.1 §3.7.2). */
  private reset(): void {
    const { device } = this
    if (!device.isReady() && !this.hasFailed()) {
      device.diagnostics.report('enable-order', 'host cleared CC.EN before CSTS.RDY became 1')
    }
    this.forget()
    device.registers.set(CC, 0)
    // CSTS.CFS is cleared at once: if RDY never became 1, it is the only visible sign of a reset.
    this.setStatus({ SHST: CSTS.SHST.NORMAL, CFS: 0 })
    if (device.faults.matchEnable('ready-never-falls')) return
    this.later(device.profile.resetNs, () => this.setStatus({ RDY: 0 }))
  }

  /** CC.SHN: written data become permanent, then CSTS.SHST reports completion (Base 2.1 §3.6.1). */
  private shutDown(): void {
    const { registers, profile, namespaces } = this.device
    if (CSTS.SHST.of(registers.get32(CSTS)) !== CSTS.SHST.NORMAL) return
    this.setStatus({ SHST: CSTS.SHST.OCCURRING })
    this.later(profile.shutdownNs, () => {
      this.pipeline.conclude()
      // Media that cannot be flushed are reported, and the shutdown completes nevertheless.
      for (const namespace of namespaces.allocated) flush(namespace, this.device)
      this.setStatus({ SHST: CSTS.SHST.COMPLETE })
    })
  }

  /** Drops all queues, addresses and commands of the host, and unmasks all interrupts. */
  private forget(): void {
    this.generation++
    this.pipeline.reset()
    this.device.forget()
    this.device.registers.set(INTMS, 0)
  }

  private hasFailed(): boolean {
    return CSTS.CFS.of(this.device.registers.get32(CSTS)) === 1
  }

  private setStatus(values: Parameters<typeof CSTS.encode>[0]): void {
    const { registers } = this.device
    registers.set(CSTS, CSTS.encode(values, registers.get32(CSTS)))
  }

  /** Runs an action after `delayNs`, unless a reset comes first. */
  private later(delayNs: number, action: () => void): void {
    const { generation } = this
    const { clock } = this.device
    clock.schedule(clock.now() + delayNs, () => {
      if (generation === this.generation) action()
    })
  }
}
