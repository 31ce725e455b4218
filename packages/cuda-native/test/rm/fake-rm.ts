import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'

/** Functions of the native host that the driver's clients use. */
type RmHostWithMap = Pick<HardwareHost, 'ioctl' | 'allocate' | 'map'>

/** Behaviour of a version of NVIDIA's driver. */
export interface FakeDriver {
  /** Offset of the status in RM_ALLOC: 24 before version 535, then 28. */
  readonly statusOffset: 24 | 28
  /** NV_STATUS of memory registration. */
  readonly registers?: number
  /** NV_STATUS of device allocation. */
  readonly device?: number
  /** Domain, bus and slot of each GPU. */
  readonly gpus?: readonly (readonly [number, number, number])[]
  /** Reply to FB_GET_STATIC_BAR1_INFO; the control is refused with another length, or without a reply. */
  readonly staticBar1?: Uint8Array | undefined
}

export interface Call {
  readonly escape: number
  readonly lengthBytes: number
  /** Class, command or object of this call. */
  readonly subject: number
}

const REGISTERS_AT = 0x7f00_0000_0000n
const MEMORY_AT = 0x5500_0000_0000n

/**
 * Simulates NVIDIA's resource manager and records calls. Offsets are from its headers: nvos.h of 590.48.01, RM_ALLOC of
 * 525.60.11.
 */
export function fakeRm(driver: FakeDriver): {
  host: RmHostWithMap
  calls: Call[]
  memory: { address: bigint; limit: bigint; flags: number }[]
} {
  const calls: Call[] = []
  const memory: { address: bigint; limit: bigint; flags: number }[] = []
  const parameters = new ArrayBuffer(4096)
  const gpus = driver.gpus ?? [[0, 0x0a, 0]]

  /** Returns the status. */
  const controlOf = (command: number, lengthBytes: number, data: DataView): number => {
    if (command === 0x2080_1354) {
      if (driver.staticBar1 === undefined) return 0x56
      if (lengthBytes !== driver.staticBar1.length) return 0x3a
      new Uint8Array(parameters).set(driver.staticBar1)
    } else if (command === 0x201)
      for (let i = 0; i < 32; i++) data.setUint32(i * 4, i < gpus.length ? 0x100 + i : 0xffff_ffff, true)
    else {
      const index = data.getUint32(0, true) - 0x100
      const [domain, bus, slot] = gpus[index]!
      if (command === 0x21b) {
        data.setUint32(4, domain, true)
        data.setUint16(8, bus, true)
        data.setUint16(10, slot, true)
      } else data.setUint32(8, index, true)
    }
    return 0
  }

  const answer = (escape: number, data: DataView): number => {
    switch (escape) {
      case 0x2b: {
        const isClient = data.getUint32(12, true) === 0x41
        if (isClient) data.setUint32(8, 0xc1d0_0001, true)
        data.setUint32(driver.statusOffset, isClient ? 0 : (driver.device ?? 0), true)
        return data.getUint32(12, true)
      }
      case 0x2a:
        data.setUint32(28, controlOf(data.getUint32(8, true), data.getUint32(24, true), new DataView(parameters)), true)
        return data.getUint32(8, true)
      case 0x27:
        memory.push({
          address: data.getBigUint64(24, true),
          limit: data.getBigUint64(32, true),
          flags: data.getUint32(16, true),
        })
        data.setUint32(40, driver.registers ?? 0, true)
        return data.getUint32(12, true)
      default:
        return data.getUint32(8, true)
    }
  }

  const host: RmHostWithMap = {
    ioctl(_fd, request, argument) {
      const data = new DataView(argument.buffer, argument.byteOffset, argument.byteLength)
      if (request >>> 30 !== 3 || ((request >> 8) & 0xff) !== 0x46)
        throw new Error(`no request of NVIDIA's: ${request}`)
      const escape = request & 0xff
      const subject = escape === 201 ? data.byteLength : answer(escape, data)
      calls.push({ escape, lengthBytes: (request >> 16) & 0x3fff, subject })
      return 0
    },
    allocate: () => region(MEMORY_AT, parameters),
    map: (_fd, _offset, lengthBytes) => region(REGISTERS_AT, new ArrayBuffer(lengthBytes)),
  }
  return { host, calls, memory }
}

/** A region for mapping only: register access throws. */
function region(address: bigint, buffer: ArrayBuffer): NativeRegion {
  const refuse = () => {
    throw new Error('the registers were touched')
  }
  return {
    ...{ address, buffer, lengthBytes: buffer.byteLength },
    ...{ load32: refuse, store32: refuse, load64: refuse, store64: refuse, unmap: () => undefined },
  }
}
