import { loadSocketHost } from '@gpunvme/cuda-native/host'
import { openVfioUser } from '@gpunvme/host-driver/vfio-user'
import type { OpenedTransport } from './opened-transport.js'

/** A drive that another program serves over vfio-user: a simulated one, or what SPDK and others have behind it. */
export interface VfioUserOptions {
  /** The Unix socket that it is served at. */
  readonly socket: string
}

/** Connects to who serves a drive. What lies behind it may be real, so that its serial number has to be given for writes. */
export async function openServed({ socket }: VfioUserOptions): Promise<OpenedTransport> {
  const transport = await openVfioUser({ host: loadSocketHost(), socket })
  return {
    name: 'vfio-user',
    transport,
    time: 'wall',
    // What its registers say of a link, nothing goes over.
    link: undefined,
    serial: undefined,
    hostError: () => transport.departure,
    close: () => transport.close(),
  }
}
