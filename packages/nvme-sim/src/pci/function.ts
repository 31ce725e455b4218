import { CAP, DOORBELL_BASE } from '@gpunvme/nvme-spec'
import {
  AdvancedErrorReporting,
  MsixCapability,
  PciExpressCapability,
  PciHeader,
  PowerManagementCapability,
} from '@gpunvme/nvme-spec/pci'
import type { Diagnostics } from '../controller/diagnostics.js'
import type { DriveProfile } from '../profiles/profile.js'
import type { ConfigBytes } from './config-bytes.js'
import { AER, configurationSpace, deviceControl, MSI_X, PM, PX, type BarPlan } from './layout.js'
import { MsixTable } from './msix.js'

/** Where firmware places the end of BAR0, before alignment to its size: the top of 32 bits, as on a PC. */
const BAR0_ADDRESS = 0xfb00_0000

/** Address in the table for vectors of a virtualized function: not memory; the virtualizer signals interrupts. */
const VIRTUAL_MESSAGE_ADDRESS = 0xfee0_0000

const { PS } = PowerManagementCapability.PMCS
const { MSE, BME, ID } = PciHeader.CMD
const { FM, MXE } = MsixCapability.MXC

/** Callbacks of configuration space to the controller. */
export interface PciEvents {
  /** Function Level Reset: the controller returns to its power-on state. */
  reset(): void
  /** Settings that interrupts or DMA depend on have changed. */
  changed(): void
}

/** State of a function that a host saves before a reset. */
export interface SavedFunction {
  readonly config: Uint8Array
  readonly table: Uint32Array
}

/**
 * The PCI function of the controller: its configuration space, its MSI-X table, and derived state. The state is in
 * plain fields, since every access and every command reads it.
 */
export class PciFunction {
  readonly config: ConfigBytes
  readonly msix: MsixTable
  readonly bar: BarPlan
  /** D0 rather than D3hot. */
  isAwake = true
  /** The function may access host memory: awake, on the bus, CMD.BME set. */
  isBusMaster = true
  /** Accesses through BAR0 reach the registers: awake, on the bus, CMD.MSE set, BAR0 at its assigned address. */
  answers = true
  isPinDisabled = false
  isMessageSignaled = false
  isFunctionMasked = false
  /** The host has written MSI-X Message Control: it manages its interrupts itself, and waits do not enable them. */
  hostManagesMessages = false
  /** The function is virtualized, as by vfio: a third party forwards accesses to BAR0 and signals interrupts. */
  isVirtual = false
  /** False after it was removed, or its link dropped. */
  isOnBus = true
  private readonly profile: DriveProfile
  private readonly diagnostics: Diagnostics
  private events: PciEvents = { reset: () => undefined, changed: () => undefined }
  /** The last reported reason of failing accesses: a host that polls gets one diagnostic, not one per access. */
  private lastReason = ''

  constructor(profile: DriveProfile, diagnostics: Diagnostics) {
    this.profile = profile
    this.diagnostics = diagnostics
    this.bar = planBar(profile)
    this.config = configurationSpace(profile, this.bar)
    this.msix = new MsixTable(this.bar.vectors)
    this.bootFirmware()
  }

  /** Called once, by the controller. */
  connect(events: PciEvents): void {
    this.events = events
  }

  /** MSI-X messages are memory writes, with the same requirements as DMA. */
  get maySignal(): boolean {
    return this.isBusMaster
  }

  /** State left by firmware for the operating system: BAR0 placed, memory and bus mastering on, MSI-X off. */
  bootFirmware(): void {
    const { view } = this.config
    this.config.reset()
    this.msix.reset()
    view.setUint16(PciHeader.CMD.offset, (1 << MSE.lsb) | (1 << BME.lsb), true)
    view.setUint32(PciHeader.BAR.offset, this.barAddress | (view.getUint32(PciHeader.BAR.offset, true) & 0xf), true)
    const control = PX + PciExpressCapability.PXDC.offset
    const { MPS, MRRS } = deviceControl(this.profile)
    const { MPS: mps, MRRS: mrrs } = PciExpressCapability.PXDC
    const kept = view.getUint16(control, true) & ~((7 << mps.lsb) | (7 << mrrs.lsb))
    view.setUint16(control, kept | (MPS << mps.lsb) | (MRRS << mrrs.lsb), true)
    this.update()
  }

  /** Reset of the function by the device: its user must set it up again. */
  reset(): void {
    this.config.reset()
    this.msix.reset()
    this.update()
  }

  save(): SavedFunction {
    return { config: this.config.save(), table: this.msix.save() }
  }

  restore({ config, table }: SavedFunction): void {
    this.config.restore(config)
    // The reset has woken it; restoring must not put it back to sleep.
    this.config.write(PM + PowerManagementCapability.PMCS.offset, 2, 0)
    this.msix.restore(table)
    this.update()
  }

  /** The device was removed, or its link went down or came up again. */
  setOnBus(isOnBus: boolean): void {
    this.isOnBus = isOnBus
    this.update()
  }

  /** The host writes configuration space. */
  writeConfig(offset: number, widthBytes: number, value: number): void {
    const flr = PX + PciExpressCapability.PXDC.offset + 1
    const isReset = offset <= flr && flr < offset + widthBytes && ((value >>> (8 * (flr - offset))) & 0x80) !== 0
    this.config.write(offset, widthBytes, value)
    if (isReset) this.events.reset()
    this.keepPowerState()
    this.update()
  }

  /** Enables MSI-X and all vectors, for a host with a place to send them. */
  enableMessages(address: number): void {
    this.msix.fill(address)
    const control = MSI_X + MsixCapability.MXC.offset
    const kept = this.config.view.getUint16(control, true) & ~(1 << FM.lsb)
    this.config.view.setUint16(control, kept | (1 << MXE.lsb), true)
    this.update()
  }

  /**
   * Virtualizes the function from now on, as with vfio: the virtualizer decides where BAR0 is and whether messages are
   * sent; configuration space no longer does.
   */
  virtualize(): void {
    this.isVirtual = true
    this.hostManagesMessages = true
    this.update()
  }

  /** Turns MSI-X of a virtualized function on or off. Enabled vectors stay enabled. */
  setMessages(isOn: boolean): void {
    const control = MSI_X + MsixCapability.MXC.offset
    const kept = this.config.view.getUint16(control, true) & ~((1 << MXE.lsb) | (1 << FM.lsb))
    this.config.view.setUint16(control, kept | (isOn ? 1 << MXE.lsb : 0), true)
    this.update()
  }

  /** Sets whether a vector of a virtualized function has a target. A pending message is sent now. */
  setVector(vector: number, isOn: boolean): void {
    this.msix.setVector(vector, VIRTUAL_MESSAGE_ADDRESS, isOn)
    this.update()
  }

  /** Reports why an access through BAR0 is not answered: an Unsupported Request, which the function records too. */
  reject(access: string): void {
    if (!this.isOnBus) return
    const { view } = this.config
    const reason = this.rejection()
    const status = PX + PciExpressCapability.PXDS.offset
    view.setUint16(status, view.getUint16(status, true) | (1 << PciExpressCapability.PXDS.URD.lsb), true)
    const errors = AER + AdvancedErrorReporting.AERUCES.offset
    view.setUint32(errors, view.getUint32(errors, true) | (1 << AdvancedErrorReporting.AERUCES.URES.lsb), true)
    if (reason === this.lastReason) return
    this.lastReason = reason
    this.diagnostics.report('unsupported-request', `host ${access}, but ${reason}`)
  }

  private rejection(): string {
    const command = this.command()
    if (!this.isAwake) return 'the function is in D3hot: reads return all ones until PMCS.PS is 0'
    if (MSE.of(command) === 0) return 'Memory Space Enable is 0: reads return all ones until CMD.MSE is 1'
    return `BAR0 was moved away from 0x${this.barAddress.toString(16)}: no device responds there`
  }

  private get barAddress(): number {
    return BAR0_ADDRESS - (BAR0_ADDRESS % this.bar.lengthBytes)
  }

  private command(): number {
    return this.config.view.getUint16(PciHeader.CMD.offset, true)
  }

  /** D1 and D2 are not supported: writing them is ignored. */
  private keepPowerState(): void {
    const at = PM + PowerManagementCapability.PMCS.offset
    const state = PS.of(this.config.view.getUint16(at, true))
    if (state === PS.D0 || state === PS.D3HOT) return
    this.config.write(at, 2, this.isAwake ? PS.D0 : PS.D3HOT)
  }

  private update(): void {
    const { view } = this.config
    const command = this.command()
    const messages = view.getUint16(MSI_X + MsixCapability.MXC.offset, true)
    const low = view.getUint32(PciHeader.BAR.offset, true) & ~0xf
    const high = view.getUint32(PciHeader.BAR.offset + 4, true)
    const isPlaced = this.isVirtual || (low >>> 0 === this.barAddress && high === 0)
    this.isAwake = PS.of(view.getUint16(PM + PowerManagementCapability.PMCS.offset, true)) === PS.D0
    this.isBusMaster = this.isOnBus && this.isAwake && BME.of(command) === 1
    this.answers = this.isOnBus && this.isAwake && MSE.of(command) === 1 && isPlaced
    this.isPinDisabled = ID.of(command) === 1
    this.isMessageSignaled = MXE.of(messages) === 1
    this.isFunctionMasked = FM.of(messages) === 1
    if (this.answers) this.lastReason = ''
    this.events.changed()
  }
}

/** BAR0: registers, doorbells, then the MSI-X structures on their own pages (PCIe 1.2 §3.8.4). */
export function planBar({ CAP: capabilities, ioQueuePairs }: DriveProfile): BarPlan {
  const strideBytes = 2 ** (2 + CAP.decode(CAP.encode(capabilities)).DSTRD)
  // One vector per I/O queue pair, and one for the Admin queue.
  const vectors = ioQueuePairs + 1
  const tableOffset = toPage(DOORBELL_BASE + 2 * (ioQueuePairs + 1) * strideBytes)
  const pendingOffset = toPage(tableOffset + 16 * vectors)
  const endBytes = toPage(pendingOffset + Math.ceil(vectors / 64) * 8)
  // The smallest size that MLBAR can express is 16 KiB (PCIe 1.2 Figure 20).
  return { tableOffset, pendingOffset, vectors, lengthBytes: Math.max(16_384, 2 ** Math.ceil(Math.log2(endBytes))) }
}

function toPage(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096
}
