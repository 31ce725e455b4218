import { Controller } from '@gpunvme/host-driver'
import { createStripe, pack } from '@gpunvme/layer-loader'
import { openModelFile } from '@gpunvme/layer-loader/formats'
import { createImageFile } from '../src/drive/image-file.js'
import { openTransport } from '../src/open.js'

const SERIAL = 'GPUNVME-SIM-SN740'
const CAPACITY_BYTES = 32 * 1024 * 1024

/** Packs a model file onto a stripe of new images. */
export async function packStriped(path: string, images: readonly string[]): Promise<void> {
  const opened = []
  for (const image of images) {
    await createImageFile(image, CAPACITY_BYTES)
    const { transport, close } = await openTransport('sim', { image })
    opened.push({ controller: await Controller.open(transport, { write: { serial: SERIAL } }), close })
  }
  const set = await createStripe(opened.map(({ controller }) => controller.namespace(1)))
  await using model = await openModelFile(path)
  await pack(model, set)
  for (const { controller, close } of opened) {
    await controller.close()
    await close()
  }
}
