import type { Bar } from '@gpunvme/nvme-spec/transport'
import type { Controller } from '../controller/controller.js'
import { flag, number, optional, record, type Field } from '../options.js'
import type { PciFunction } from './function.js'

/** What the host's root complex lets through between two devices below it. */
export interface RootComplexOptions {
  /** Memory writes of a peer reach the controller: doorbells can be rung by a GPU. True when not given. */
  readonly peerWrites?: boolean
  /** Memory reads of a peer are answered. False when not given. */
  readonly peerReads?: boolean
  /**
   * How many unanswered reads the link survives: at the next one the device is off the bus, for everybody, until the
   * bus is reset. 2 when not given, which is a guess: what was seen on AMD's Matisse (RTX 3090, B450) is that one read
   * gives all ones with a completion timeout at the reader, and that repeated ones drop the drive.
   */
  readonly readsSurvived?: number
}

/** 'posted-only' is a client platform as the default is; 'full' passes reads as well, as a PCIe switch does. */
export type RootComplex = 'posted-only' | 'full' | RootComplexOptions

const presets: readonly unknown[] = ['posted-only', 'full']
const options = record<RootComplexOptions>({
  peerWrites: optional(flag),
  peerReads: optional(flag),
  readsSurvived: optional(number((reads) => reads >= 0, '0 or more')),
})

/** What `simulate` takes for a root complex. */
export const rootComplexField: Field = {
  expected: "'posted-only', 'full' or an object",
  type: 'string',
  isFit: (value) => presets.includes(value) || options.isFit(value),
  inside: (value: RootComplex, where) => {
    if (typeof value === 'object') options.inside?.(value as never, where)
  },
}

export function rootComplexOptions(rootComplex: RootComplex = {}): Required<RootComplexOptions> {
  const given = rootComplex === 'posted-only' ? {} : rootComplex === 'full' ? { peerReads: true } : rootComplex
  return { peerWrites: true, peerReads: false, readsSurvived: 2, ...given }
}

/**
 * The controller's BAR0 as another device reaches it, through the root complex. An access takes no virtual time: it
 * is synchronous, as every `Bar` is, and a reader that waits for its completion timeout waits on its own.
 */
export class PeerBar implements Bar {
  readonly lengthBytes: number
  private readonly host: Bar
  private readonly controller: Controller
  private readonly pci: PciFunction
  private readonly options: Required<RootComplexOptions>
  private unanswered = 0

  constructor(host: Bar, controller: Controller, pci: PciFunction, options: Required<RootComplexOptions>) {
    this.host = host
    this.lengthBytes = host.lengthBytes
    this.controller = controller
    this.pci = pci
    this.options = options
  }

  read32(offset: number): number {
    if (this.options.peerReads) return this.host.read32(offset)
    this.timeOut()
    return 0xffff_ffff
  }

  read64(offset: number): bigint {
    if (this.options.peerReads) return this.host.read64(offset)
    this.timeOut()
    return 0xffff_ffff_ffff_ffffn
  }

  write32(offset: number, value: number): void {
    if (this.options.peerWrites) this.host.write32(offset, value)
  }

  write64(offset: number, value: bigint): void {
    if (this.options.peerWrites) this.host.write64(offset, value)
  }

  private timeOut(): void {
    if (!this.pci.isOnBus) return
    this.unanswered++
    if (this.unanswered <= this.options.readsSurvived) return
    this.unanswered = 0
    this.controller.dropLink()
  }
}
