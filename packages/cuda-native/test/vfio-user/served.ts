import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openVfioUser, type VfioUserTransport } from '@gpunvme/host-driver/vfio-user'
import { startVfioUserServer, type VfioUserServer, type VfioUserServerOptions } from '@gpunvme/nvme-sim/vfio-user'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { loadSocketHost } from '../../src/host/vfio-user-host.js'

/** A served controller, with a temporary folder for its socket and files of the test. */
export interface Served {
  readonly server: VfioUserServer
  readonly folder: string
  readonly socket: string
  /** Connects this package's client. It must be closed before the next client is served. */
  readonly open: (interrupts?: number) => Promise<VfioUserTransport>
  readonly close: () => Promise<void>
}

/** Connects this package's client, with a timeout that is sufficient on a busy machine. */
export function openAt(socket: string, interrupts = 0): Promise<VfioUserTransport> {
  return openVfioUser({ host: loadSocketHost(), socket, interrupts, answerTimeoutNs: 30e9 })
}

/** Starts a server on the addon. */
export async function serve(options: (folder: string) => Partial<VfioUserServerOptions> = () => ({})): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-'))
  const socket = join(folder, 'nvme.sock')
  try {
    const server = await startVfioUserServer({ socket, module: nativeHostModule, ...options(folder) })
    return {
      server,
      folder,
      socket,
      open: (interrupts) => openAt(socket, interrupts),
      async close() {
        await server.close()
        rmSync(folder, { recursive: true })
      },
    }
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw error
  }
}
