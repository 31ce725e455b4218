import type { Target } from './probe-steps.js'
import type { ProbeRefusal } from './probe-verdict.js'
import { hex } from './segments.js'

/** The whole memory at three times. */
export interface Images {
  readonly fill: Uint8Array
  readonly after: Uint8Array
  /** Content after the previous step. */
  readonly before: Uint8Array | undefined
}

/** A fault, and the first byte that shows it. */
export interface Fault {
  readonly reason: ProbeRefusal
  readonly message: string
  readonly facts: readonly string[]
}

/** Returns the fault of the memory after a step; undefined if every byte is correct. */
export function judge(
  { fill, after, before }: Images,
  targets: readonly Target[],
  pageBytes: number,
): Fault | undefined {
  const expected = fill.slice()
  for (const { offsetBytes, run, firstPage, pages } of targets)
    expected.set(run.bytes.subarray(firstPage * pageBytes, (firstPage + pages) * pageBytes), offsetBytes)
  if (Buffer.compare(after, expected) === 0) return undefined
  const at = firstDifference(after, expected)
  const fact = `first at byte ${at}: expected ${hex(expected[at] ?? 0)}, found ${hex(after[at] ?? 0)}`
  const answer = (reason: ProbeRefusal, message: string): Fault => ({ reason, message, facts: [fact] })
  if (Buffer.compare(after, fill) === 0) return answer('nothing-arrived', 'nothing arrived in the memory')
  if (before !== undefined && Buffer.compare(after, before) === 0)
    return answer('stale', 'the memory has the content from before it was filled')

  const inTarget = new Uint8Array(fill.length)
  for (const { offsetBytes, pages } of targets) inTarget.fill(1, offsetBytes, offsetBytes + pages * pageBytes)
  const count = { arrived: 0, untouched: 0, stale: 0, other: 0, neighbours: 0 }
  for (let index = 0; index < fill.length; index++) {
    const byte = after[index]
    if (inTarget[index] === 0) {
      if (byte !== fill[index]) count.neighbours++
    } else if (byte === expected[index]) count.arrived++
    else if (byte === fill[index]) count.untouched++
    else if (byte === before?.[index]) count.stale++
    else count.other++
  }
  const { arrived, untouched, stale, other, neighbours } = count
  const wrong = untouched + stale + other
  if (neighbours > 0 && wrong > 0)
    return answer(
      'wrong-place',
      `${neighbours} bytes outside the target changed, and ${wrong} bytes of the target are wrong`,
    )
  if (neighbours > 0) return answer('neighbours-written', `${neighbours} bytes outside the target changed`)
  // One byte in 256 is equal by chance, so the majority decides.
  if (untouched > stale + other && arrived > 0) return answer('partly-arrived', `${untouched} bytes did not arrive`)
  if (stale > other) return answer('stale', `${stale} bytes are those of the previous step`)
  return answer('wrong-content', `${wrong} bytes differ from the blocks`)
}

function firstDifference(one: Uint8Array, other: Uint8Array): number {
  let index = 0
  while (index < other.length && one[index] === other[index]) index++
  return index
}
