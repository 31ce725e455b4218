import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openImage } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { createMirror, createStripe, findUses, openSet, type WritableBlockSet } from '../../src/sets/index.js'
import { MemoryNamespace, type JournalEntry } from '../memory-namespace.js'
import { smallModel } from '../models.js'

const CAPACITY_BYTES = 8 << 20
const MEMBERS = 2

type Create = (namespaces: readonly MemoryNamespace['namespace'][], replace: boolean) => Promise<WritableBlockSet>

const creations: readonly (readonly [string, Create])[] = [
  ['stripe', (namespaces, replace) => createStripe(namespaces, { replace })],
  ['mirror', (namespaces, replace) => createMirror(namespaces, { replace })],
]

interface Recorded {
  readonly before: readonly Uint8Array[]
  /** Writes and flushes of all members, in order. */
  readonly journal: readonly (JournalEntry & { readonly member: number })[]
}

/** Records the creation of a set on these media. A label takes two commands, so that it can be torn. */
async function record(create: Create, media: readonly Uint8Array[], replace: boolean): Promise<Recorded> {
  const before = media.map((each) => each.slice())
  const journal: Recorded['journal'][number][] = []
  const memories = media.map((each) => new MemoryNamespace({ media: each, maxTransferBytes: 2048 }))
  memories.forEach((memory, member) => {
    Object.assign(memory.journal, { push: (entry: JournalEntry) => journal.push({ ...entry, member }) })
  })
  await create(
    memories.map(({ namespace }) => namespace),
    replace,
  )
  return { before, journal }
}

/** Returns the media after a power failure; `survives` selects the unflushed writes of each member that are kept. */
function afterCut({ before, journal }: Recorded, cut: number, survives: () => boolean): Uint8Array[] {
  return before.map((media, member) => {
    const done = journal.slice(0, cut).filter((entry) => entry.member === member)
    const flushed = done.findLastIndex(({ kind }) => kind === 'flush')
    const after = media.slice()
    done.forEach((entry, index) => {
      if (entry.kind === 'write' && (index < flushed || survives())) after.set(entry.content, entry.offsetBytes)
    })
    return after
  })
}

/** Returns every cut while labels are written, and some of those while areas are zeroed. */
function cutsOf({ journal }: Recorded): number[] {
  const firstLabel = journal.findIndex((entry) => entry.kind === 'write' && entry.content.some((byte) => byte !== 0))
  expect(firstLabel).toBeGreaterThan(0)
  return Array.from({ length: journal.length + 1 }, (_, cut) => cut).filter(
    (cut) => cut >= firstLabel || cut % 1021 === 0,
  )
}

async function judgeCuts(recorded: Recorded, judge: (media: readonly Uint8Array[]) => Promise<void>): Promise<void> {
  const cuts = cutsOf(recorded)
  for (const cut of cuts) await judge(afterCut(recorded, cut, () => true))
  const survivors = fc.infiniteStream(fc.boolean())
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...cuts), survivors, async (cut, survives) => {
      await judge(afterCut(recorded, cut, () => survives.next().value as boolean))
    }),
    { numRuns: 30 },
  )
}

const on = (media: readonly Uint8Array[]) => media.map((each) => new MemoryNamespace({ media: each }).namespace)

test.each(creations)(
  'after a cut, a new %s is complete or absent, and its creation can be repeated',
  async (_, create) => {
    const media = Array.from({ length: MEMBERS }, () => new Uint8Array(CAPACITY_BYTES).fill(0xa5))
    const recorded = await record(create, media, false)
    const seen = new Set<string>()
    await judgeCuts(recorded, async (left) => {
      const namespaces = on(left)
      const kinds = (await findUses(namespaces)).map(({ kind }) => kind)
      let set: WritableBlockSet
      if (kinds.every((kind) => kind === 'member')) {
        seen.add('complete')
        set = await openSet(namespaces)
        expect([set.degraded, set.problems.filter(({ kind }) => kind !== 'label-copy')]).toEqual([false, []])
      } else {
        seen.add(kinds.includes('begun') ? 'begun' : 'absent')
        expect(kinds).not.toContain('member')
        await expect(openSet(namespaces)).rejects.toMatchObject({
          code: expect.stringMatching(/ERR_GPUNVME_(NO_SET|SET_UNFINISHED)/) as string,
        })
        set = await create(namespaces, false)
      }
      await expect(openImage(set)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
    })
    expect(seen).toEqual(new Set(['absent', 'begun', 'complete']))
    const set = await openSet(on(afterCut(recorded, recorded.journal.length, () => true)))
    await pack(await smallModel(), set)
    expect(await verifyImage(set)).toMatchObject({ ok: true })
  },
)

test.each(creations)('a %s that replaces one of the same shape never has its models', async (_, create) => {
  const media = Array.from({ length: MEMBERS }, () => new Uint8Array(CAPACITY_BYTES))
  const old = await create(on(media), false)
  await pack(await smallModel(), old)
  await judgeCuts(await record(create, media, true), async (left) => {
    const opened = await openSet(on(left)).catch(() => undefined)
    if (opened === undefined || opened.setId === old.setId) return
    await expect(openImage(opened)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })
})
