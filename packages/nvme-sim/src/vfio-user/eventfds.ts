import { closeSync, readlinkSync } from 'node:fs'
import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** What interrupts need of the descriptors that a client gives. Nothing here waits, whatever the client does with them. */
export interface Eventfds {
  /** Whether a descriptor is one: a pipe would hold up who writes to it. */
  isOne(descriptor: number): boolean
  signal(descriptor: number): void
  /** Takes what has been signalled. */
  drain(descriptor: number): void
  close(descriptor: number): void
}

/** The system's. */
export function eventfdsOf(host: Pick<VfioUserHost, 'signalEventfd' | 'drainEventfd'>): Eventfds {
  return {
    isOne: (descriptor) => readlinkSync(`/proc/self/fd/${descriptor}`) === 'anon_inode:[eventfd]',
    signal: (descriptor) => host.signalEventfd(descriptor),
    // The client may have taken it back.
    drain: (descriptor) => void host.drainEventfd(descriptor),
    close: (descriptor) => closeSync(descriptor),
  }
}
