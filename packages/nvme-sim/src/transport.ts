import { DOORBELL_BASE } from '@gpunvme/nvme-spec'
import type { Bar, Clock, DmaAllocator, Transport } from '@gpunvme/nvme-spec/transport'
import type { Controller } from './controller/controller.js'
import type { Device } from './controller/device.js'
import type { DriveProfile } from './profiles/profile.js'

/** The controller's registers as the host's bus shows them. */
class SimulatedBar implements Bar {
  readonly lengthBytes: number
  private readonly controller: Controller

  constructor(controller: Controller, { profile, doorbellStrideBytes }: Device) {
    this.controller = controller
    this.lengthBytes = barBytes(profile, doorbellStrideBytes)
  }

  read32(offset: number): number {
    checkAccess(offset, 4, this.lengthBytes)
    return this.controller.read32(offset)
  }

  write32(offset: number, value: number): void {
    checkAccess(offset, 4, this.lengthBytes)
    this.controller.write32(offset, value)
  }

  read64(offset: number): bigint {
    checkAccess(offset, 8, this.lengthBytes)
    return BigInt(this.controller.read32(offset)) | (BigInt(this.controller.read32(offset + 4)) << 32n)
  }

  write64(offset: number, value: bigint): void {
    checkAccess(offset, 8, this.lengthBytes)
    this.controller.write32(offset, Number(value & 0xffff_ffffn))
    this.controller.write32(offset + 4, Number(value >> 32n))
  }
}

/**
 * Such an access is a mistake in the program that makes it, not in its talk with the controller.
 * @throws RangeError for an offset that is no multiple of the width inside the BAR.
 */
export function checkAccess(offset: number, widthBytes: number, barBytes: number): void {
  if (!Number.isInteger(offset) || offset < 0 || offset % widthBytes !== 0 || offset >= barBytes) {
    throw new RangeError(
      `register access: expected a multiple of ${widthBytes} below 0x${barBytes.toString(16)}, got ${offset}`,
    )
  }
}

/** How far apart doorbells are: CAP.DSTRD in bytes. */
export function doorbellStride({ CAP: { DSTRD = 0 } }: DriveProfile): number {
  return 4 << DSTRD
}

/** How large BAR0 is, with a pair of doorbells for every queue pair; a BAR's size is a power of two. */
export function barBytes({ ioQueuePairs }: DriveProfile, doorbellStrideBytes: number): number {
  const doorbells = 2 * (ioQueuePairs + 1)
  return 2 ** Math.ceil(Math.log2(DOORBELL_BASE + doorbells * doorbellStrideBytes))
}

/** The simulation as the transport that a driver is given. */
export function simulatedTransport(controller: Controller, device: Device, dma: DmaAllocator, clock: Clock): Transport {
  return {
    name: `sim:${device.profile.name}`,
    bar: new SimulatedBar(controller, device),
    dma,
    clock,
    ...(device.namespaces.allocated.some(({ media }) => media.movesData === false) && { movesData: false }),
    can: { gpuRing: false, gpuRead: false, dmaToVram: false },
    reset(): Promise<void> {
      controller.powerOn()
      return Promise.resolve()
    },
    close(): Promise<void> {
      controller.remove()
      for (const { media } of device.namespaces.allocated) media.close()
      return Promise.resolve()
    },
  }
}
