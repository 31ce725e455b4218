import { ACQ, AQA, ASQ, CC, CSTS, DOORBELL_BASE, INTMC, INTMS, NSSR } from '@gpunvme/nvme-spec'
import type { MatchedFaults } from '@gpunvme/nvme-spec/faults'
import { changeNamespaces } from '../faults/namespace-faults.js'
import { postUnsolicited } from '../faults/unsolicited.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { ringDoorbell } from './doorbells.js'
import { Pipeline } from './pipeline.js'
import { ControllerState } from './state.js'

const ALL_ONES = 0xffff_ffff

/**
 * The controller as seen from the bus: register accesses, and the effects of resets, power and faults on the whole
 * controller. Its state implements CC and CSTS, its pipeline executes commands.
 */
export class Controller {
  private readonly device: Device
  private readonly pipeline: Pipeline
  private readonly state: ControllerState
  /** Number of power-ons: a delayed write reaches only the controller that it was sent to. */
  private boots = 0
  private stalledUntilNs = 0
  /** A fault or a power cycle has reset the controller, and the host cannot know it yet. */
  private isResetUnseen = false
  private isRemoved = false
  private wasAwake = true

  constructor(device: Device) {
    this.device = device
    this.pipeline = new Pipeline(device, {
      fail: (reason) => this.state.fail(reason),
      applyFaults: (matched) => this.applyFaults(matched),
    })
    this.state = new ControllerState(device, this.pipeline)
    const { pci } = device
    pci.connect({
      // With vfio the kernel restores configuration space after the reset.
      reset: () => (pci.isVirtual ? this.resetByHost('function') : this.resetFunction()),
      changed: () => this.followConfiguration(),
    })
    this.powerOn()
    device.faults.schedule((matched) => this.applyFaults(matched))
  }

  /** The host reads a register. */
  read32(offset: number): number {
    const { faults, pci } = this.device
    const matched = faults.affectsAccesses && pci.isOnBus ? this.matchFaults('read', offset) : undefined
    if (!pci.answers) {
      pci.reject(`read offset ${hex(offset)}`)
      return ALL_ONES
    }
    if (offset < DOORBELL_BASE) {
      if (offset === CSTS.offset) this.isResetUnseen = false
      else this.checkMaskAccess(offset, 'read')
      const stored = this.device.registers.read(offset)
      const value = matched?.get('read-value')?.value ?? stored
      this.device.trace.registerRead(offset, value)
      return value
    }
    const { tableOffset, pendingOffset } = pci.bar
    if (offset >= pendingOffset && offset < pendingOffset + pci.msix.pendingBytes)
      return pci.msix.readPending(offset - pendingOffset)
    if (offset >= tableOffset && offset < tableOffset + pci.msix.tableBytes)
      return pci.msix.readTable(offset - tableOffset)
    const problem = offset < tableOffset ? 'reads of doorbells are undefined' : 'nothing is mapped there'
    this.device.diagnostics.report('register-access', `host read offset ${hex(offset)}: ${problem}`)
    return 0
  }

  /** The host writes a register. The effects occur when the clock advances. */
  write32(offset: number, value: number): void {
    const { pci, faults } = this.device
    if (!pci.answers) pci.reject(`wrote ${hex(value >>> 0)} to offset ${hex(offset)}`)
    else if (!faults.affectsAccesses || this.arrives(offset, value)) this.take(offset, value)
  }

  /** Applies faults of the plan to the controller itself. There is no diagnostic, since the host did nothing wrong. */
  applyFaults(matched: MatchedFaults): void {
    const { faults, drive, clock, pci } = this.device
    if (!pci.isOnBus) return
    for (const kind of ['throttle', 'fatal-status', 'surprise-reset', 'remove-device'] as const) {
      if (matched.has(kind)) faults.record(matched, kind)
    }
    const throttle = matched.get('throttle')
    if (throttle) drive.throttle(throttle.factor, clock.now() + throttle.forNs)
    changeNamespaces(matched, this.device, this.pipeline)
    postUnsolicited(matched, this.device, this.pipeline)
    if (matched.has('fatal-status')) this.state.setFatal()
    if (matched.has('surprise-reset')) {
      this.powerOn()
      this.isResetUnseen = true
    }
    if (matched.has('remove-device')) this.remove()
  }

  /** The device leaves the bus: all further reads return all ones. */
  remove(): void {
    this.noteLossOfPower()
    this.isRemoved = true
    this.dropLink()
  }

  /** The link goes down, and all settings of the host are lost; a bus reset brings it up again. */
  dropLink(): void {
    this.powerOn()
    this.device.pci.setOnBus(false)
  }

  /** Function Level Reset by the device itself: configuration space is reset too (PCIe 1.2 §3.3.1). */
  resetFunction(): void {
    this.powerOn()
    this.device.pci.reset()
  }

  /**
   * Reset of the bus or the function by a host that saves and restores configuration space. A link that was down comes
   * up; a removed device stays absent.
   */
  resetByHost(kind: 'function' | 'bus'): void {
    const { pci } = this.device
    if (this.isRemoved || (kind === 'function' && !pci.isOnBus)) return
    if (pci.isOnBus) {
      const saved = pci.save()
      this.resetFunction()
      pci.restore(saved)
    } else {
      pci.setOnBus(true)
      this.powerOn()
      pci.bootFirmware()
    }
  }

  /** Power cycle: counted as unexpected if there was no shutdown (Base 2.3 §5.2.12.1.3); the link comes up anew. */
  powerCycle(): void {
    if (this.isRemoved) return
    this.noteLossOfPower()
    this.comeUp()
    this.isResetUnseen = true
  }

  /**
   * Moves the device to another machine, which powers it on. If the previous host had disabled the controller, the
   * power loss is not counted as unexpected.
   */
  moveToNextHost(): void {
    if (CC.EN.of(this.device.configuration) === 1) this.noteLossOfPower()
    this.isRemoved = false
    this.comeUp()
  }

  /** I/O commands that were fetched and have not completed. */
  get ioQueueDepth(): number {
    return this.pipeline.countIo()
  }

  /** Resets everything except configuration space to the power-on state. */
  powerOn(): void {
    this.boots++
    this.stalledUntilNs = 0
    this.isResetUnseen = false
    this.state.powerOn()
  }

  /** A write has reached the controller. */
  private take(offset: number, value: number): void {
    const { pci } = this.device
    const { tableOffset } = pci.bar
    if (offset >= tableOffset) this.writeTable(offset - tableOffset, value)
    else if (offset >= DOORBELL_BASE) {
      // A doorbell write before the host can detect the reset is dropped without a diagnostic.
      if (!this.isResetUnseen) ringDoorbell(offset - DOORBELL_BASE, value, this.device, this.pipeline)
    } else {
      this.device.trace.registerWrite(offset, value)
      this.writeProperty(offset, value)
    }
  }

  /** Looks up the faults of an access, and applies those that affect the controller. */
  private matchFaults(access: 'read' | 'write', offset: number): MatchedFaults | undefined {
    const { faults, doorbellStrideBytes } = this.device
    const matched = faults.matchAccess(access, offset, doorbellStrideBytes)
    if (matched === undefined) return undefined
    faults.record(matched, 'read-value')
    this.applyFaults(matched)
    return matched
  }

  /** Whether a write arrives now. A write that a fault delays arrives later, after those before it. */
  private arrives(offset: number, value: number): boolean {
    const { faults, clock } = this.device
    const matched = this.matchFaults('write', offset)
    if (!this.device.pci.answers) return false
    if (matched?.has('lose-write')) {
      faults.record(matched, 'lose-write')
      return false
    }
    const delay = matched?.get('delay-write')
    if (delay) {
      faults.record(matched!, 'delay-write')
      this.stalledUntilNs = Math.max(this.stalledUntilNs, clock.now()) + delay.delayNs
    }
    if (this.stalledUntilNs <= clock.now()) return true
    const { boots } = this
    clock.schedule(this.stalledUntilNs, () => {
      if (boots === this.boots && this.device.pci.answers) this.take(offset, value)
    })
    return false
  }

  private writeProperty(offset: number, value: number): void {
    const { registers, diagnostics } = this.device
    const before = this.device.configuration
    const register = registers.write(offset, value)
    if (register === undefined) return
    const { name } = register
    if (name === CC.name) {
      this.isResetUnseen = false
      this.state.configure(before)
    } else if (name === INTMS.name || name === INTMC.name) this.changeMask(offset)
    else if (name === CSTS.name) this.state.noteStatusWrite()
    else if (name === NSSR.name) this.resetSubsystem(value >>> 0)
    else if ([AQA.name, ASQ.name, ACQ.name].includes(name) && CC.EN.of(before) === 1) {
      diagnostics.report('ignored-setting', `host wrote ${name} while CC.EN = 1: the Admin queues do not change`)
    }
  }

  private resetSubsystem(value: number): void {
    if (!this.state.beginSubsystemReset(value)) return
    this.powerOn()
    // The links go down and come up again (PCIe 1.2 §3.3.2); the platform initializes configuration space as at boot.
    this.device.pci.bootFirmware()
  }

  /** Writes to the MSI-X Table; the Pending Bit Array after it is read-only. */
  private writeTable(offset: number, value: number): void {
    const { pci, interrupts, diagnostics } = this.device
    if (offset < pci.msix.tableBytes) {
      pci.msix.writeTable(offset, value)
      interrupts.refresh()
      return
    }
    const at = hex(pci.bar.tableOffset + offset)
    const isPending = offset >= pci.bar.pendingOffset - pci.bar.tableOffset
    const problem = isPending ? 'the MSI-X Pending Bit Array is read-only' : 'nothing is mapped there'
    diagnostics.report('register-access', `host wrote ${hex(value >>> 0)} to offset ${at}: ${problem}`)
  }

  /** INTMS or INTMC was written. */
  private changeMask(offset: number): void {
    this.checkMaskAccess(offset, 'write')
    this.device.interrupts.refresh()
  }

  /** INTMS and INTMC must not be accessed while MSI-X is in use (Base 2.1 §3.1.4.3). */
  private checkMaskAccess(offset: number, verb: string): void {
    if (offset !== INTMS.offset && offset !== INTMC.offset) return
    const { pci, diagnostics } = this.device
    if (!pci.isMessageSignaled) return
    const name = offset === INTMS.offset ? INTMS.name : INTMC.name
    diagnostics.report(
      'interrupt',
      `host ${verb === 'read' ? 'read' : 'wrote'} ${name} while MSI-X is enabled: use the masks in the MSI-X table`,
    )
  }

  /** Configuration space has changed: interrupts and DMA may have become possible or impossible. */
  private followConfiguration(): void {
    const { pci, interrupts, registers, diagnostics } = this.device
    if (this.wasAwake && !pci.isAwake && this.device.isReady()) {
      const { SHST } = CSTS.decode(registers.get32(CSTS))
      if (SHST !== CSTS.SHST.COMPLETE) {
        diagnostics.report(
          'power-state',
          'host put the function into D3hot before CSTS.SHST was 10b: shut the controller down first',
        )
      }
    }
    this.wasAwake = pci.isAwake
    interrupts.refresh()
    if (pci.isBusMaster) this.pipeline.resume()
  }

  private comeUp(): void {
    const { pci, health } = this.device
    health.powerCycles++
    this.state.forgetSubsystemReset()
    pci.setOnBus(true)
    this.powerOn()
    pci.bootFirmware()
  }

  private noteLossOfPower(): void {
    const { health, registers, pci } = this.device
    const isSafe = CSTS.SHST.of(registers.get32(CSTS)) === CSTS.SHST.COMPLETE
    if (pci.isOnBus && !isSafe) health.unexpectedPowerLosses++
  }
}
