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

/** Where firmware has put BAR0, less what its size aligns away: the upper end of 32 bits, as on a PC. */
const BAR0_ADDRESS = 0xfb00_0000

/** What the table says of vectors of a function that is handed on: no memory is there, whoever hands it on signals. */
const VIRTUAL_MESSAGE_ADDRESS = 0xfee0_0000

const { PS } = PowerManagementCapability.PMCS
const { MSE, BME, ID } = PciHeader.CMD
const { FM, MXE } = MsixCapability.MXC

/** What the controller does when configuration space asks for it. */
export interface PciEvents {
  /** Function Level Reset: the controller as after power on. */
  reset(): void
  /** Something that interrupts or DMA depend on is different now. */
  changed(): void
}

/** What a host keeps of a function before it resets it. */
export interface SavedFunction {
  readonly config: Uint8Array
  readonly table: Uint32Array
}

/**
 * The PCI function that the controller is: its configuration space, its MSI-X table, and what follows from them for
 * everybody else, in plain fields, since they are looked at with every access and every command.
 */
export class PciFunction {
  readonly config: ConfigBytes
  readonly msix: MsixTable
  readonly bar: BarPlan
  /** D0, and not D3hot. */
  isAwake = true
  /** The function may read and write host memory: awake, on the bus, CMD.BME set. */
  isBusMaster = true
  /** Accesses through BAR0 reach the registers: awake, on the bus, CMD.MSE set, BAR0 where the host looks for it. */
  answers = true
  isPinDisabled = false
  isMessageSignaled = false
  isFunctionMasked = false
  /** The host has written MSI-X Message Control: it looks after its interrupts itself, and no wait does it for it. */
  hostManagesMessages = false
  /** The function is handed on, as by vfio: accesses to BAR0 are passed on, and interrupts signalled, by somebody else. */
  isVirtual = false
  /** False once it was pulled out, or its link has dropped. */
  isOnBus = true
  private readonly profile: DriveProfile
  private readonly diagnostics: Diagnostics
  private events: PciEvents = { reset: () => undefined, changed: () => undefined }
  /** Why accesses fail, as it was said last: a host that polls shall not hear it a thousand times. */
  private lastReason = ''

  constructor(profile: DriveProfile, diagnostics: Diagnostics) {
    this.profile = profile
    this.diagnostics = diagnostics
    this.bar = planBar(profile)
    this.config = configurationSpace(profile, this.bar)
    this.msix = new MsixTable(this.bar.vectors)
    this.bootFirmware()
  }

  /** Set once, by the controller. */
  connect(events: PciEvents): void {
    this.events = events
  }

  /** MSI-X messages are memory writes: they need what all DMA needs. */
  get maySignal(): boolean {
    return this.isBusMaster
  }

  /** As firmware leaves it for the operating system: BAR0 placed, memory and bus mastering on, MSI-X off. */
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

  /** A reset of the function as the device does it: whoever used it has to set it up again. */
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
    // A reset has woken it; nobody puts it back to sleep.
    this.config.write(PM + PowerManagementCapability.PMCS.offset, 2, 0)
    this.msix.restore(table)
    this.update()
  }

  /** It was pulled out, or its link went down or came up again. */
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

  /** Turns on MSI-X, and every vector, as a host does that has somewhere to send them. */
  enableMessages(address: number): void {
    this.msix.fill(address)
    const control = MSI_X + MsixCapability.MXC.offset
    const kept = this.config.view.getUint16(control, true) & ~(1 << FM.lsb)
    this.config.view.setUint16(control, kept | (1 << MXE.lsb), true)
    this.update()
  }

  /**
   * From now on the function is handed on, as by vfio: where BAR0 is and whether messages are sent is decided by who hands
   * it on, and what configuration space says of it does not count.
   */
  virtualize(): void {
    this.isVirtual = true
    this.hostManagesMessages = true
    this.update()
  }

  /** Turns MSI-X on or off, of a function that is handed on. Vectors that are on are left so. */
  setMessages(isOn: boolean): void {
    const control = MSI_X + MsixCapability.MXC.offset
    const kept = this.config.view.getUint16(control, true) & ~((1 << MXE.lsb) | (1 << FM.lsb))
    this.config.view.setUint16(control, kept | (isOn ? 1 << MXE.lsb : 0), true)
    this.update()
  }

  /** Whether a vector of a function that is handed on has somewhere to go. What was held back for it goes now. */
  setVector(vector: number, isOn: boolean): void {
    this.msix.setVector(vector, VIRTUAL_MESSAGE_ADDRESS, isOn)
    this.update()
  }

  /** Says why nothing answers to an access through BAR0: an Unsupported Request, which the function notes too. */
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
    this.diagnostics.report(`host ${access}, but ${reason}`)
  }

  private rejection(): string {
    const command = this.command()
    if (!this.isAwake) return 'the function is in D3hot: reads give all ones until PMCS.PS is 0'
    if (MSE.of(command) === 0) return 'Memory Space Enable is 0: reads give all ones until CMD.MSE is 1'
    return `BAR0 was moved away from 0x${this.barAddress.toString(16)}: nothing answers there`
  }

  private get barAddress(): number {
    return BAR0_ADDRESS - (BAR0_ADDRESS % this.bar.lengthBytes)
  }

  private command(): number {
    return this.config.view.getUint16(PciHeader.CMD.offset, true)
  }

  /** D1 and D2 are not supported: a write of them is dropped. */
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

/** BAR0: properties, doorbells, then the MSI-X structures on pages of their own (PCIe 1.2 §3.8.4). */
export function planBar({ CAP: capabilities, ioQueuePairs }: DriveProfile): BarPlan {
  const strideBytes = 2 ** (2 + CAP.decode(CAP.encode(capabilities)).DSTRD)
  // One vector for each I/O queue pair, and the Admin queue's.
  const vectors = ioQueuePairs + 1
  const tableOffset = toPage(DOORBELL_BASE + 2 * (ioQueuePairs + 1) * strideBytes)
  const pendingOffset = toPage(tableOffset + 16 * vectors)
  const endBytes = toPage(pendingOffset + Math.ceil(vectors / 64) * 8)
  // The smallest that MLBAR can say is 16 KiB (PCIe 1.2 Figure 20).
  return { tableOffset, pendingOffset, vectors, lengthBytes: Math.max(16_384, 2 ** Math.ceil(Math.log2(endBytes))) }
}

function toPage(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096
}
