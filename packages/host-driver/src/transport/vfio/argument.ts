import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { CapabilityHeader, RangePair } from './abi.js'

/** As much as the kernel's answers have in common: how long the argument is. */
interface Sized {
  readonly bytes: number
  encode(data: DataView, byteOffset: number, values: never): void
}

/** The longest answer that is taken: chains of capabilities are some hundred bytes long. */
const MOST_BYTES = 65_536

/**
 * Asks the kernel something that may have capabilities behind it: with the structure alone first, and once more with as
 * many bytes as `argsz` then says. @throws VfioError
 */
export function ask(
  host: HardwareHost,
  fd: number,
  request: readonly [name: string, number: number],
  declaration: Sized,
  values: object = {},
): DataView {
  for (let lengthBytes = declaration.bytes; ;) {
    const data = new DataView(new ArrayBuffer(lengthBytes))
    declaration.encode(data, 0, { ...values, ARGSZ: lengthBytes } as never)
    call(host, fd, request, data)
    const needed = data.getUint32(0, true)
    if (needed <= lengthBytes || needed > MOST_BYTES || lengthBytes > declaration.bytes) return data
    lengthBytes = needed
  }
}

/** ioctl(2) with a structure, its refusal an error that names the request. @throws VfioError */
export function call(
  host: HardwareHost,
  fd: number,
  [name, request]: readonly [string, number],
  argument: DataView,
): number {
  return refusable(name, () =>
    host.ioctl(fd, request, new Uint8Array(argument.buffer, argument.byteOffset, argument.byteLength)),
  )
}

/** ioctl(2) with a number. @throws VfioError */
export function callNumber(
  host: HardwareHost,
  fd: number,
  [name, request]: readonly [string, number],
  argument = 0,
): number {
  return refusable(name, () => host.ioctlNumber(fd, request, argument))
}

/** The byte at which each capability of an answer begins, by its ID. */
export function capabilityChain(data: DataView, first: number): Map<number, number> {
  const found = new Map<number, number>()
  for (let at = first; at !== 0 && at + CapabilityHeader.bytes <= data.byteLength;) {
    const { ID, NEXT } = CapabilityHeader.view(data, at)
    if (found.has(ID)) break
    found.set(ID, at)
    at = NEXT
  }
  return found
}

/** The pairs of numbers of a capability that counts them in its first dword: IOVA_RANGE, SPARSE_MMAP. */
export function pairs(data: DataView, capability: number): (readonly [bigint, bigint])[] {
  const count = data.getUint32(capability + CapabilityHeader.bytes, true)
  return Array.from({ length: count }, (_, index) => {
    const { PAIR } = RangePair.view(data, capability + 16 + index * RangePair.bytes)
    return [PAIR[0]!, PAIR[1]!] as const
  })
}

function refusable(name: string, action: () => number): number {
  try {
    return action()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new VfioError(name, code, error)
  }
}

/** The kernel refused a request that has no error of its own here. */
export class VfioError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VFIO'
  readonly category = 'failure'
  /** Its name in linux/vfio.h, without the prefix. */
  readonly request: string
  readonly errno: string
  constructor(request: string, errno: string, cause?: unknown) {
    super(`VFIO_${request} failed: ${errno}`, { next: 'see what the kernel log says (dmesg)', cause })
    this.request = request
    this.errno = errno
  }
}
