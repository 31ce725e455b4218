import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openModelFile } from '../../src/formats/index.js'
import { loadTensor, openImage, readSourceHeader } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { MemoryNamespace } from '../memory-namespace.js'
import { tensorBytes } from '../models.js'

test('a model split over three files is packed with all tensors and the header of the first', async () => {
  const part = fileURLToPath(new URL('vectors/split-00002-of-00003.gguf', import.meta.url))
  await using model = await openModelFile(part)
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  await pack(model, namespace)
  const packed = (await openImage(namespace)).model()
  expect(packed.name).toBe('vector')
  expect(packed.manifest.layers.flatMap(({ tensors }) => tensors)).toHaveLength(8)
  for (const { name } of model.tensors) {
    expect(Buffer.compare(await loadTensor(packed, name), await tensorBytes(model, name)), name).toBe(0)
  }
  const [{ source, headerBytes }] = model.parts
  const header = new Uint8Array(headerBytes)
  await source.read(0, header)
  expect(Buffer.compare(await readSourceHeader(packed), header)).toBe(0)
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, problems: [] })
})
