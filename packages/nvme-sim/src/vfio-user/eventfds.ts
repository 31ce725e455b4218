import { closeSync, readlinkSync, writeSync } from 'node:fs'
import { isSystemError } from './limits.js'

/** What is written to an eventfd: 1, as a host-endian 64-bit number. */
const ONE = new Uint8Array(new BigUint64Array([1n]).buffer)

/** What interrupts need of the descriptors that a client gives. */
export interface Eventfds {
  /** Whether a descriptor is one: a pipe would hold up who writes to it. */
  isOne(descriptor: number): boolean
  signal(descriptor: number): void
  close(descriptor: number): void
}

/** The system's. */
export const eventfds: Eventfds = {
  isOne: (descriptor) => readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]',
  signal(descriptor) {
    try {
      writeSync(descriptor, ONE)
    } catch (error) {
      // Its count is as high as it goes: whoever looks there has been told.
      if (!isSystemError(error) || error.code !== 'EAGAIN') throw error
    }
  },
  close: (descriptor) => closeSync(descriptor),
}
