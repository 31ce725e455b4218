import { activeNamespaces, askIdentify, identify, inactiveNamespace, namespaceList, needsVersion } from '../admin.js'
import { filledWith, sameBytes, spaceOf } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { check, equal, fail, notApplicable, oneOf, status } from '../check.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'

const ALL = 0xffff_ffff

const needsManagement = ({ oacs }: ControllerFacts) =>
  (oacs & 0x8) !== 0 ? undefined : 'OACS bit 3 is 0: no Namespace Management'

const bytesOf = (view: DataView) => new Uint8Array(view.buffer)

/** Lengths of namespace identifiers by type, 1h to 4h. */
const identifierBytes = [0, 8, 16, 16, 1]

/** Returns the Namespace Identification Descriptors up to NIDL = 0h, and the offset of their end. */
function descriptors(list: DataView): { readonly found: Map<number, Uint8Array>; readonly end: number } {
  const found = new Map<number, Uint8Array>()
  let at = 0
  while (at < 4092 && list.getUint8(at + 1) !== 0) {
    const [type, length] = [list.getUint8(at), list.getUint8(at + 1)]
    oneOf('NIDT', type, [1, 2, 3, 4])
    equal(`NIDL of NIDT ${type}h`, length, identifierBytes[type]!)
    check(!found.has(type), `no two descriptors of NIDT ${type}h`)
    found.set(type, bytesOf(list).slice(at + 4, at + 4 + length))
    at += 4 + length
  }
  return { found, end: at }
}

async function bothLists(host: CaseHost, run: (cns: number) => Promise<void>): Promise<void> {
  for (const cns of host.facts.vs >= 0x0002_0000 ? [0x02, 0x07] : [0x02]) await run(cns)
}

/** Base 2.3 §5.2.13. */
export const identifyCases: readonly ControllerCase[] = [
  {
    id: 'identify-controller-fields',
    title: 'Identify Controller: VER equals VS, entries of 64 and 16 bytes are supported, NN is not 0h, text is ASCII',
    spec: 'Base 2.3 §5.2.13.2.1, Figure 328',
    async run(host) {
      await host.start()
      const view = await identify(host, 0x01)
      if (host.facts.vs >= 0x0001_0200) equal('VER', view.getUint32(80, true), host.facts.vs)
      equal('SQES bits 3:0', view.getUint8(512) & 0xf, 6)
      equal('CQES bits 3:0', view.getUint8(513) & 0xf, 4)
      check(view.getUint8(512) >>> 4 >= 6, 'SQES bits 7:4 are at least 6')
      check(view.getUint8(513) >>> 4 >= 4, 'CQES bits 7:4 are at least 4')
      check(view.getUint32(516, true) !== 0, 'NN is not 0h')
      if (host.facts.vs >= 0x0001_0400) equal('CNTRLTYPE', view.getUint8(111), 1)
      for (const [name, from, to] of [
        ['SN', 4, 24],
        ['MN', 24, 64],
        ['FR', 64, 72],
      ] as const) {
        const text = bytesOf(view).subarray(from, to)
        check(
          text.every((byte) => byte >= 0x20 && byte <= 0x7e),
          `${name} is printable ASCII, padded with spaces`,
        )
      }
    },
  },
  {
    id: 'identify-namespace-fields',
    title:
      'Identify Namespace of each active NSID: NSZE >= NCAP >= NUSE, and FLBAS names a format of blocks of 512 or more',
    spec: 'NVM 1.2 §2.1, §4.1.5.1, Figures 114 and 116',
    async run(host) {
      await host.start()
      for (const nsid of await activeNamespaces(host)) {
        const { view, blockBytes } = await spaceOf(host, nsid)
        const [nsze, ncap, nuse] = [0, 8, 16].map((at) => view.getBigUint64(at, true)) as [bigint, bigint, bigint]
        check(nsze > 0n, `NSZE of namespace ${nsid} is not 0h`)
        check(nsze >= ncap && ncap >= nuse, `${nsid}: NSZE ${nsze} >= NCAP ${ncap} >= NUSE ${nuse}`)
        if ((view.getUint8(24) & 1) === 0) equal(`NCAP of namespace ${nsid} without THINP`, ncap, nsze)
        const [nlbaf, flbas] = [view.getUint8(25), view.getUint8(26)]
        const index = (flbas & 0xf) | (nlbaf > 15 ? (flbas >> 1) & 0x30 : 0)
        check(index <= nlbaf, `FLBAS of namespace ${nsid} is a format up to NLBAF ${nlbaf}, got ${index}`)
        check(blockBytes >= 512, `blocks of namespace ${nsid} have 512 bytes or more, got ${blockBytes}`)
        equal(`FPI of namespace ${nsid}, bits 6:0`, view.getUint8(32) & 0x7f, 0)
      }
    },
  },
  {
    id: 'identify-active-list',
    title: 'The Active Namespace ID list is in increasing order, begins above NSID, and its unused entries are zero',
    spec: 'Base 2.3 §5.2.13.2.2, §4.6.2',
    async run(host) {
      await host.start()
      const list = await identify(host, 0x02)
      const active = namespaceList(list)
      filledWith('the list after its last entry', bytesOf(list).subarray(4 * active.length), 0)
      equal(
        'the list, in increasing order',
        active,
        [...active].sort((a, b) => a - b),
      )
      check(
        active.every((nsid) => nsid <= host.facts.nn),
        `no NSID is above NN = ${host.facts.nn}`,
      )
      await bothLists(host, async (cns) => {
        for (const after of [0, ...active]) {
          equal(
            `CNS ${cns}h above ${after}`,
            namespaceList(await identify(host, cns, { nsid: after })),
            active.filter((nsid) => nsid > after),
          )
        }
      })
    },
  },
  {
    id: 'identify-active-list-limits',
    title: 'The Active Namespace ID list of NSID FFFFFFFEh or FFFFFFFFh is aborted with Invalid Namespace or Format',
    spec: 'Base 2.3 §5.2.13.2.2',
    async run(host) {
      await host.start()
      for (const nsid of [0xffff_fffe, ALL]) status(await askIdentify(host, 0x02, { nsid }), '0/0b')
    },
  },
  {
    id: 'identify-inactive-namespace',
    title: 'Identify Namespace of an inactive NSID returns zeroes',
    spec: 'Base 2.3 §3.2.1.6, §5.2.13.2.5',
    async run(host) {
      await host.start()
      const nsid = await inactiveNamespace(host)
      if (nsid === undefined) notApplicable('every valid NSID is active')
      for (const cns of host.facts.vs >= 0x0002_0000 ? [0x00, 0x05, 0x08] : [0x00]) {
        filledWith(`CNS ${cns}h of NSID ${nsid}`, bytesOf(await identify(host, cns, { nsid })), 0)
      }
    },
  },
  {
    id: 'identify-invalid-namespace',
    title: 'Identify Namespace of NSID 0h, or of one above NN, is aborted with Invalid Namespace or Format',
    spec: 'Base 2.3 §4.1.1, §3.2.1.2',
    async run(host) {
      await host.start()
      const { nn, vs } = host.facts
      for (const cns of vs >= 0x0002_0000 ? [0x00, 0x03, 0x05, 0x08] : [0x00, 0x03]) {
        for (const nsid of nn < 0xffff_fffe ? [0, nn + 1] : [0]) status(await askIdentify(host, cns, { nsid }), '0/0b')
      }
    },
  },
  {
    id: 'identify-broadcast-namespace',
    title:
      'Identify Namespace of NSID FFFFFFFFh returns the common capabilities, as required with Namespace Management',
    spec: 'Base 2.3 §5.2.13.2.5, §5.2.13.2.8',
    needs: needsVersion(2, 0),
    async run(host) {
      await host.start()
      for (const cns of [0x05, 0x08]) {
        const completed = await askIdentify(host, cns, { nsid: ALL })
        if (needsManagement(host.facts) === undefined) status(completed, '0/00')
        else status(completed, '0/00', '0/0b')
      }
    },
  },
  {
    id: 'identify-descriptor-list',
    title:
      'The Namespace Identification Descriptor list identifies the namespace, with each type once and of its length',
    spec: 'Base 2.3 §5.2.13.2.3',
    async run(host) {
      await host.start()
      for (const nsid of await activeNamespaces(host)) {
        const list = await identify(host, 0x03, { nsid })
        const { found, end } = descriptors(list)
        filledWith(`NSID ${nsid}: bytes after the descriptors`, bytesOf(list).subarray(end), 0)
        check(
          [1, 2, 3].some((type) => found.has(type)),
          `a descriptor of NIDT 1h, 2h or 3h for namespace ${nsid}`,
        )
        const { view } = await spaceOf(host, nsid)
        for (const [name, type, from, to] of [
          ['EUI64', 1, 120, 128],
          ['NGUID', 2, 104, 120],
        ] as const) {
          const given = bytesOf(view).subarray(from, to)
          const wanted = given.every((byte) => byte === 0) ? undefined : given
          if (wanted === undefined) check(!found.has(type), `no descriptor of NIDT ${type}h where ${name} is 0h`)
          else if (found.has(type)) sameBytes(`NID of NIDT ${type}h and ${name}`, found.get(type)!, wanted)
        }
        if ((host.facts.css & 0x40) !== 0) equal('NID of NIDT 4h, CSI', found.get(4)?.[0] ?? -1, 0)
      }
    },
  },
  {
    id: 'identify-descriptor-list-limits',
    title:
      'The Namespace Identification Descriptor list of NSID FFFFFFFEh or FFFFFFFFh is an Invalid Namespace or Format',
    spec: 'Base 2.3 §5.2.13.2.3',
    async run(host) {
      await host.start()
      for (const nsid of [0xffff_fffe, ALL]) status(await askIdentify(host, 0x03, { nsid }), '0/0b')
      const inactive = await inactiveNamespace(host)
      if (inactive !== undefined) status(await askIdentify(host, 0x03, { nsid: inactive }), '0/02')
    },
  },
  {
    id: 'identify-command-set-controller',
    title:
      'CNS 06h returns the data structure of the NVM Command Set, and Invalid Field for an unsupported command set',
    spec: 'Base 2.3 §5.2.13.2.6; NVM 1.2 Figure 120',
    needs: needsVersion(2, 0),
    async run(host) {
      await host.start()
      const view = await identify(host, 0x06)
      // The Dataset Management limits DMRL, DMRSL and DMSL are either all set or all 0h.
      const limits = [BigInt(view.getUint8(3)), BigInt(view.getUint32(4, true)), view.getBigUint64(8, true)]
      const given = limits.filter((limit) => limit !== 0n).length
      oneOf('DMRL, DMRSL and DMSL that are not 0h', given, [0, 3])
      status(await askIdentify(host, 0x06, { csi: 0x2f }), '0/02')
    },
  },
  {
    id: 'identify-command-set-namespace',
    title: 'CNS 05h, 07h and 08h report each active namespace of the NVM Command Set, as ready',
    spec: 'Base 2.3 §5.2.13.2.5, §5.2.13.2.7, §5.2.13.2.8',
    needs: needsVersion(2, 0),
    async run(host) {
      await host.start()
      const active = await activeNamespaces(host)
      equal('CNS 07h', namespaceList(await identify(host, 0x07)), active)
      for (const nsid of active) {
        await identify(host, 0x05, { nsid })
        const independent = await identify(host, 0x08, { nsid })
        equal(`NSTAT.NRDY of namespace ${nsid}`, independent.getUint8(14) & 1, 1)
        const { view } = await spaceOf(host, nsid)
        equal(`NMIC of namespace ${nsid}`, independent.getUint8(1), view.getUint8(30))
        equal(`NSATTR of namespace ${nsid}`, independent.getUint8(8), view.getUint8(99))
      }
      status(await askIdentify(host, 0x07, { csi: 0x2f }), '0/02')
    },
  },
  {
    id: 'identify-io-command-sets',
    title: 'CNS 1Ch lists the NVM Command Set in a combination, and no combination after the first empty one',
    spec: 'Base 2.3 §5.2.13.2.19',
    needs: ({ css }) => ((css & 0x40) !== 0 ? undefined : 'CAP.CSS.IOCSS is 0'),
    async run(host) {
      await host.start()
      for (const cntid of [0xffff, host.facts.controller.getUint16(78, true)]) {
        const view = await identify(host, 0x1c, { cntid })
        const vectors = Array.from({ length: 512 }, (_, index) => view.getBigUint64(index * 8, true))
        check(vectors[0] !== 0n, 'I/O Command Set Combination 0 is not empty')
        check(
          vectors.some((vector) => (vector & 1n) !== 0n),
          'a combination includes the NVM Command Set',
        )
        const end = vectors.indexOf(0n)
        check(
          vectors.slice(end).every((vector) => vector === 0n),
          'no combination follows an empty one',
        )
      }
    },
  },
  {
    id: 'identify-reserved-cns',
    title: 'Identify with a reserved CNS is aborted with Invalid Field in Command, and no byte is written',
    spec: 'Base 2.3 §5.2.13.1, Figure 326',
    async run(host) {
      await host.start()
      for (const cns of [0x0b, 0x0f, 0x80, 0xff]) {
        const memory = host.alloc(4096)
        status(await askIdentify(host, cns, {}, memory), '0/02')
        filledWith(`memory of CNS ${cns.toString(16)}h`, memory.read(), 0xa5)
      }
    },
  },
  {
    id: 'identify-without-nsid',
    title: 'Identify Controller does not use NSID: any value but 0h is aborted with Invalid Field in Command',
    spec: 'Base 2.3 §4.1.1, Figure 326',
    async run(host) {
      await host.start()
      for (const nsid of [1, ALL]) status(await askIdentify(host, 0x01, { nsid }), '0/02')
    },
  },
  {
    id: 'identify-data-pointer',
    title: 'Identify writes exactly 4096 bytes at PRP1, and from its page on at PRP2',
    spec: 'Base 2.3 §5.2.13.1, §4.1.1, §4.3.1',
    async run(host) {
      await host.start()
      const wanted = bytesOf(await identify(host, 0x01))
      const { pageBytes } = host
      for (const offset of [4, 512, 2048, pageBytes - 4]) {
        const [first, second] = [host.alloc(pageBytes), host.alloc(pageBytes)]
        const fits = Math.min(4096, pageBytes - offset)
        const prp2 = fits < 4096 ? second.iova() : 0
        status(await host.admin({ opcode: 0x06, prp1: first.iova(offset), prp2, cdw: { 10: 0x01 } }), '0/00')
        const got = new Uint8Array(4096)
        got.set(first.read(offset, fits))
        got.set(second.read(0, 4096 - fits), fits)
        sameBytes(`Identify Controller at byte ${offset} of a page`, got, wanted)
        filledWith('the page of PRP1 before the data', first.read(0, offset), 0xa5)
        filledWith('the page of PRP2 after the data', second.read(4096 - fits), 0xa5)
      }
    },
  },
  {
    id: 'identify-allocated-namespaces',
    title: 'Every active namespace is in the Allocated Namespace ID list, and CNS 11h returns the same as CNS 00h',
    spec: 'Base 2.3 §5.2.13.2.9, §5.2.13.2.10',
    needs: needsManagement,
    async run(host) {
      await host.start()
      const allocated = namespaceList(await identify(host, 0x10))
      for (const nsid of await activeNamespaces(host)) {
        check(allocated.includes(nsid), `namespace ${nsid} is in the Allocated Namespace ID list`)
        const views = [await identify(host, 0x00, { nsid }), await identify(host, 0x11, { nsid })] as const
        sameBytes(`CNS 11h and CNS 00h of namespace ${nsid}`, bytesOf(views[1]), bytesOf(views[0]))
      }
      for (const nsid of [0xffff_fffe, ALL]) status(await askIdentify(host, 0x10, { nsid }), '0/0b')
      status(await askIdentify(host, 0x11, { nsid: ALL }), '0/0b')
    },
  },
  {
    id: 'identify-controller-lists',
    title:
      'The Controller Lists of the subsystem and of an attached namespace ascend from CNTID and contain this controller',
    spec: 'Base 2.3 §5.2.13.2.11, §5.2.13.2.12, §4.6.1',
    needs: (facts) => needsManagement(facts) ?? (facts.blocks === 0 ? 'namespace 1 is not active' : undefined),
    async run(host) {
      await host.start()
      const self = host.facts.controller.getUint16(78, true)
      const list = async (cns: number, nsid: number, cntid: number) => {
        const view = await identify(host, cns, { nsid, cntid })
        return Array.from({ length: view.getUint16(0, true) }, (_, index) => view.getUint16(2 + 2 * index, true))
      }
      for (const [cns, nsid] of [
        [0x13, 0],
        [0x12, 1],
      ] as const) {
        const ids = await list(cns, nsid, 0)
        check(ids.includes(self), `CNS ${cns.toString(16)}h has this controller, ${self}`)
        if (ids.some((id, index) => index > 0 && id <= ids[index - 1]!))
          fail(`expected ascending ids, got ${ids.join()}`)
        equal(
          'the list from CNTID on',
          await list(cns, nsid, self),
          ids.filter((id) => id >= self),
        )
        equal(
          'the list above this controller',
          await list(cns, nsid, self + 1),
          ids.filter((id) => id > self),
        )
      }
      status(await askIdentify(host, 0x12, { nsid: ALL }), '0/02')
    },
  },
]
