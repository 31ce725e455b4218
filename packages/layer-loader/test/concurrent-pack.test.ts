import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { openImage } from '../src/index.js'
import { pack, verifyImage, type PackReceipt } from '../src/image/index.js'
import { openWritableFileStore } from '../src/store/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel } from './models.js'

type Fulfilled = PromiseFulfilledResult<PackReceipt>

const folder = scratch()

const ROOMY_BYTES = 8 << 20
/** Has room for one image of the small model, but not for two. */
const TIGHT_BYTES = (2 << 20) + (100 << 10)

describe('calls of pack in one process', () => {
  test.each([ROOMY_BYTES, TIGHT_BYTES])(
    'the second concurrent call on one namespace of %i bytes is rejected',
    async (capacityBytes) => {
      const { namespace } = new MemoryNamespace({ capacityBytes })
      await pack(await smallModel(), namespace, { name: 'a' })
      const [a, b] = [await smallModel(undefined, 2), await smallModel(undefined, 3)]
      const [first, second] = await Promise.allSettled([
        pack(a, namespace, { replace: true, name: 'a' }),
        pack(b, namespace, { replace: true, name: 'a' }),
      ])
      expect(first.status).toBe('fulfilled')
      expect(second).toMatchObject({ status: 'rejected', reason: { category: 'usage' } })
      expect((second as PromiseRejectedResult).reason).toMatchObject({ code: 'ERR_GPUNVME_PACK_IN_PROGRESS' })
      expect(await verifyImage(namespace)).toMatchObject({ ok: true })
      expect((await openImage(namespace)).model('a').fingerprint).toBe((first as Fulfilled).value.fingerprint)
      expect(await pack(b, namespace, { replace: true, name: 'a' })).toMatchObject({ generation: 3 })
    },
  )

  test('the second concurrent call on one file, opened twice, is rejected', async () => {
    const path = join(folder, 'image')
    await using one = await openWritableFileStore(path, { sizeBytes: ROOMY_BYTES })
    const link = join(folder, 'link')
    symlinkSync(path, link)
    await using other = await openWritableFileStore(link)
    const model = await smallModel()
    const [first, second] = await Promise.allSettled([pack(model, one), pack(model, other)])
    expect(first.status).toBe('fulfilled')
    expect((second as PromiseRejectedResult).reason).toMatchObject({ code: 'ERR_GPUNVME_PACK_IN_PROGRESS' })
    expect(await pack(model, other, { replace: true })).toMatchObject({ generation: 2 })
  })

  test('a failed call does not block the next one', async () => {
    const { namespace } = new MemoryNamespace()
    await expect(pack(await smallModel(), namespace, { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    await expect(pack(await smallModel(), namespace, { name: '' })).rejects.toBeInstanceOf(RangeError)
    expect(await pack(await smallModel(), namespace)).toMatchObject({ generation: 1 })
  })

  test('calls on two namespaces run concurrently', async () => {
    const [a, b] = [new MemoryNamespace(), new MemoryNamespace()]
    const model = await smallModel()
    await Promise.all([pack(model, a.namespace), pack(model, b.namespace)])
    expect(await verifyImage(b.namespace)).toMatchObject({ ok: true })
  })
})

describe('another process that writes to the same media during pack', () => {
  /** Packs, and runs `meanwhile` during it on a second namespace with the same media, as in another process. */
  async function packWhile(
    memory: MemoryNamespace,
    meanwhile: (other: MemoryNamespace) => Promise<unknown>,
  ): Promise<unknown> {
    let done = false
    memory.gate = async ({ operation, slba }) => {
      // The first write of data: pack has read the superblocks, and has not published yet.
      if (done || operation !== 'write' || slba[0]! < 4096) return
      done = true
      await meanwhile(new MemoryNamespace({ media: memory.media }))
    }
    const model = await smallModel(undefined, 3)
    const outcome: unknown = await pack(model, memory.namespace, { replace: true }).catch((error: unknown) => error)
    expect(done).toBe(true)
    return outcome
  }

  test.each([
    ['the first image', ROOMY_BYTES, false],
    ['a replacement with room for both', ROOMY_BYTES, true],
    ['a replacement without room for both', TIGHT_BYTES, true],
  ])('and publishes an image: pack does not publish %s over it', async (_, capacityBytes, hasOld) => {
    const memory = new MemoryNamespace({ capacityBytes })
    if (hasOld) await pack(await smallModel(), memory.namespace)
    const before = memory.journal.length
    let imageId: string | undefined
    const error = await packWhile(memory, async ({ namespace }) => {
      ;({ imageId } = await pack(await smallModel(undefined, 2), namespace, { replace: true }))
    })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_CHANGED' })
    expect(memory.allocatedBytes).toBe(0)
    const superblocks = [0, 1 << 20].map((at) => Buffer.from(memory.media.subarray(at + 24, at + 40)).toString('hex'))
    expect(superblocks).toEqual([imageId, imageId])
    const published = memory.journal
      .slice(before)
      .filter((entry) => entry.kind === 'write' && isSuperblock(entry.content))
    expect(published).toEqual([])
  })

  test('and discards the old image: pack does not publish', async () => {
    const memory = new MemoryNamespace()
    await pack(await smallModel(), memory.namespace)
    const error = await packWhile(memory, ({ media }) => {
      media.fill(0, 0, 4096)
      return Promise.resolve(media.fill(0, 1 << 20, (1 << 20) + 4096))
    })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_CHANGED' })
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })

  test('a damaged or unreadable superblock copy does not count as a change', async () => {
    const memory = new MemoryNamespace()
    await pack(await smallModel(), memory.namespace)
    memory.media[100]! ^= 1
    expect(await packWhile(memory, () => Promise.resolve())).toMatchObject({ generation: 2, replaced: 'kept' })
    const failReads = () => {
      memory.outcome = ({ operation, slba }) =>
        operation === 'read' && slba[0] === 0
          ? { kind: 'status', sct: 2, sc: 0x81, dnr: false, more: false, crd: 0 }
          : { kind: 'success' }
      return Promise.resolve()
    }
    expect(await packWhile(memory, failReads)).toMatchObject({ generation: 3, replaced: 'kept' })
  })
})

const isSuperblock = (content: Uint8Array) => Buffer.from(content.subarray(0, 7)).toString('latin1') === 'GPUNVME'
