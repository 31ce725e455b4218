import { activeNamespaces, identify, namespaceList, readLog, setFeature } from '../admin.js'
import { atOffset, blockCommand, filledWith, movesExactly, spaceOf, withPrps } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, notApplicable, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'

const needsManagement = (facts: ControllerFacts) =>
  (facts.oacs & 8) !== 0 ? needsBlocks(facts) : 'OACS bit 3 is 0: no Namespace Management'

interface Wanted {
  readonly nsze: bigint
  readonly ncap?: bigint
  readonly flbas?: number
  readonly dps?: number
  readonly csi?: number
}

/** Sends Namespace Management (0Dh), Create. Host specified fields have the same offsets as in Identify Namespace. */
function create(host: CaseHost, { nsze, ncap = nsze, flbas = 0, dps = 0, csi = 0 }: Wanted): Promise<Completed> {
  const memory = host.alloc(4096, { fill: 0 })
  memory.set64(0, nsze)
  memory.set64(8, ncap)
  memory.write(26, Uint8Array.of(flbas))
  memory.write(29, Uint8Array.of(dps))
  return host.admin({ opcode: 0x0d, prp1: memory.iova(), cdw: { 10: 0, 11: csi << 24 } })
}

const remove = (host: CaseHost, nsid: number): Promise<Completed> => host.admin({ opcode: 0x0d, nsid, cdw: { 10: 1 } })

/** Namespace Attachment (15h): SEL 0h attaches, 1h detaches the controllers in the list. */
function attachment(host: CaseHost, nsid: number, select: number, controllers = [ownId(host)]): Promise<Completed> {
  const memory = host.alloc(4096, { fill: 0 })
  const list = Uint8Array.from([controllers.length, ...controllers].flatMap((id) => [id & 0xff, id >> 8]))
  memory.write(0, list)
  return host.admin({ opcode: 0x15, nsid, prp1: memory.iova(), cdw: { 10: select } })
}

const attach = (host: CaseHost, nsid: number) => attachment(host, nsid, 0)
const detach = (host: CaseHost, nsid: number) => attachment(host, nsid, 1)

/** Returns CNTLID of this controller. */
const ownId = ({ facts }: CaseHost) => facts.controller.getUint16(78, true)

const allocated = async (host: CaseHost) => namespaceList(await identify(host, 0x10))

/** Returns the first format without metadata. */
async function plainFormat(host: CaseHost): Promise<number> {
  const { view } = await spaceOf(host, 1)
  for (let index = 0; index <= Math.min(15, view.getUint8(25)); index++) {
    if (view.getUint8(128 + 4 * index + 2) >= 9 && view.getUint16(128 + 4 * index, true) === 0) return index
  }
  return notApplicable('every format has metadata')
}

/** Creates an unattached namespace of 256 blocks, calls `use`, and deletes the namespace also after an error. */
async function withNamespace(host: CaseHost, use: (nsid: number) => Promise<void>): Promise<void> {
  const created = await create(host, { nsze: 256n, flbas: await plainFormat(host) })
  if (created.status === '1/15') notApplicable('there is no unallocated capacity')
  success(created)
  const nsid = created.dw0
  try {
    await use(nsid)
  } finally {
    await remove(host, nsid)
  }
}

/** Base 2.3 §5.2.20, §5.2.21 and §8.1.16. */
export const namespaceCases: readonly ControllerCase[] = [
  {
    id: 'namespace-life',
    title: 'A namespace is created, attached, written, read, detached and deleted, and Identify reports each state',
    spec: 'Base 2.3 §5.2.20, §5.2.21, §3.2.1.3, §3.2.1.4',
    needs: needsManagement,
    async run(host) {
      await host.startWithPair()
      const before = [await activeNamespaces(host), await allocated(host)] as const
      await withNamespace(host, async (nsid) => {
        check(
          nsid >= 1 && nsid <= host.facts.nn && !before[1].includes(nsid),
          `${nsid} is a valid NSID that was not allocated`,
        )
        check((await allocated(host)).includes(nsid), `${nsid} is allocated`)
        equal('active namespaces after creating', await activeNamespaces(host), before[0])
        equal('NSZE by CNS 11h', (await identify(host, 0x11, { nsid })).getBigUint64(0, true), 256n)
        filledWith('CNS 00h of an inactive NSID', new Uint8Array((await identify(host, 0x00, { nsid })).buffer), 0)
        const read = withPrps(blockCommand(0x02, nsid, 0, 1), [host.alloc(4096).iova(), 0])
        status(await host.command(1, read), '0/02')

        success(await attach(host, nsid))
        check((await activeNamespaces(host)).includes(nsid), `${nsid} is active`)
        const space = await spaceOf(host, nsid)
        equal('NSZE', space.blocks, 256)
        await movesExactly(host, atOffset(0), 4, { space, slba: 252 })
        status(await host.command(1, withPrps(blockCommand(0x02, nsid, 256, 1), [host.alloc(4096).iova(), 0])), '0/80')

        success(await detach(host, nsid))
        equal('active namespaces after detaching', await activeNamespaces(host), before[0])
        status(await host.command(1, read), '0/02')
        success(await remove(host, nsid))
        equal('allocated namespaces after deleting', await allocated(host), before[1])
        status(await remove(host, nsid), '0/02')
      })
    },
  },
  {
    id: 'namespace-attachment-outlives-a-reset',
    title: 'An attached namespace stays attached across a Controller Reset, with its data',
    spec: 'Base 2.3 §5.2.20',
    needs: needsManagement,
    async run(host) {
      await host.startWithPair()
      await withNamespace(host, async (nsid) => {
        success(await attach(host, nsid))
        await movesExactly(host, atOffset(0), 2, { space: await spaceOf(host, nsid), slba: 100 })
        await host.disable()
        await host.startWithPair()
        check((await activeNamespaces(host)).includes(nsid), `${nsid} is active`)
        await movesExactly(host, atOffset(0), 2, { space: await spaceOf(host, nsid), slba: 100 })
      })
    },
  },
  {
    id: 'namespace-create-refusals',
    title: 'Create is rejected for an unsupported format, thin provisioning, another command set and too much capacity',
    spec: 'Base 2.3 §5.2.21.1, Figure 386',
    needs: needsManagement,
    async run(host) {
      await host.start()
      const flbas = await plainFormat(host)
      const before = await allocated(host)
      const { view } = await spaceOf(host, 1)
      if (view.getUint8(25) < 15) status(await create(host, { nsze: 256n, flbas: view.getUint8(25) + 1 }), '1/0a')
      status(await create(host, { nsze: 256n, flbas, dps: 1 }), '1/0a', '0/02')
      if ((view.getUint8(24) & 1) === 0) status(await create(host, { nsze: 256n, ncap: 128n, flbas }), '1/1b', '0/02')
      status(await create(host, { nsze: 2n ** 60n, flbas }), '1/15', '0/02')
      status(await create(host, { nsze: 256n, flbas, csi: 0x2f }), '1/29', '0/02')
      equal('allocated namespaces', await allocated(host), before)
    },
  },
  {
    id: 'namespace-attachment-refusals',
    title: 'Attaching twice, detaching an unattached namespace, and a list with an unknown controller are rejected',
    spec: 'Base 2.3 §5.2.20.1, Figure 381',
    needs: needsManagement,
    async run(host) {
      await host.start()
      await withNamespace(host, async (nsid) => {
        status(await detach(host, nsid), '1/1a')
        status(await attachment(host, nsid, 0, [0xfff0]), '1/1c')
        success(await attach(host, nsid))
        status(await attach(host, nsid), '1/18')
        status(await attachment(host, nsid, 0xf), '0/02')
        check((await activeNamespaces(host)).includes(nsid), `${nsid} is active`)
      })
    },
  },
  {
    id: 'namespace-management-of-wrong-nsids',
    title:
      'Attach and Delete of an NSID above NN are an Invalid Namespace or Format; a reserved SEL is an Invalid Field',
    spec: 'Base 2.3 §4.1.1, §5.2.20, §5.2.21',
    needs: needsManagement,
    async run(host) {
      await host.start()
      const { nn } = host.facts
      if (nn >= 0xffff_fffe) notApplicable('NN is the maximum')
      status(await attach(host, nn + 1), '0/0b')
      status(await remove(host, nn + 1), '0/0b')
      status(await host.admin({ opcode: 0x0d, nsid: 1, cdw: { 10: 0xf } }), '0/02')
      check((await allocated(host)).includes(1), 'namespace 1 still exists')
    },
  },
  {
    id: 'namespace-changes-are-listed',
    title:
      'An attached namespace is reported by an event and in the Changed Attached Namespace List, which a read clears',
    spec: 'Base 2.3 §5.2.12.1.5, §5.2.2.1, Figure 154; §8.1.16',
    needs: (facts) =>
      needsManagement(facts) ?? ((facts.oaes & 0x100) !== 0 ? undefined : 'OAES bit 8 is 0: no notices'),
    async run(host) {
      await host.start()
      await withNamespace(host, async (nsid) => {
        await readLog(host, 0x04, 4096)
        success(await setFeature(host, 0x0b, 0x100))
        const request = host.submit(0, { opcode: 0x0c })
        await host.expectQuiet(0, 'no event has occurred')
        const memory = host.alloc(4096, { fill: 0 })
        memory.set32(0, 1 | (ownId(host) << 16))
        host.submit(0, { opcode: 0x15, nsid, prp1: memory.iova() })
        await host.settle()
        const found = host.poll(0)
        found.forEach(success)
        const event = found.find(({ cid }) => cid === request)
        // A controller need not notify the host of changes that this host requested.
        if (event === undefined) notApplicable('the controller reports no changes that its host requested')
        equal('DW0: notice, 00h, log page 04h', event.dw0 & 0x00ff_ff07, 0x0004_0002)
        check(namespaceList(await readLog(host, 0x04, 4096)).includes(nsid), `${nsid} is in the list`)
        equal('the list, read again', namespaceList(await readLog(host, 0x04, 4096)), [])
      })
    },
  },
]
