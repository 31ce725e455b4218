import { inactiveNamespace } from '../admin.js'
import { atOffset, blockPattern, get, movesExactly, put, spaceOf, type Space } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

const needsFormat = (facts: ControllerFacts) =>
  (facts.oacs & 2) !== 0 ? needsBlocks(facts) : 'OACS bit 1 is 0: no Format NVM'

/** Sends Format NVM (80h). CDW10: LBAFL in bits 3:0, MSET in 4, PI in 7:5, SES in 11:9. */
const format = (host: CaseHost, cdw10: number, nsid = 1): Promise<Completed> =>
  host.admin({ opcode: 0x80, nsid, cdw: { 10: cdw10 } })

/** Returns LBAFL of the format of a namespace. */
const formatOf = ({ view }: Space) => view.getUint8(26) & 0xf

/** Returns the formats of namespace 1 by LBAFL, up to NLBAF and 15: block size (0 if not available), metadata size. */
function formatsOf({ view }: Space): { readonly blockBytes: number; readonly metadataBytes: number }[] {
  return Array.from({ length: Math.min(16, view.getUint8(25) + 1) }, (_, index) => {
    const lbads = view.getUint8(128 + 4 * index + 2)
    return { blockBytes: lbads === 0 ? 0 : 2 ** lbads, metadataBytes: view.getUint16(128 + 4 * index, true) }
  })
}

/** Base 2.3 §5.2.10. */
export const formatCases: readonly ControllerCase[] = [
  {
    id: 'format-erases',
    title: 'After Format NVM no earlier data are read, with and without a secure erase',
    spec: 'Base 2.3 §5.2.10',
    needs: needsFormat,
    async run(host) {
      for (const ses of [0, 1]) {
        await host.startWithPair()
        const space = await spaceOf(host, 1)
        const secret = blockPattern(16, 16, space.blockBytes, 40 + ses)
        await put(host, space, 16, secret)
        success(await format(host, formatOf(space) | (ses << 9)))
        const after = await spaceOf(host, 1)
        equal('FLBAS', after.view.getUint8(26), space.view.getUint8(26))
        equal('NSZE', after.blocks, space.blocks)
        const read = await get(host, after, 16, 16)
        for (let lba = 0; lba < 16; lba++) {
          const [was, is] = [secret, read].map((bytes) =>
            bytes.subarray(lba * space.blockBytes, (lba + 1) * space.blockBytes),
          )
          check(
            is!.some((byte, at) => byte !== was![at]),
            `block ${16 + lba} does not have its earlier content`,
          )
        }
        await movesExactly(host, atOffset(0), 3, { space: after })
        await host.disable()
      }
    },
  },
  {
    id: 'format-changes-the-block-size',
    title:
      'Format NVM to each format without metadata: Identify reports it, and Write and Read use blocks of that size',
    spec: 'Base 2.3 §5.2.10; NVM 1.2 §4.1.2',
    needs: needsFormat,
    async run(host) {
      await host.startWithPair()
      const before = await spaceOf(host, 1)
      const plain = formatsOf(before).flatMap(({ blockBytes, metadataBytes }, index) =>
        blockBytes > 0 && metadataBytes === 0 ? [index] : [],
      )
      if (plain.length < 2) notApplicable('there is only one format without metadata')
      for (const index of [...plain.filter((each) => each !== formatOf(before)), formatOf(before)]) {
        success(await format(host, index))
        const after = await spaceOf(host, 1)
        equal('FLBAS bits 3:0', formatOf(after), index)
        equal('the block size', after.blockBytes, formatsOf(before)[index]!.blockBytes)
        check(after.blocks > 0, 'NSZE is not 0h')
        await movesExactly(host, atOffset(0), 2, { space: after, slba: after.blocks - 2 })
      }
    },
  },
  {
    id: 'format-invalid',
    title: 'Format NVM above NLBAF, or with protection information but no metadata, is rejected with Invalid Format',
    spec: 'Base 2.3 §5.2.10, §5.2.10.1, Figures 193 and 194',
    needs: needsFormat,
    async run(host) {
      await host.startWithPair()
      const space = await spaceOf(host, 1)
      const formats = formatsOf(space)
      const missing = formats.length < 16 ? formats.length : formats.findIndex(({ blockBytes }) => blockBytes === 0)
      if (missing >= 0) status(await format(host, missing), '1/0a')
      status(await format(host, formatOf(space) | (1 << 5)), '1/0a', '0/02')
      equal('FLBAS', (await spaceOf(host, 1)).view.getUint8(26), space.view.getUint8(26))
      await movesExactly(host, atOffset(0), 1, { space })
    },
  },
  {
    id: 'format-secure-erase-reserved',
    title: 'A reserved value of SES is rejected with Invalid Field in Command, and no data are lost',
    spec: 'Base 2.3 §5.2.10, Figure 193',
    needs: needsFormat,
    async run(host) {
      await host.startWithPair()
      const space = await spaceOf(host, 1)
      const bytes = blockPattern(0, 8, space.blockBytes, 42)
      await put(host, space, 0, bytes)
      for (const ses of [3, 7]) status(await format(host, formatOf(space) | (ses << 9)), '0/02')
      const after = await get(host, space, 0, 8)
      check(
        bytes.every((byte, at) => byte === after[at]),
        'the blocks have their earlier content',
      )
    },
  },
  {
    id: 'format-namespaces',
    title: 'Format NVM of an unallocated NSID is rejected; of FFFFFFFFh it follows FNA',
    spec: 'Base 2.3 §5.2.10, Figure 192',
    needs: needsFormat,
    async run(host) {
      await host.start()
      const space = await spaceOf(host, 1)
      const { nn, fna } = host.facts
      for (const nsid of nn < 0xffff_fffe ? [0, nn + 1] : [0]) {
        status(await format(host, formatOf(space), nsid), '0/0b', '0/02')
      }
      const inactive = await inactiveNamespace(host)
      // If the NSID is allocated, the unattached namespace is formatted.
      if (inactive !== undefined) status(await format(host, formatOf(space), inactive), '0/02', '0/00')
      if ((fna & 8) !== 0) status(await format(host, formatOf(space), 0xffff_ffff), '0/02')
      else status(await format(host, formatOf(space), 0xffff_ffff), '0/00', '1/0a')
    },
  },
]
