import { activeNamespaces } from '../admin.js'
import { blockPattern, get, put, sameBytes, spaceOf, type Space } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

const needsCopy = (facts: ControllerFacts) =>
  (facts.oncs & 0x100) !== 0 ? needsBlocks(facts) : 'ONCS bit 8 is 0: no Copy'

type Range = readonly [slba: number, blocks: number]

/** Submits Copy (19h): source ranges of 32 bytes in format 0h (NVM 1.2 Figure 39), DESFMT in CDW12 bits 11:8. */
function copy(host: CaseHost, { nsid }: Space, to: number, ranges: readonly Range[], format = 0): Promise<Completed> {
  const memory = host.alloc(32 * ranges.length, { fill: 0 })
  ranges.forEach(([slba, blocks], index) => {
    memory.set64(32 * index + 8, slba)
    memory.set32(32 * index + 16, blocks - 1)
  })
  const { pageBytes } = host
  const prp2 = memory.lengthBytes > pageBytes ? memory.iova(pageBytes) : 0
  const cdw = { 10: to % 2 ** 32, 11: Math.floor(to / 2 ** 32), 12: (ranges.length - 1) | (format << 8) }
  return host.command(1, { opcode: 0x19, nsid, prp1: memory.iova(), prp2, cdw })
}

/** Returns MSSRL, MCL, and MSRC as a count (NVM 1.2 Figure 114). */
function limits({ view }: Space) {
  return { range: view.getUint16(74, true), total: view.getUint32(76, true), ranges: view.getUint8(80) + 1 }
}

/** Returns a namespace that supports Copy; writes a pattern to its blocks 0 to 127, and creates a queue pair. */
async function patterned(host: CaseHost): Promise<{ space: Space; bytes: Uint8Array }> {
  await host.startWithPair()
  for (const nsid of await activeNamespaces(host)) {
    const space = await spaceOf(host, nsid)
    const { range, total } = limits(space)
    if (space.metadataBytes > 0 || space.blocks < 256 || range === 0 || total === 0) continue
    const bytes = blockPattern(0, 128, space.blockBytes, 30)
    await put(host, space, 0, bytes)
    return { space, bytes }
  }
  return notApplicable('no namespace of 256 blocks or more has Copy limits above 0h')
}

/** NVM 1.2 §3.3.2. */
export const copyCases: readonly ControllerCase[] = [
  {
    id: 'copy-limits-are-given',
    title: 'If Copy is supported, MSSRL and MCL are not 0h, and MCL is not below MSSRL',
    spec: 'NVM 1.2 §4.1.5.1, Figure 114',
    needs: needsCopy,
    async run(host) {
      await host.start()
      for (const nsid of await activeNamespaces(host)) {
        const { range, total } = limits(await spaceOf(host, nsid))
        check(range > 0, `MSSRL of namespace ${nsid} is not 0h`)
        check(total >= range, `MCL ${total} of namespace ${nsid} is not below its MSSRL ${range}`)
      }
    },
  },
  {
    id: 'copy-one-range',
    title: 'Copy of a range makes the destination equal to the source, and changes nothing else',
    spec: 'NVM 1.2 §3.3.2',
    needs: needsCopy,
    async run(host) {
      const { bytes, space } = await patterned(host)
      const { blockBytes } = space
      const count = Math.min(16, limits(space).range)
      success(await copy(host, space, 64, [[7, count]]))
      const wanted = bytes.slice()
      wanted.set(bytes.subarray(7 * blockBytes, (7 + count) * blockBytes), 64 * blockBytes)
      sameBytes('the blocks', await get(host, space, 0, 128), wanted)
    },
  },
  {
    id: 'copy-several-ranges',
    title: 'Copy writes its source ranges consecutively in the order of their entries',
    spec: 'NVM 1.2 §3.3.2, Figure 41',
    needs: needsCopy,
    async run(host) {
      const { bytes, space } = await patterned(host)
      const { blockBytes } = space
      const ranges = (
        [
          [20, 3],
          [2, 1],
          [30, 5],
          [20, 1],
        ] as const
      ).slice(0, limits(space).ranges)
      success(await copy(host, space, 100, ranges))
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
      const { bytes, space } = await patterned(host)
      const { range, total, ranges } = limits(space)
      if (ranges < 256) status(await copy(host, space, 64, new Array<Range>(ranges + 1).fill([0, 1])), '1/83')
      if (range < 0xffff) status(await copy(host, space, 64, [[0, range + 1]]), '1/83')
      const max = Math.floor(total / range) + 1
      if (max <= ranges && max * range > total)
        status(await copy(host, space, 64, new Array<Range>(max).fill([0, range])), '1/83')
      sameBytes('the blocks', await get(host, space, 0, 128), bytes)
    },
  },
  {
    id: 'copy-out-of-range',
    title: 'Copy from or to beyond the last LBA is aborted with LBA Out of Range; DW0 is the first range not copied',
    spec: 'NVM 1.2 §3.1, Figure 17; §3.3.2.5',
    needs: needsCopy,
    async run(host) {
      const { space } = await patterned(host)
      const { blocks } = space
      const from = await copy(host, space, 64, [[blocks - 1, 2]])
      status(from, '0/80')
      equal('DW0', from.dw0, 0)
      status(await copy(host, space, blocks - 1, [[0, 2]]), '0/80')
      status(await copy(host, space, blocks, [[0, 1]]), '0/80')
    },
  },
  {
    id: 'copy-format-not-supported',
    title: 'A Copy Descriptor Format that CDFS does not list is an Invalid Field in Command',
    spec: 'NVM 1.2 §3.3.2, Figure 34',
    needs: needsCopy,
    async run(host) {
      const { bytes, space } = await patterned(host)
      status(await copy(host, space, 64, [[0, 1]], 0xf), '0/02')
      sameBytes('the blocks', await get(host, space, 0, 128), bytes)
    },
  },
]
