import type { OpenedTransport, OpenTransport, TransportRequest } from '@gpunvme/host-driver/conformance'
import { optionsOf, SERIAL } from '../real-time-drives.js'
import { serve, type Served } from '../vfio-user/served.js'

/** Servers kept that nobody has opened. */
const MOST_FREE = 3

/** One that is used again, by whoever needs the same. */
interface Pooled extends Served {
  readonly shape: string
  inUse: boolean
}

/**
 * Served controllers of whatever shape driver cases need, each opened by a socket. A server serves one client after
 * another, each of which finds the controller as after power on. One with faults is a case's own.
 */
export class ServedDrives {
  private readonly pool: Pooled[] = []

  readonly open: OpenTransport = async (request) => {
    const { faults, ...shape } = request
    if (faults !== undefined) {
      const served = await serve(() => ({ ...optionsOf(shape), faults }))
      return opened(served, () => served.close())
    }
    const drive = await this.free(shape)
    drive.inUse = true
    return opened(drive, () => {
      drive.inUse = false
      return this.closeOldest()
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.pool.splice(0).map((drive) => drive.close()))
  }

  private async closeOldest(): Promise<void> {
    const free = this.pool.filter(({ inUse }) => !inUse)
    if (free.length <= MOST_FREE) return
    const [oldest] = free
    this.pool.splice(this.pool.indexOf(oldest!), 1)
    await oldest!.close()
  }

  private async free(request: TransportRequest): Promise<Pooled> {
    const shape = JSON.stringify(request)
    const found = this.pool.find((drive) => drive.shape === shape && !drive.inUse)
    if (found !== undefined) {
      // The one that was used last stays longest.
      this.pool.push(...this.pool.splice(this.pool.indexOf(found), 1))
      return found
    }
    const drive = { ...(await serve(() => optionsOf(request))), shape, inUse: false }
    this.pool.push(drive)
    return drive
  }
}

async function opened(served: Served, letGo: () => Promise<void>): Promise<OpenedTransport> {
  const before = (await served.server.diagnostics()).length
  const transport = await served.open(1)
  return {
    transport: {
      ...transport,
      async close() {
        await transport.close()
        await letGo()
      },
    },
    serial: SERIAL,
    mistakes: async () => (await served.server.diagnostics()).slice(before),
  }
}
