import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import { pack } from '@gpunvme/layer-loader/image'
import { openFileSource, openModel, writeDemoModel } from '@gpunvme/layer-loader/formats'

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
