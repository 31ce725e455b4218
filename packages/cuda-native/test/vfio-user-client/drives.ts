import type { OpenTransport } from '@gpunvme/host-driver/conformance'
import { DrivePool, optionsOf, SERIAL } from '../real-time-drives.js'
import { serve } from '../vfio-user/served.js'

/**
 * Served controllers for driver cases, opened through sockets. Each client finds its controller in the power-on state.
 */
export class ServedDrives {
  private readonly pool = new DrivePool((request) => serve(() => optionsOf(request)))

  readonly open: OpenTransport = async (request) => {
    const { drive, release } = await this.pool.take(request)
    const before = (await drive.server.diagnostics()).length
    const transport = await drive.open(1)
    return {
      transport: {
        ...transport,
        async close() {
          await transport.close()
          await release()
        },
      },
      serial: SERIAL,
      mistakes: async () => (await drive.server.diagnostics()).slice(before).map(({ text }) => text),
    }
  }

  readonly close = () => this.pool.close()
}
