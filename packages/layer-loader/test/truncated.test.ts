import { describe, expect, test } from 'vitest'
import { openImage } from '../src/index.js'
import { pack, SuperblockError, verifyImage } from '../src/image/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel } from './models.js'

const MIB = 1 << 20

interface Packed {
  readonly media: Uint8Array
  readonly usedEndBytes: number
}

async function packed(): Promise<Packed> {
  const { media, namespace } = new MemoryNamespace({ capacityBytes: 4 * MIB })
  await pack(await smallModel(), namespace)
  return { media, usedEndBytes: (await openImage(namespace)).superblock.usedEndBytes }
}

/** Returns a namespace with the first bytes of an image, as `head -c` would cut its file. */
const head = ({ media }: Packed, bytes: number) => new MemoryNamespace({ media: media.slice(0, bytes) })

const errorOf = ({ namespace }: MemoryNamespace): Promise<unknown> =>
  openImage(namespace).catch((error: unknown) => error)

describe('an image on a short drive', () => {
  test.each([
    ['within copy A', 512],
    ['after copy A', 4096],
    ['before copy B', MIB],
    ['within copy B', MIB + 512],
    ['after copy B', MIB + 4096],
    ['before the first extent', 2 * MIB],
    ['within the data', 2 * MIB + 4096],
  ])('an image on a short drive is reported as truncated when cut %s', async (_, bytes) => {
    const image = await packed()
    const memory = head(image, bytes)
    const error = await errorOf(memory)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_TRUNCATED' })
    const neededBytes = bytes < 4096 ? undefined : image.usedEndBytes
    expect(error).toMatchObject({ category: 'verification', remedy: 'replace-image' })
    expect((error as Error).message).toContain(`${bytes} of ${neededBytes ?? 'more than 2097152'} bytes`)
    const report = await verifyImage(memory.namespace)
    expect(report).toMatchObject({ ok: false, image: undefined, problemCount: 1 })
    expect(report.problems[0]).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_TRUNCATED' })
    expect(memory.allocatedBytes).toBe(0)
  })

  test('an image on a short drive is reported as truncated when one block is missing', async () => {
    const image = await packed()
    expect(await errorOf(head(image, image.usedEndBytes - 512))).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_TRUNCATED' })
    expect(await verifyImage(head(image, image.usedEndBytes).namespace)).toMatchObject({ ok: true })
  })

  test('a short image whose only superblock copy is damaged has both problems reported', async () => {
    const memory = head(await packed(), MIB)
    memory.media[100]! ^= 1
    const { problems } = await verifyImage(memory.namespace)
    expect(problems.map(({ code }) => code)).toEqual(['ERR_GPUNVME_IMAGE_TRUNCATED', 'ERR_GPUNVME_IMAGE_SUPERBLOCK'])
  })

  test('a short image with one damaged superblock copy is reported with the length from the other', async () => {
    const image = await packed()
    const memory = head(image, 2 * MIB + 4096)
    memory.media[100]! ^= 1
    expect((await errorOf(memory)) as Error).toHaveProperty(
      'message',
      expect.stringContaining(`${2 * MIB + 4096} of ${image.usedEndBytes} bytes`),
    )
    expect((await verifyImage(memory.namespace)).problems).toMatchObject([
      { code: 'ERR_GPUNVME_IMAGE_TRUNCATED' },
      { copy: 'A' },
    ])
  })

  test('an image on a short drive is discarded by pack with replace: image', async () => {
    const memory = head(await packed(), 2 * MIB + 4096 * 9)
    const { namespace } = memory
    expect(await errorOf(memory)).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_TRUNCATED' })
    const smaller = await smallModel([['model.norm.weight', 64]])
    await expect(pack(smaller, namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_IMAGE_EXISTS' })
    const receipt = await pack(smaller, namespace, { replace: 'image' })
    expect(receipt).toMatchObject({ replaced: 'discarded', generation: 2 })
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
  })
})

test('damage to both superblock copies on a drive of sufficient length is not reported as truncated', async () => {
  const { media } = await packed()
  media[100]! ^= 1
  media[MIB + 100]! ^= 1
  expect(await errorOf(new MemoryNamespace({ media }))).toBeInstanceOf(SuperblockError)
})

test('a short drive without the start of an image has no image', async () => {
  for (const capacityBytes of [512, 4096, MIB, MIB + 4096]) {
    expect(await errorOf(new MemoryNamespace({ capacityBytes }))).toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  }
})
