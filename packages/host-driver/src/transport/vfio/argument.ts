import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'

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
