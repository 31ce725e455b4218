import { closeSync, readlinkSync } from 'node:fs'
import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** Operations on a client's interrupt descriptors. None of them blocks, whatever the client does. */
export interface Eventfds {
  /** Whether a descriptor is an eventfd: a write to a pipe could block. */
  isOne(descriptor: number): boolean
  signal(descriptor: number): void
  /** Clears the count. */
  drain(descriptor: number): void
  close(descriptor: number): void
}

/** The operating system's implementation. */
export function eventfdsOf(host: Pick<VfioUserHost, 'signalEventfd' | 'drainEventfd'>): Eventfds {
  return {
    isOne: (descriptor) => readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]',
    signal: (descriptor) => host.signalEventfd(descriptor),
    // The client may have cleared it already.
    drain: (descriptor) => void host.drainEventfd(descriptor),
    close: (descriptor) => closeSync(descriptor),
  }
}
