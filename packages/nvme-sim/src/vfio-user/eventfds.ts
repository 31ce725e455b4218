import { closeSync, constants, readFileSync, readlinkSync, readSync, writeSync } from 'node:fs'
import { isSystemError } from './limits.js'

/** What is written to an eventfd: 1, as a host-endian 64-bit number. */
const ONE = new Uint8Array(new BigUint64Array([1n]).buffer)

/** What interrupts need of the descriptors that a client gives. */
export interface Eventfds {
  /** Whether a descriptor is one: a pipe would hold up who writes to it. */
  isOne(descriptor: number): boolean
  /** Whether looking into one that nobody has signalled holds nobody up. */
  isNonBlocking(descriptor: number): boolean
  signal(descriptor: number): void
  /** Takes what has been signalled. */
  drain(descriptor: number): void
  close(descriptor: number): void
}

const taken = new Uint8Array(8)

/** The system's. */
export const eventfds: Eventfds = {
  isOne: (descriptor) => readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]',
  isNonBlocking(descriptor) {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))
    return flags !== null && (parseInt(flags[1]!, 8) & constants.O_NONBLOCK) !== 0
  },
  // Where its count is as high as it goes, whoever looks there has been told.
  signal: (descriptor) => unlessAgain(() => writeSync(descriptor, ONE)),
  // The client may have taken it back.
  drain: (descriptor) => unlessAgain(() => readSync(descriptor, taken)),
  close: (descriptor) => closeSync(descriptor),
}

/** Does what cannot be done now, without waiting for it, not at all. */
function unlessAgain(action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EAGAIN') throw error
  }
}
