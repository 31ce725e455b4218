import { activeNamespaces } from '../admin.js'
import { blockCommand, filledWith, sameBytes, spaceOf, withPrps, type Space } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, notApplicable, success } from '../check.js'
import type { CaseHost } from '../host.js'
import { prps } from '../io.js'

const WRITE = 0x01
const READ = 0x02

/** Writes and Reads of blocks with metadata. */
export const metadataCases: readonly ControllerCase[] = [
  {
    id: 'rw-metadata-separate',
    title: 'Metadata in a separate buffer are written from and read to MPTR, block by block',
    spec: 'Base 2.3 §4.1.1; NVM 1.2 §3.3.4, Figure 116',
    async run(host) {
      const space = await metadataSpace(host, false)
      const { nsid, blockBytes, metadataBytes } = space
      const [data, metadata] = [host.alloc(4 * blockBytes), host.alloc(4 * metadataBytes)]
      data.fillPattern(8)
      metadata.fillPattern(9)
      const move = async (opcode: number, slba: number, count: number) => {
        const entry = withPrps(blockCommand(opcode, nsid, slba, count), prps(host, data, 0, count * blockBytes))
        success(await host.command(1, { ...entry, mptr: metadata.iova() }))
      }
      const wanted = [data.read(), metadata.read()] as const
      await move(WRITE, 20, 4)
      data.fill(0xa5)
      metadata.fill(0xa5)
      await move(READ, 21, 2)
      sameBytes('data', data.read(0, 2 * blockBytes), wanted[0].subarray(blockBytes, 3 * blockBytes))
      sameBytes('metadata', metadata.read(0, 2 * metadataBytes), wanted[1].subarray(metadataBytes, 3 * metadataBytes))
      filledWith('memory after the metadata', metadata.read(2 * metadataBytes), 0xa5)
    },
  },
  {
    id: 'rw-metadata-extended',
    title: 'Metadata of an extended format follow the data of each block',
    spec: 'NVM 1.2 §4.1.5.1, Figures 114 and 116',
    async run(host) {
      const space = await metadataSpace(host, true)
      const whole = space.blockBytes + space.metadataBytes
      const data = host.alloc(4 * whole)
      data.fillPattern(10)
      const wanted = data.read()
      const move = async (opcode: number, slba: number, count: number) => {
        const pointer = prps(host, data, 0, count * whole)
        success(await host.command(1, withPrps(blockCommand(opcode, space.nsid, slba, count), pointer)))
      }
      await move(WRITE, 20, 4)
      data.fill(0xa5)
      await move(READ, 21, 2)
      sameBytes('blocks with metadata', data.read(0, 2 * whole), wanted.subarray(whole, 3 * whole))
      filledWith('memory after the blocks', data.read(2 * whole), 0xa5)
    },
  },
]

/** Returns the first namespace with this kind of metadata, without protection information, and creates a queue pair. */
async function metadataSpace(host: CaseHost, isExtended: boolean): Promise<Space> {
  await host.startWithPair()
  for (const nsid of await activeNamespaces(host)) {
    const space = await spaceOf(host, nsid)
    const isPlain = (space.view.getUint8(29) & 7) === 0
    if (space.metadataBytes > 0 && space.isExtended === isExtended && isPlain) {
      check(space.blocks > 32, `namespace ${nsid} has more than 32 blocks`)
      return space
    }
  }
  return notApplicable(`no namespace has ${isExtended ? 'extended blocks' : 'metadata in a separate buffer'}`)
}
