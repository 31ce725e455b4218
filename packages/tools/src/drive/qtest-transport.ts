import { startQemu, type Qemu } from '@gpunvme/host-driver/qtest'
import type { HarmlessTransport } from './opened-transport.js'
import { prepareImage } from './sim-transport.js'

/** QEMU's own NVMe controller, as drives are given to it. */
export interface QtestOptions {
  /** A raw image file as the drive's contents. Without it they go with QEMU. */
  readonly image?: string
  /** Makes the image file, sparse, where there is none. Needs `capacityBytes`. */
  readonly create?: boolean
  /** The image is opened for reading. */
  readonly readOnly?: boolean
  /** Of a drive without an image, or of an image that is made; 64 MiB when not given. */
  readonly capacityBytes?: number
}

/**
 * Starts a QEMU whose only use is its NVMe controller. Time is the wall's, and says how fast QEMU is.
 * @throws QemuMissingError, QemuVersionError, QemuStartError; ImageFileError
 */
export async function openQtest(options: QtestOptions): Promise<HarmlessTransport> {
  const { image, readOnly = false, capacityBytes } = options
  if (image !== undefined) await prepareImage(image, options)
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
