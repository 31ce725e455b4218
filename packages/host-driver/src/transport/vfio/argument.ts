import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../../error.js'

/** What the kernel's answers have in common: the length of the argument. */
interface Sized {
  readonly bytes: number
  encode(data: DataView, byteOffset: number, values: never): void
}

/** Maximum length of an answer: chains of capabilities have some hundred bytes. */
const MAX_BYTES = 65_536

/**
 * Sends a request whose answer may have capabilities at its end: first with the structure alone, then with as many
 * bytes as `argsz` says.
 * @throws DriverError (VFIO)
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
    if (needed <= lengthBytes || needed > MAX_BYTES || lengthBytes > declaration.bytes) return data
    lengthBytes = needed
  }
}

/** Calls ioctl(2) with a structure. @throws DriverError (VFIO), which names the request */
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

/** Calls ioctl(2) with a number. @throws DriverError (VFIO) */
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
    const next = 'check the kernel log (dmesg)'
    throw new DriverError('ERR_GPUNVME_VFIO', 'failure', `VFIO_${name} failed: ${code}`, { next, cause: error })
  }
}
