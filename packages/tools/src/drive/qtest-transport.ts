import { startQemu, type Qemu } from '@gpunvme/host-driver/qtest'
import { withClaimedImage } from './image-users.js'
import type { SimulatedTransport } from './opened-transport.js'
import { prepareImage } from './sim-transport.js'

/** Options of QEMU's NVMe controller. */
export interface QtestOptions {
  /** Raw image file with the drive's data. Without it, data are lost when QEMU ends. */
  readonly image?: string
  /** Creates a missing image file, sparse. Requires `capacityBytes`. */
  readonly create?: boolean
  /** Opens the image read-only. */
  readonly readOnly?: boolean
  /** Capacity of a drive without an image, or of a new image. Default: 64 MiB. */
  readonly capacityBytes?: number
}

/**
 * Starts QEMU only for its NVMe controller. Times are wall times and depend on QEMU.
 * @throws DriverError if QEMU does not start, as `startQemu`; ImageFileError, ImageInUseError
 */
export async function openQtest(options: QtestOptions): Promise<SimulatedTransport> {
  const { image, readOnly = false } = options
  if (image === undefined) return startController(options)
  await prepareImage(image, options)
  return withClaimedImage(image, readOnly ? 'read' : 'write', () => startController(options))
}

async function startController({ image, readOnly = false, capacityBytes }: QtestOptions): Promise<SimulatedTransport> {
  const namespace = {
    ...(image !== undefined && { image }),
    ...(image === undefined && capacityBytes !== undefined && { imageBytes: capacityBytes }),
    ...(readOnly && { drive: (node: object) => ({ driver: 'raw', 'read-only': true, file: node }) }),
  }
  const qemu = await startQemu({ controllers: [{ namespaces: [namespace] }] })
  const [controller] = qemu.controllers
  return {
    name: 'qtest',
    transport: controller!.transport,
    time: 'wall',
    link: undefined,
    serial: controller!.serial,
    hostError: () => undefined,
    close: () => closeAll(qemu),
  }
}

async function closeAll(qemu: Qemu): Promise<void> {
  await qemu.controllers[0]!.transport.close()
  await qemu.close()
}
