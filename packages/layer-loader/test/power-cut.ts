import fc from 'fast-check'
import type { JournalEntry } from './memory-namespace.js'

/** Content of the media, and all writes and flushes since. */
export interface Recording {
  readonly before: Uint8Array
  readonly journal: readonly JournalEntry[]
}

/**
 * Returns the media after a power failure: all writes before the last flush, and those later writes before the cut
 * that `survives` selects. A drive with a volatile write cache may keep any subset of unflushed writes.
 */
export function afterCut(
  { before, journal }: Recording,
  cut: number,
  survives: (index: number) => boolean = () => true,
): Uint8Array {
  const media = before.slice()
  const done = journal.slice(0, cut)
  const flushed = done.findLastIndex(({ kind }) => kind === 'flush')
  done.forEach((entry, index) => {
    if (entry.kind === 'write' && (index < flushed || survives(index))) media.set(entry.content, entry.offsetBytes)
  })
  return media
}

/** Returns the index of the first journal entry that changed a byte of the media. */
export function firstChange({ before, journal }: Recording): number {
  return journal.findIndex(
    (entry) =>
      entry.kind === 'write' &&
      Buffer.compare(entry.content, before.subarray(entry.offsetBytes, entry.offsetBytes + entry.content.length)) !== 0,
  )
}

/** Judges the media after each of these cuts with all writes kept, then after random cuts with random writes lost. */
export async function judgeCuts(
  recording: Recording,
  cuts: readonly number[],
  judge: (media: Uint8Array, cut: number) => Promise<void>,
  numRuns = 60,
): Promise<void> {
  for (const cut of cuts) await judge(afterCut(recording, cut), cut)
  const survivors = fc.infiniteStream(fc.boolean())
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...cuts), survivors, async (cut, survives) => {
      await judge(
        afterCut(recording, cut, () => survives.next().value as boolean),
        cut,
      )
    }),
    { numRuns },
  )
}
