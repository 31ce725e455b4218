import type { DmaAllocator, Transport } from '@gpunvme/nvme-spec/transport'
import type { Device, DriverContext } from './context.js'
import { hostBytes } from './data.js'
import type { TransportRequest } from './request.js'

const IDENTIFY_BYTES = 4096
/** SN: bytes 4 to 23 of Identify Controller. */
const [SN, SN_END] = [4, 24]

/**
 * Opens a device, and changes its Identify Controller data before the driver reads it. Recognizes the data by the
 * serial number, when memory is made visible to the host, so that it works on any transport.
 */
export async function deviceIdentifiedAs(
  context: DriverContext,
  change: (data: Uint8Array) => void,
  request?: TransportRequest,
): Promise<Device> {
  const changeIdentity = (data: Uint8Array) => {
    if (String.fromCharCode(...data.subarray(SN, SN_END)).trimEnd() === device.serial) change(data)
  }
  // The driver cannot allocate memory for Identify data before the device is open.
  const between = { transport: ({ dma }: Transport) => ({ dma: changedDma(dma, changeIdentity) }) }
  const device: Device = await context.device(between, request)
  return device
}

/** Calls `change` for each range of memory with the length of Identify data that is made visible to the host. */
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
