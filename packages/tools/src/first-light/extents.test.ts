import { expect, test } from 'vitest'
import { chooseExtents, compareReads, type Reference } from './extents.js'
import type { StepFacts } from './report.js'

const MIB = 1024 * 1024

test('chooseExtents includes the first and the last MiB, and whole blocks without overlaps between them', () => {
  const capacityBytes = 1_000_215_216 * 512
  for (const blockBytes of [512, 4096]) {
    const usable = Math.floor(capacityBytes / blockBytes) * blockBytes
    const extents = chooseExtents(usable, blockBytes)
    expect(extents).toHaveLength(16)
    expect(extents[0]).toEqual({ offsetBytes: 0, lengthBytes: MIB })
    expect(extents.at(-1)!.offsetBytes).toBe(usable - MIB)
    for (const [at, { offsetBytes }] of extents.entries()) {
      expect(offsetBytes % blockBytes).toBe(0)
      if (at > 0) expect(offsetBytes).toBeGreaterThanOrEqual(extents[at - 1]!.offsetBytes + MIB)
    }
  }
})

test.each([
  [0, []],
  [512, [[0, 512]]],
  [MIB + 512, [[0, MIB]]],
  [
    2 * MIB + 512,
    [
      [0, MIB],
      [MIB + 512, MIB],
    ],
  ],
])('chooseExtents stays in a namespace of %i bytes', (capacityBytes, expected) => {
  expect(chooseExtents(capacityBytes, 512).map(({ offsetBytes, lengthBytes }) => [offsetBytes, lengthBytes])).toEqual(
    expected,
  )
})

test('compareReads rejects bytes that differ, with their places, and counts bytes that did not arrive', () => {
  const contents = [new Uint8Array(512), Uint8Array.from({ length: 512 }, (_, at) => at & 0xff)]
  const found = contents.map((bytes) => bytes.slice())
  found[1]!.fill(0xa5, 500)
  found[1]![100]! ^= 1
  const extents = [0, 4096].map((offsetBytes) => ({ offsetBytes, lengthBytes: 512 }))
  const reference: Reference = {
    ...{ comparedWith: 'linux', nsid: 1, capacityBytes: 8192, blockBytes: 512 },
    ...{ extents, contents },
  }
  const facts: StepFacts[] = []
  expect(() => compareReads(reference, found, (each) => facts.push(each))).toThrow(
    "1 of 2 extents differ from Linux's block device\n" +
      '  at byte 4196: 13 bytes differ, 12 of them not written by the drive',
  )
  expect(facts).toEqual([
    {
      reads: {
        ...{ comparedWith: 'linux', extents: 2, bytes: 1024, uniform: 1 },
        differing: [
          { offsetBytes: 4096, lengthBytes: 512, firstDifference: 100, differingBytes: 13, untouchedBytes: 12 },
        ],
      },
    },
  ])
})
