import fc from 'fast-check'
import type { JournalEntry } from './memory-namespace.js'

/** What was on the media, and all that was done to them since. */
export interface Recording {
  readonly before: Uint8Array
  readonly journal: readonly JournalEntry[]
}

/**
 * What is on the media after a power failure: everything up to the last flush before the cut, and of what was
 * written after it whatever `survives` says - a drive with a write cache may keep any of it, in any order.
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

/** The first thing that changed a byte of the media. */
export function firstChange({ before, journal }: Recording): number {
  return journal.findIndex(
    (entry) =>
      entry.kind === 'write' &&
      Buffer.compare(entry.content, before.subarray(entry.offsetBytes, entry.offsetBytes + entry.content.length)) !== 0,
  )
}

/** Looks at what is left by each of these cuts, with all that was written until then, and with any of it lost. */
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
