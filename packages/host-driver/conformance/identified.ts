import type { DmaAllocator, Transport } from '@gpunvme/nvme-spec/transport'
import type { Device, DriverContext } from './context.js'
import { hostBytes } from './data.js'
import type { TransportRequest } from './request.js'

const IDENTIFY_BYTES = 4096
/** SN: bytes 4 to 23 of Identify Controller. */
const [SN, SN_END] = [4, 24]

/**
 * Opens a device whose Identify Controller data is changed before the driver reads it. The data is recognized by its
 * serial number, and changed where memory is made visible to the host, so this works on any transport.
 */
export async function deviceIdentifiedAs(
  context: DriverContext,
  change: (data: Uint8Array) => void,
  request?: TransportRequest,
): Promise<Device> {
  const changeIdentity = (data: Uint8Array) => {
    if (String.fromCharCode(...data.subarray(SN, SN_END)).trimEnd() === device.serial) change(data)
  }
  // Nothing is allocated, and so nothing identified, before the device is open.
  const between = { transport: ({ dma }: Transport) => ({ dma: changedDma(dma, changeIdentity) }) }
  const device: Device = await context.device(between, request)
  return device
}

/** Calls `change` for each part of memory as long as Identify data that is made visible to the host. */
function changedDma(dma: DmaAllocator, change: (data: Uint8Array) => void): DmaAllocator {
  return {
    ...(dma.addressSpace !== undefined && { addressSpace: dma.addressSpace }),
    alloc(lengthBytes, request) {
      const memory = dma.alloc(lengthBytes, request)
      const forHost = memory.forHost.bind(memory)
      memory.forHost = (offset, length) => {
        forHost(offset, length)
        if (memory.view !== undefined && length === IDENTIFY_BYTES) change(hostBytes(memory, offset, length))
      }
      return memory
    },
  }
}
