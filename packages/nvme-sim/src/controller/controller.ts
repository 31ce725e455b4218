import {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  CRTO,
  CSTS,
  DOORBELL_BASE,
  INTMC,
  INTMS,
  memoryPageBytes,
  NSSR,
  VS,
} from '@gpunvme/nvme-spec'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { ringDoorbell } from './doorbells.js'
import { createAdminQueues, enableMistake } from './enable.js'
import { changeNamespaces } from '../faults/namespace-faults.js'
import type { Struck } from '../faults/struck.js'
import { Pipeline } from './pipeline.js'

const ALL_ONES = 0xffff_ffff

/** Fields of CC that may change only while CC.EN is 0 (Base 2.1 §3.1.4.5). */
const FIXED_FIELDS = [CC.CSS, CC.MPS, CC.AMS] as const
const FIXED_BITS = FIXED_FIELDS.reduce((bits, { msb, lsb }) => bits | ((1 << (msb + 1)) - (1 << lsb)), 0)

/** The controller as its registers show it: the CC/CSTS state machine, resets and shutdown. Commands run in its pipeline. */
export class Controller {
  private readonly device: Device
  private readonly pipeline: Pipeline
  /** Raised by every reset: what was scheduled before it does not happen. */
  private generation = 0
  /** How often it was powered on: writes that a fault stalls reach only the controller that they were meant for. */
  private boots = 0
  private stalledUntilNs = 0
  /** A fault has reset it, and the host cannot know yet. */
  private isResetUnseen = false
  private isRemoved = false
  /** Between an NVM Subsystem Reset and the host's clearing of CSTS.NSSRO. */
  private hasResetSubsystem = false
  private wasAwake = true

  constructor(device: Device) {
    this.device = device
    this.pipeline = new Pipeline(device, this)
    device.pci.connect({ reset: () => this.resetFunction(), changed: () => this.followConfiguration() })
    this.powerOn()
    device.faults.schedule((struck) => this.suffer(struck))
  }

  /** The host reads a register. */
  read32(offset: number): number {
    const { faults, pci } = this.device
    const struck = faults.strikesAccesses && pci.isOnBus ? this.strike('read', offset) : undefined
    if (!pci.answers) {
      pci.reject(`read offset ${hex(offset)}`)
      return ALL_ONES
    }
    if (offset < DOORBELL_BASE) {
      if (offset === CSTS.offset) this.isResetUnseen = false
      else this.checkMaskAccess(offset, 'read')
      const stored = this.device.registers.read(offset)
      const value = struck?.get('read-value')?.value ?? stored
      this.device.trace.registerRead(offset, value)
      return value
    }
    const { tableOffset, pendingOffset } = pci.bar
    if (offset >= pendingOffset && offset < pendingOffset + pci.msix.pendingBytes)
      return pci.msix.readPending(offset - pendingOffset)
    if (offset >= tableOffset && offset < tableOffset + pci.msix.tableBytes)
      return pci.msix.readTable(offset - tableOffset)
    const problem = offset < tableOffset ? 'what a doorbell reads as is not defined' : 'nothing is there'
    this.device.diagnostics.report(`host read offset ${hex(offset)}: ${problem}`)
    return 0
  }

  /** The host writes a register. What follows from it happens when the clock moves on. */
  write32(offset: number, value: number): void {
    const { pci, faults } = this.device
    if (!pci.answers) pci.reject(`wrote ${hex(value >>> 0)} to offset ${hex(offset)}`)
    else if (!faults.strikesAccesses || this.arrives(offset, value)) this.take(offset, value)
  }

  /** The controller cannot go on: CSTS.CFS is set, and only a reset helps (Base 2.1 §3.1.4.6). */
  fail(reason: string): void {
    if (this.hasFailed()) return
    this.device.diagnostics.report(`controller failed, CSTS.CFS = 1: ${reason}`)
    this.setFatal()
  }

  /** Does what a fault of the plan does to the controller itself. The host did nothing wrong: there is no diagnostic. */
  suffer(struck: Struck): void {
    const { faults, drive, clock, pci } = this.device
    if (!pci.isOnBus) return
    for (const kind of ['throttle', 'fatal-status', 'surprise-reset', 'remove-device'] as const) {
      if (struck.has(kind)) faults.happened(struck, kind)
    }
    const throttle = struck.get('throttle')
    if (throttle) drive.throttle(throttle.factor, clock.now() + throttle.forNs)
    changeNamespaces(struck, this.device, this.pipeline)
    if (struck.has('fatal-status')) this.setFatal()
    if (struck.has('surprise-reset')) {
      this.powerOn()
      this.isResetUnseen = true
    }
    if (struck.has('remove-device')) this.remove()
  }

  /** The device leaves the bus: every read gives all ones from here on. */
  remove(): void {
    this.noteLossOfPower()
    this.isRemoved = true
    this.dropLink()
  }

  /** The link goes down, and with it everything that the host has set up; a reset of the bus brings it up again. */
  dropLink(): void {
    this.powerOn()
    this.device.pci.setOnBus(false)
  }

  /** Function Level Reset by the device itself: configuration space is reset as well (PCIe 1.2 §3.3.1). */
  resetFunction(): void {
    this.powerOn()
    this.device.pci.reset()
  }

  /**
   * The bus is reset, or the function, by a host that keeps configuration space and writes it back. A link that was
   * down comes up; a device that was pulled out stays away.
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

  /** Power goes, and comes back: what was not shut down is counted (Base 2.3 §5.2.12.1.3), the link is new. */
  powerCycle(): void {
    const { pci, health } = this.device
    if (this.isRemoved) return
    this.noteLossOfPower()
    health.powerCycles++
    this.hasResetSubsystem = false
    pci.setOnBus(true)
    this.powerOn()
    pci.bootFirmware()
  }

  /** Everything as after power on, but for configuration space. */
  powerOn(): void {
    this.forget()
    this.boots++
    this.stalledUntilNs = 0
    this.isResetUnseen = false
    const { registers, capabilities, profile } = this.device
    for (const register of [CC, NSSR, AQA, ASQ, ACQ]) registers.set(register, 0)
    // It tells of the last reset of the subsystem, whatever has happened since (Base 2.1 §3.1.4.6).
    registers.set(CSTS, CSTS.encode({ NSSRO: this.hasResetSubsystem ? 1 : 0 }))
    const { CRWMS, TO } = CAP.decode(capabilities)
    registers.set(CAP, capabilities)
    registers.set(VS, profile.VS)
    registers.set(CRTO, CRWMS === 1 ? CRTO.encode({ CRWMT: TO }) : 0)
  }

  /** A write has reached the controller. */
  private take(offset: number, value: number): void {
    const { pci } = this.device
    const { tableOffset } = pci.bar
    if (offset >= tableOffset) this.writeTable(offset - tableOffset, value)
    else if (offset >= DOORBELL_BASE) {
      // What a host does before it can know that the controller is another one is no mistake of its.
      if (!this.isResetUnseen) ringDoorbell(offset - DOORBELL_BASE, value, this.device, this.pipeline)
    } else {
      this.device.trace.registerWrite(offset, value)
      this.writeProperty(offset, value)
    }
  }

  /** Strikes an access, and does what that does to the controller. */
  private strike(access: 'read' | 'write', offset: number): Struck | undefined {
    const { faults, doorbellStrideBytes } = this.device
    const struck = faults.strikeAccess(access, offset, doorbellStrideBytes)
    if (struck === undefined) return undefined
    faults.happened(struck, 'read-value')
    this.suffer(struck)
    return struck
  }

  /** Whether a fault lets a write arrive now. One that it stalls arrives later, behind those before it. */
  private arrives(offset: number, value: number): boolean {
    const { faults, clock } = this.device
    const struck = this.strike('write', offset)
    if (!this.device.pci.answers) return false
    if (struck?.has('lose-write')) {
      faults.happened(struck, 'lose-write')
      return false
    }
    const delay = struck?.get('delay-write')
    if (delay) {
      faults.happened(struck!, 'delay-write')
      this.stalledUntilNs = Math.max(this.stalledUntilNs, clock.now()) + delay.delayNs
    }
    if (this.stalledUntilNs <= clock.now()) return true
    const { boots } = this
    clock.schedule(this.stalledUntilNs, () => {
      if (boots === this.boots && this.device.pci.answers) this.take(offset, value)
    })
    return false
  }

  private setFatal(): void {
    this.pipeline.reset()
    this.setStatus({ CFS: 1 })
  }

  private writeProperty(offset: number, value: number): void {
    const { registers, diagnostics } = this.device
    const before = this.device.configuration
    const register = registers.write(offset, value)
    if (register === undefined) return
    const { name } = register
    if (name === CC.name) this.configure(before)
    else if (name === INTMS.name || name === INTMC.name) this.changeMask(offset)
    else if (name === CSTS.name) this.hasResetSubsystem = CSTS.NSSRO.of(registers.get32(CSTS)) === 1
    else if (name === NSSR.name) this.resetSubsystem(value >>> 0)
    else if ([AQA.name, ASQ.name, ACQ.name].includes(name) && CC.EN.of(before) === 1) {
      diagnostics.report(`host wrote ${name} while CC.EN = 1: the Admin queues stay where they are`)
    }
  }

  /** CC was written. */
  private configure(before: number): void {
    this.isResetUnseen = false
    const wasOn = CC.EN.of(before) === 1
    if (wasOn) this.keepFixedFields(before)
    this.keepReservedFields(before)
    const after = this.device.configuration
    const isOn = CC.EN.of(after) === 1
    if (!wasOn && isOn) this.enable()
    if (wasOn && !isOn) this.reset()
    // A notification is a change of SHN: bits that are written again as they were announce nothing new.
    if (CC.SHN.of(after) !== CC.SHN.NONE && CC.SHN.of(after) !== CC.SHN.of(before)) this.shutDown()
  }

  /** Bits of CC that mean nothing here, or that this controller does not let anybody write. */
  private keepReservedFields(before: number): void {
    const { registers, diagnostics, queues, capabilities } = this.device
    const { SHN, CRIME, IOSQES, IOCQES } = CC.decode(registers.get32(CC))
    if (CRIME === 1 && (CAP.CRWMS.of(capabilities) & CAP.CRIMS.of(capabilities)) === 0) {
      diagnostics.report('host set CC.CRIME, which is read-only: CAP.CRMS does not offer both ready modes')
      registers.set(CC, CC.encode({ CRIME: 0 }, registers.get32(CC)))
    }
    if (SHN === 3) {
      diagnostics.report('host set CC.SHN to 11b, which is reserved: that has no effect')
      registers.set(CC, CC.encode({ SHN: CC.SHN.NONE }, registers.get32(CC)))
    }
    const hasNewSizes = IOSQES !== CC.IOSQES.of(before) || IOCQES !== CC.IOCQES.of(before)
    if (CC.EN.of(registers.get32(CC)) === 1 && hasNewSizes && queues.hasIoQueues()) {
      diagnostics.report('host changed CC.IOSQES or CC.IOCQES while I/O queues exist: those keep their entry sizes')
    }
  }

  private keepFixedFields(before: number): void {
    const { registers, configuration: after, diagnostics } = this.device
    const changed = FIXED_FIELDS.filter((field) => field.of(before) !== field.of(after)).map(({ name }) => `CC.${name}`)
    if (changed.length === 0) return
    diagnostics.report(`host changed ${changed.join(', ')} while CC.EN = 1: that has no effect`)
    registers.set(CC, ((after & ~FIXED_BITS) | (before & FIXED_BITS)) >>> 0)
  }

  /** CC.EN 0 -> 1: the Admin queues are where the registers say now; CSTS.RDY follows (Base 2.1 §3.5.1). */
  private enable(): void {
    const { device } = this
    if (device.isReady()) {
      device.diagnostics.report('host set CC.EN before CSTS.RDY became 0: that has no effect')
      device.registers.set(CC, (device.configuration & ~1) >>> 0)
      return
    }
    const { SHST } = CSTS.decode(device.registers.get32(CSTS))
    if (SHST !== CSTS.SHST.NORMAL && CC.SHN.of(device.configuration) !== CC.SHN.NONE) {
      // It takes CC.SHN = 00b in the same write (Base 2.1 §3.6.1).
      device.diagnostics.report('host set CC.EN after a shutdown and left CC.SHN set: CSTS.RDY never becomes 1')
      return
    }
    // A shutdown that is complete ends here.
    this.setStatus({ SHST: CSTS.SHST.NORMAL })
    const mistake = enableMistake(device)
    if (device.faults.strikeEnable('ready-never-rises')) return
    this.later(device.profile.enableNs, () => {
      if (mistake === undefined) this.becomeReady()
      else this.fail(mistake)
    })
  }

  private becomeReady(): void {
    this.device.pageBytes = memoryPageBytes(CC.MPS.of(this.device.configuration))
    createAdminQueues(this.device)
    this.setStatus({ RDY: 1 })
    this.pipeline.start()
  }

  /** CC.EN 1 -> 0: a Controller Reset. AQA, ASQ and ACQ stay (Base 2.1 §3.7.2). */
  private reset(): void {
    const { device } = this
    if (!device.isReady() && !this.hasFailed()) {
      device.diagnostics.report('host cleared CC.EN before CSTS.RDY became 1')
    }
    this.forget()
    device.registers.set(CC, 0)
    // CSTS.CFS goes at once: where RDY never became 1 it is all that a host can see of a reset.
    this.setStatus({ SHST: CSTS.SHST.NORMAL, CFS: 0 })
    if (device.faults.strikeEnable('ready-never-falls')) return
    this.later(device.profile.resetNs, () => this.setStatus({ RDY: 0 }))
  }

  /** CC.SHN: what was written becomes permanent, then CSTS.SHST says so (Base 2.1 §3.6.1). */
  private shutDown(): void {
    const { registers, profile, namespaces, diagnostics } = this.device
    if (CSTS.SHST.of(registers.get32(CSTS)) !== CSTS.SHST.NORMAL) return
    this.setStatus({ SHST: CSTS.SHST.OCCURRING })
    this.later(profile.shutdownNs, () => {
      this.pipeline.stop()
      for (const { nsid, media } of namespaces.active) {
        try {
          media.flush()
        } catch (error) {
          // No command is there to report it, and a shutdown ends all the same.
          diagnostics.report(`media of namespace ${nsid}: ${String(error)}`)
        }
      }
      this.setStatus({ SHST: CSTS.SHST.COMPLETE })
    })
  }

  private resetSubsystem(value: number): void {
    const { registers, capabilities, diagnostics } = this.device
    registers.set(NSSR, 0)
    if (CAP.NSSRS.of(capabilities) === 0 || value !== NSSR.NSSRC.RESET) {
      diagnostics.report(`host wrote ${hex(value)} to NSSR: that has no effect`)
      return
    }
    this.hasResetSubsystem = true
    this.powerOn()
    // The links go down and come up again (PCIe 1.2 §3.3.2); the platform sets configuration space up as at boot.
    this.device.pci.bootFirmware()
  }

  /** No queue, no address and no command of the host is used any more, and no interrupt is masked. */
  private forget(): void {
    this.generation++
    this.pipeline.reset()
    this.device.forget()
    this.device.registers.set(INTMS, 0)
  }

  /** The MSI-X Table is written; the Pending Bit Array behind it is read-only. */
  private writeTable(offset: number, value: number): void {
    const { pci, interrupts, diagnostics } = this.device
    if (offset < pci.msix.tableBytes) {
      pci.msix.writeTable(offset, value)
      interrupts.refresh()
      return
    }
    const at = hex(pci.bar.tableOffset + offset)
    const isPending = offset >= pci.bar.pendingOffset - pci.bar.tableOffset
    const problem = isPending ? 'the MSI-X Pending Bit Array is read-only' : 'nothing is there'
    diagnostics.report(`host wrote ${hex(value >>> 0)} to offset ${at}: ${problem}`)
  }

  /** INTMS or INTMC was written. */
  private changeMask(offset: number): void {
    this.checkMaskAccess(offset, 'write')
    this.device.interrupts.refresh()
  }

  /** INTMS and INTMC are not to be touched while MSI-X is in use (Base 2.1 §3.1.4.3). */
  private checkMaskAccess(offset: number, verb: string): void {
    if (offset !== INTMS.offset && offset !== INTMC.offset) return
    const { pci, diagnostics } = this.device
    if (!pci.isMessageSignaled) return
    const name = offset === INTMS.offset ? INTMS.name : INTMC.name
    diagnostics.report(
      `host ${verb === 'read' ? 'read' : 'wrote'} ${name} while MSI-X is enabled: it masks in its table`,
    )
  }

  /** Configuration space has changed: interrupts and DMA may have become possible, or impossible. */
  private followConfiguration(): void {
    const { pci, interrupts, registers, diagnostics } = this.device
    if (this.wasAwake && !pci.isAwake && this.device.isReady()) {
      const { SHST } = CSTS.decode(registers.get32(CSTS))
      if (SHST !== CSTS.SHST.COMPLETE) {
        diagnostics.report('host put the function into D3hot before CSTS.SHST was 10b: shut the controller down first')
      }
    }
    this.wasAwake = pci.isAwake
    interrupts.refresh()
    if (pci.isBusMaster) this.pipeline.resume()
  }

  private noteLossOfPower(): void {
    const { health, registers, pci } = this.device
    const isSafe = CSTS.SHST.of(registers.get32(CSTS)) === CSTS.SHST.COMPLETE
    if (pci.isOnBus && !isSafe) health.unexpectedPowerLosses++
  }

  private hasFailed(): boolean {
    return CSTS.CFS.of(this.device.registers.get32(CSTS)) === 1
  }

  private setStatus(values: Parameters<typeof CSTS.encode>[0]): void {
    const { registers } = this.device
    registers.set(CSTS, CSTS.encode(values, registers.get32(CSTS)))
  }

  /** Does something in `delayNs`, unless a reset comes first. */
  private later(delayNs: number, action: () => void): void {
    const { generation } = this
    const { clock } = this.device
    clock.schedule(clock.now() + delayNs, () => {
      if (generation === this.generation) action()
    })
  }
}
