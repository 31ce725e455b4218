import { blockPattern, firstSpace, get, put, sameBytes } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { Completed } from '../entry.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

const needsCopy = (facts: ControllerFacts) =>
  (facts.oncs & 0x100) !== 0 ? needsBlocks(facts) : 'ONCS bit 8 is 0: no Copy'

type Range = readonly [slba: number, blocks: number]

/** Copy (19h) to `to`; source ranges of 32 bytes in format 0h (NVM 1.2 Figure 39), DESFMT in CDW12 bits 11:8. */
function copy(host: CaseHost, to: number, ranges: readonly Range[], format = 0): Promise<Completed> {
  const memory = host.alloc(32 * ranges.length, { fill: 0 })
  ranges.forEach(([slba, blocks], index) => {
    memory.set64(32 * index + 8, slba)
    memory.set32(32 * index + 16, blocks - 1)
  })
  const { pageBytes } = host
  const prp2 = memory.lengthBytes > pageBytes ? memory.iova(pageBytes) : 0
  const cdw = { 10: to % 2 ** 32, 11: Math.floor(to / 2 ** 32), 12: (ranges.length - 1) | (format << 8) }
  return host.command(1, { opcode: 0x19, nsid: 1, prp1: memory.iova(), prp2, cdw })
}

/** MSSRL, MCL, and MSRC as a count (NVM 1.2 Figure 114). */
function limits({ facts }: CaseHost) {
  const { namespace } = facts
  return {
    range: namespace.getUint16(74, true),
    total: namespace.getUint32(76, true),
    ranges: namespace.getUint8(80) + 1,
  }
}

/** Blocks 0 to 127 with a pattern, and a queue pair. */
async function patterned(host: CaseHost): Promise<Uint8Array> {
  await host.startWithPair()
  const space = firstSpace(host)
  if (space.blocks < 256) notApplicable(`namespace 1 has ${space.blocks} blocks`)
  const bytes = blockPattern(0, 128, space.blockBytes, 30)
  await put(host, space, 0, bytes)
  return bytes
}

/** NVM 1.2 §3.3.2. */
export const copyCases: readonly ControllerCase[] = [
  {
    id: 'copy-limits-are-given',
    title: 'With Copy there are MSSRL and MCL that are not 0h, and MCL is not below MSSRL',
    spec: 'NVM 1.2 §4.1.5.1, Figure 114',
    needs: needsCopy,
    run(host) {
      const { range, total } = limits(host)
      check(range > 0, 'MSSRL is not 0h')
      check(total >= range, `MCL ${total} is not below MSSRL ${range}`)
      return Promise.resolve()
    },
  },
  {
    id: 'copy-one-range',
    title: 'Copy of a range makes the destination equal to the source, and changes nothing else',
    spec: 'NVM 1.2 §3.3.2',
    needs: needsCopy,
    async run(host) {
      const bytes = await patterned(host)
      const space = firstSpace(host)
      const { blockBytes } = space
      const count = Math.min(16, limits(host).range)
      success(await copy(host, 64, [[7, count]]))
      const wanted = bytes.slice()
      wanted.set(bytes.subarray(7 * blockBytes, (7 + count) * blockBytes), 64 * blockBytes)
      sameBytes('the blocks', await get(host, space, 0, 128), wanted)
    },
  },
  {
    id: 'copy-several-ranges',
    title: 'Copy puts its source ranges one after the other in the order of their entries',
    spec: 'NVM 1.2 §3.3.2, Figure 41',
    needs: needsCopy,
    async run(host) {
      const bytes = await patterned(host)
      const space = firstSpace(host)
      const { blockBytes } = space
      const ranges = (
        [
          [20, 3],
          [2, 1],
          [30, 5],
          [20, 1],
        ] as const
      ).slice(0, limits(host).ranges)
      success(await copy(host, 100, ranges))
      const wanted = bytes.slice()
      let to = 100
      for (const [slba, blocks] of ranges) {
        wanted.set(bytes.subarray(slba * blockBytes, (slba + blocks) * blockBytes), to * blockBytes)
        to += blocks
      }
      sameBytes('the blocks', await get(host, space, 0, 128), wanted)
    },
  },
  {
    id: 'copy-above-its-limits',
    title: 'Copy of more ranges than MSRC, a range above MSSRL or more than MCL in all is Command Size Limit Exceeded',
    spec: 'NVM 1.2 §3.3.2, Figure 42',
    needs: needsCopy,
    async run(host) {
      const bytes = await patterned(host)
      const { range, total, ranges } = limits(host)
      if (ranges < 256) status(await copy(host, 64, new Array<Range>(ranges + 1).fill([0, 1])), '1/83')
      if (range < 0xffff) status(await copy(host, 64, [[0, range + 1]]), '1/83')
      const most = Math.floor(total / range) + 1
      if (most <= ranges && most * range > total)
        status(await copy(host, 64, new Array<Range>(most).fill([0, range])), '1/83')
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 128), bytes)
    },
  },
  {
    id: 'copy-out-of-range',
    title: 'Copy from or to beyond the last LBA is aborted with LBA Out of Range; DW0 is the first range not copied',
    spec: 'NVM 1.2 §3.1, Figure 17; §3.3.2.5',
    needs: needsCopy,
    async run(host) {
      await patterned(host)
      const { blocks } = host.facts
      const from = await copy(host, 64, [[blocks - 1, 2]])
      status(from, '0/80')
      equal('DW0', from.dw0, 0)
      status(await copy(host, blocks - 1, [[0, 2]]), '0/80')
      status(await copy(host, blocks, [[0, 1]]), '0/80')
    },
  },
  {
    id: 'copy-format-not-supported',
    title: 'A Copy Descriptor Format that CDFS does not list is an Invalid Field in Command',
    spec: 'NVM 1.2 §3.3.2, Figure 34',
    needs: needsCopy,
    async run(host) {
      const bytes = await patterned(host)
      status(await copy(host, 64, [[0, 1]], 0xf), '0/02')
      sameBytes('the blocks', await get(host, firstSpace(host), 0, 128), bytes)
    },
  },
]
