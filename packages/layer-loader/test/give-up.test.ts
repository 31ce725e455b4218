import { describe, expect, test } from 'vitest'
import { openImage } from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel } from './models.js'

/** Has room for one image of the small model, but not for two. */
const TIGHT_BYTES = (2 << 20) + (100 << 10)
const ROOMY_BYTES = 8 << 20

/** Returns a namespace with an image and an empty journal. */
async function packed(capacityBytes: number): Promise<MemoryNamespace> {
  const memory = new MemoryNamespace({ capacityBytes })
  await pack(await smallModel(), memory.namespace)
  memory.journal.length = 0
  return memory
}

describe('onGiveUp', () => {
  test('onGiveUp is called once, before the first write', async () => {
    const memory = await packed(TIGHT_BYTES)
    const written: [string, number][] = []
    const onGiveUp = (what: string) => void written.push([what, memory.journal.length])
    const { replaced } = await pack(await smallModel(undefined, 2), memory.namespace, { replace: true, onGiveUp })
    expect({ replaced, written }).toEqual({ replaced: 'given up', written: [['model', 0]] })
  })

  test('onGiveUp is called for a damaged image', async () => {
    const memory = await packed(ROOMY_BYTES)
    const { directory } = (await openImage(memory.namespace)).superblock
    memory.media[directory.offsetBytes]! ^= 1
    const calls: string[] = []
    const onGiveUp = (what: string) => void calls.push(what)
    await pack(await smallModel(), memory.namespace, { replace: 'image', onGiveUp })
    expect(calls).toEqual(['image'])
  })

  test('onGiveUp is not called for an image that is kept until publication, nor without an image', async () => {
    const onGiveUp = () => {
      throw new Error('called')
    }
    const memory = await packed(ROOMY_BYTES)
    expect(await pack(await smallModel(), memory.namespace, { replace: true, onGiveUp })).toMatchObject({
      replaced: 'kept',
    })
    const empty = new MemoryNamespace({ capacityBytes: TIGHT_BYTES })
    expect(await pack(await smallModel(), empty.namespace, { replace: true, onGiveUp })).toMatchObject({
      replaced: 'nothing',
    })
  })

  test('pack keeps the image if onGiveUp throws or aborts the signal', async () => {
    const memory = await packed(TIGHT_BYTES)
    const controller = new AbortController()
    const refusals = [
      {
        onGiveUp: () => {
          throw new Error('no')
        },
      },
      { onGiveUp: () => controller.abort(new Error('no')), signal: controller.signal },
    ]
    for (const refusal of refusals) {
      const model = await smallModel(undefined, 2)
      await expect(pack(model, memory.namespace, { replace: true, ...refusal })).rejects.toThrow('no')
      expect(memory.journal).toEqual([])
      expect((await openImage(memory.namespace)).superblock.generation).toBe(1)
    }
  })

  test('a pack that fails after onGiveUp leaves no image', async () => {
    const memory = await packed(TIGHT_BYTES)
    const controller = new AbortController()
    let calls = 0
    const packing = pack(await smallModel(undefined, 2), memory.namespace, {
      replace: true,
      signal: controller.signal,
      onGiveUp: () => {
        calls += 1
      },
      onProgress: () => controller.abort('enough'),
    })
    await expect(packing).rejects.toBe('enough')
    expect(calls).toBe(1)
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })
})
