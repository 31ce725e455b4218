import type { Bar } from '@gpunvme/nvme-spec/transport'
import type { Controller } from '../controller/controller.js'
import { flag, number, optional, record, type Field } from '../options.js'
import type { PciFunction } from './function.js'

/** Peer-to-peer accesses that the host's root complex forwards. */
export interface RootComplexOptions {
  /** Whether a peer's memory writes reach the controller, so that a GPU can ring doorbells. Default: true. */
  readonly peerWrites?: boolean
  /** Whether a peer's memory reads are answered. Default: false. */
  readonly peerReads?: boolean
  /**
   * Number of unanswered reads that the link survives: the next one takes the device off the bus until the bus is
   * reset. Default: 2, a guess. On AMD's Matisse (RTX 3090, B450) one read returned all ones after a completion timeout
   * at the reader, and repeated reads dropped the drive.
   */
  readonly survivableReads?: number
}

/** 'posted-only' models a client platform, as the default does; 'full' also forwards reads, as a PCIe switch does. */
export type RootComplex = 'posted-only' | 'full' | RootComplexOptions

const presets: readonly unknown[] = ['posted-only', 'full']
const options = record<RootComplexOptions>({
  peerWrites: optional(flag),
  peerReads: optional(flag),
  survivableReads: optional(number((reads) => reads >= 0, '0 or more')),
})

/** The option `rootComplex` of `simulate`. */
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
  return { peerWrites: true, peerReads: false, survivableReads: 2, ...given }
}

/**
 * The controller's BAR0 as accessed by another device through the root complex. Accesses take no virtual time: they are
 * synchronous, as in every `Bar`, and a reader must wait for its completion timeout by itself.
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
    if (this.unanswered <= this.options.survivableReads) return
    this.unanswered = 0
    this.controller.dropLink()
  }
}
