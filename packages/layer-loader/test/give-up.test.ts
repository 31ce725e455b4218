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

describe('onDiscard', () => {
  test('onDiscard is called once, before the first write', async () => {
    const memory = await packed(TIGHT_BYTES)
    const written: [string, number][] = []
    const onDiscard = (what: string) => void written.push([what, memory.journal.length])
    const { replaced } = await pack(await smallModel(undefined, 2), memory.namespace, { replace: true, onDiscard })
    expect({ replaced, written }).toEqual({ replaced: 'discarded', written: [['model', 0]] })
  })

  test('onDiscard is called for a damaged image', async () => {
    const memory = await packed(ROOMY_BYTES)
    const { directory } = (await openImage(memory.namespace)).superblock
    memory.media[directory.offsetBytes]! ^= 1
    const calls: string[] = []
    const onDiscard = (what: string) => void calls.push(what)
    await pack(await smallModel(), memory.namespace, { replace: 'image', onDiscard })
    expect(calls).toEqual(['image'])
  })

  test('onDiscard is not called for an image that is kept until publication, nor without an image', async () => {
    const onDiscard = () => {
      throw new Error('called')
    }
    const memory = await packed(ROOMY_BYTES)
    expect(await pack(await smallModel(), memory.namespace, { replace: true, onDiscard })).toMatchObject({
      replaced: 'kept',
    })
    const empty = new MemoryNamespace({ capacityBytes: TIGHT_BYTES })
    expect(await pack(await smallModel(), empty.namespace, { replace: true, onDiscard })).toMatchObject({
      replaced: 'nothing',
    })
  })

  test('pack keeps the image if onDiscard throws or aborts the signal', async () => {
    const memory = await packed(TIGHT_BYTES)
    const controller = new AbortController()
    const refusals = [
      {
        onDiscard: () => {
          throw new Error('no')
        },
      },
      { onDiscard: () => controller.abort(new Error('no')), signal: controller.signal },
    ]
    for (const refusal of refusals) {
      const model = await smallModel(undefined, 2)
      await expect(pack(model, memory.namespace, { replace: true, ...refusal })).rejects.toThrow('no')
      expect(memory.journal).toEqual([])
      expect((await openImage(memory.namespace)).superblock.generation).toBe(1)
    }
  })

  test('a pack that fails after onDiscard leaves no image', async () => {
    const memory = await packed(TIGHT_BYTES)
    const controller = new AbortController()
    let calls = 0
    const packing = pack(await smallModel(undefined, 2), memory.namespace, {
      replace: true,
      signal: controller.signal,
      onDiscard: () => {
        calls += 1
      },
      onProgress: () => controller.abort('enough'),
    })
    await expect(packing).rejects.toBe('enough')
    expect(calls).toBe(1)
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })
})
