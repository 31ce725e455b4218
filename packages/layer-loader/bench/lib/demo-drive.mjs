import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import { pack } from '@gpunvme/layer-loader/image'
import { openFileSource, openModel, writeDemoModel } from '@gpunvme/layer-loader/formats'
import { openWritableFileStore } from '@gpunvme/layer-loader/store'

/** Returns a directory that is removed when the process ends. */
export function scratchFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Packs the demo model onto media, with a controller that takes no virtual time. */
export async function packDemoModel(simulate, media) {
  const path = join(scratchFolder(), 'demo.gguf')
  await writeDemoModel(path)
  await packFile(simulate, media, path)
}

export async function packFile(simulate, media, path) {
  const { transport } = simulate({ namespaces: [{ media }] })
  const serial = (await withController(transport, {}, (controller) => controller.identity)).serial
  await withController(transport, { write: { serial } }, async (controller) => {
    const source = await openFileSource(path)
    await pack(await openModel(source), controller.namespace(1))
    await source.close()
  })
}

export async function withController(transport, options, use) {
  const controller = await Controller.open(transport, options)
  try {
    return await use(controller)
  } finally {
    await controller.close()
  }
}

/** Packs a demo model of about `bytes` bytes into a plain file, and returns its path. */
export async function packToFile(bytes) {
  const folder = scratchFolder()
  const [gguf, image] = ['model.gguf', 'image'].map((name) => join(folder, name))
  const { sizeBytes } = await writeDemoModel(gguf, { layers: 32, targetBytes: bytes })
  const source = await openFileSource(gguf)
  const store = await openWritableFileStore(image, { sizeBytes: Math.ceil(sizeBytes / 4096) * 4096 + 16 * 1024 ** 2 })
  await pack(await openModel(source), store)
  await source.close()
  await store.close()
  return image
}
