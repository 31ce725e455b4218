import { loadSocketHost } from '@gpunvme/cuda-native/host'
import { openVfioUser } from '@gpunvme/host-driver/vfio-user'
import type { OpenedTransport } from './opened-transport.js'

/** A drive served by another program over vfio-user: simulated, or from SPDK and others. */
export interface VfioUserOptions {
  /** Unix socket of the server. */
  readonly socket: string
}

/** Connects to a served drive. It may be backed by a real one, so writes require the serial number. */
export async function openServed({ socket }: VfioUserOptions): Promise<OpenedTransport> {
  const transport = await openVfioUser({ host: loadSocketHost(), socket })
  return {
    name: 'vfio-user',
    transport,
    time: 'wall',
    // The link in its registers is not real.
    link: undefined,
    serial: undefined,
    hostError: () => transport.departure,
    close: () => transport.close(),
  }
}
