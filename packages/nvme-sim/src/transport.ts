import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Bar, Clock, Transport } from '@gpunvme/nvme-spec/transport'
import type { Controller } from './controller/controller.js'
import type { Device } from './controller/device.js'
import type { AttachedMemory } from './memory/attached-memory.js'
import { show } from './options.js'
import { HostConfigSpace } from './pci/host-config.js'
import { HostInterrupts } from './pci/host-interrupts.js'
import { PeerBar, rootComplexOptions, type RootComplex } from './pci/root-complex.js'

/** The controller's registers, as accessed over the host's bus. */
class SimulatedBar implements Bar {
  readonly lengthBytes: number
  private readonly controller: Controller
  private readonly device: Device

  constructor(controller: Controller, device: Device) {
    this.controller = controller
    this.device = device
    this.lengthBytes = device.pci.bar.lengthBytes
  }

  read32(offset: number): number {
    checkAccess(offset, 4, this.lengthBytes)
    return this.controller.read32(offset)
  }

  write32(offset: number, value: number): void {
    checkAccess(offset, 4, this.lengthBytes)
    checkWrite32(offset, value)
    this.controller.write32(offset, value)
  }

  read64(offset: number): bigint {
    checkAccess(offset, 8, this.lengthBytes)
    this.isOneRegister('read', offset)
    return BigInt(this.controller.read32(offset)) | (BigInt(this.controller.read32(offset + 4)) << 32n)
  }

  write64(offset: number, value: bigint): void {
    checkAccess(offset, 8, this.lengthBytes)
    checkWrite64(offset, value)
    if (!this.isOneRegister('wrote', offset)) return
    this.controller.write32(offset, Number(value & 0xffff_ffffn))
    this.controller.write32(offset + 4, Number(value >> 32n))
  }

  /** An access to two registers at once is not supported (PCIe 1.2 §3.1.2): such a write is ignored. */
  private isOneRegister(verb: string, offset: number): boolean {
    const { pci, registers, diagnostics } = this.device
    const isWide = offset < DOORBELL_BASE ? registers.isWide(offset) : offset >= pci.bar.tableOffset
    if (isWide || !pci.answers) return true
    const what = offset < DOORBELL_BASE ? 'no 64-bit register is there' : 'a doorbell is 32 bits wide'
    diagnostics.report('register-access', `host ${verb} 64 bits at offset 0x${offset.toString(16)}, but ${what}`)
    return false
  }
}

/**
 * Rejects accesses that are programming errors rather than protocol errors.
 * @throws RangeError if the offset is not a multiple of the width inside the BAR; TypeError if it is not a number.
 */
export function checkAccess(offset: number, widthBytes: number, barBytes: number): void {
  if (!Number.isInteger(offset) || offset < 0 || offset % widthBytes !== 0 || offset >= barBytes) {
    const Wrong = typeof offset === 'number' ? RangeError : TypeError
    const expected = `a multiple of ${widthBytes} below 0x${barBytes.toString(16)}`
    throw new Wrong(`register access: expected ${expected}, got ${show(offset)}`)
  }
}

/** @throws TypeError or RangeError if the value is not an unsigned 32-bit integer: bits would be lost. */
export function checkWrite32(offset: number, value: number): void {
  if (value >>> 0 !== value) refuseValue(offset, value, 'number', 'an integer from 0 to 2^32 - 1')
}

/** @throws TypeError or RangeError if the value is not an unsigned 64-bit bigint. */
export function checkWrite64(offset: number, value: bigint): void {
  if (typeof value === 'bigint' && value >= 0n && value <= 0xffff_ffff_ffff_ffffn) return
  refuseValue(offset, value, 'bigint', 'a bigint from 0n to 2n ** 64n - 1n')
}

function refuseValue(offset: number, value: unknown, type: string, expected: string): never {
  const Wrong = typeof value === type ? RangeError : TypeError
  throw new Wrong(`register write at 0x${offset.toString(16)}: expected ${expected}, got ${show(value)}`)
}

/** @throws TypeError for any other value. */
export function checkResetKind(kind: unknown): asserts kind is 'function' | 'bus' {
  if (kind === 'function' || kind === 'bus') return
  throw new TypeError(`reset: expected 'function' or 'bus', got ${show(kind)}`)
}

/** Delay after a reset of a function or bus before the host accesses the device again, as in Linux. */
const RESET_NS = 100_000_000

export interface SimulatedBus {
  readonly transport: Transport
  /** BAR0 as seen by a peer of the controller. */
  readonly peerBar: Bar
}

/** Returns the transport of a simulation, for a driver, and the view of a peer of the controller. */
export function simulatedTransport(
  controller: Controller,
  device: Device,
  dma: AttachedMemory,
  clock: Clock,
  rootComplex: RootComplex = {},
  dmaToVram = false,
): SimulatedBus {
  const bar = new SimulatedBar(controller, device)
  const options = rootComplexOptions(rootComplex)
  const config = new HostConfigSpace(device)
  const transport: Transport = {
    name: `sim:${device.profile.name}`,
    bar,
    dma,
    clock,
    ...(device.namespaces.allocated.some(({ media }) => media.movesData === false) && { movesData: false }),
    config,
    interrupts: new HostInterrupts(device, clock),
    can: { gpuRing: options.peerWrites, gpuRead: options.peerReads, dmaToVram },
    async reset(kind): Promise<void> {
      checkResetKind(kind)
      controller.resetByHost(kind)
      const readyNs = clock.now() + RESET_NS
      while (clock.now() < readyNs) await clock.idle(readyNs)
    },
    close(): Promise<void> {
      controller.remove()
      dma.close()
      for (const { media } of device.namespaces.allocated) media.close()
      return Promise.resolve()
    },
    isClosed: () => dma.isClosed,
  }
  return { transport, peerBar: new PeerBar(bar, controller, device.pci, options) }
}
