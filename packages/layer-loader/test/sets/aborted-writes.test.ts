import { describe, expect, test } from 'vitest'
import { LoaderError } from '../../src/index.js'
import type { WritableBlockStore } from '../../src/store/index.js'
import { createMirror, createStripe, openSet, SetMemberError } from '../../src/sets/index.js'
import { altered, drives, MIB } from './drives.js'

const transfers = [{ offsetBytes: 0, lengthBytes: 4 * MIB, memoryBytes: 0 }]
const failure = new LoaderError('ERR_GPUNVME_NO_SET', 'not-found', 'no set')
const stores = async (count: number) =>
  (await drives(Array.from({ length: count }, () => ({ capacityBytes: 12 * MIB })))).map(({ store }) => store)

/** Returns two members, and a promise for the first write of the first. The second writes nothing until aborted. */
function blockSecondMember([one, other]: readonly WritableBlockStore[]) {
  let done!: () => void
  const firstDone = new Promise<void>((resolve) => (done = resolve))
  const members = [
    altered(one!, {
      write: async (...args) => {
        const summary = await one!.write(...args)
        done()
        return summary
      },
    }),
    altered(other!, {
      write: async (_transfers, _memory, { signal } = {}) => {
        await firstDone
        while (signal?.aborted !== true) await new Promise(setImmediate)
        throw signal.reason
      },
    }),
  ]
  return { members, firstDone }
}

describe('an aborted write to a mirror', () => {
  test('fails with its reason, and all members stay live', async () => {
    const whole = await stores(2)
    await createMirror(whole)
    const { members, firstDone } = blockSecondMember(whole)
    const set = await openSet(members)
    const memory = set.dma.alloc(4 * MIB)
    const aborting = new AbortController()
    const writing = set.write(transfers, memory, aborting)
    await firstDone
    aborting.abort(failure)
    await expect(writing).rejects.toBe(failure)
    expect([set.degraded, set.problems]).toEqual([false, []])
    memory.free()
    expect((await openSet(whole)).members.map(({ state }) => state)).toEqual(['live', 'live'])
  })

  test('keeps its members live when another mirror of the same stripe fails', async () => {
    const [one, other] = await stores(2)
    const whole = await stores(2)
    const mirrors = [await createMirror([one!, other!]), await createMirror(whole)] as const
    await createStripe(mirrors)
    const { members, firstDone } = blockSecondMember(whole)
    const late = await openSet(members)
    const failing = altered(mirrors[0], {
      write: async () => {
        await firstDone
        throw failure
      },
    })
    const stripe = await openSet([failing, late])
    const memory = stripe.dma.alloc(4 * MIB)
    await expect(stripe.write(transfers, memory)).rejects.toThrow(SetMemberError)
    expect([late.degraded, late.problems]).toEqual([false, []])
    memory.free()
    expect((await openSet(whole)).degraded).toBe(false)
  })
})
