import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openFileSource, openModel } from '../src/formats/index.js'
import { openImage } from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { safetensorsFile } from './models.js'

const folder = scratch()

test('pack does not publish a file that changes while it is read', async () => {
  const path = join(folder, 'model.safetensors')
  const tensors = [['model.layers.0.weight', 6 << 20]] as const
  writeFileSync(path, safetensorsFile(tensors))
  await using source = await openFileSource(path)
  const model = await openModel(source)
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  let isChanged = false
  const onProgress = () => {
    if (isChanged) return
    isChanged = true
    writeFileSync(path, safetensorsFile(tensors, 2))
    // Resetting the modification time does not hide the change.
    utimesSync(path, 1, 1)
  }
  await expect(pack(model, namespace, { onProgress })).rejects.toMatchObject({ code: 'ERR_GPUNVME_SOURCE_CHANGED' })
  await expect(openImage(namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
})
