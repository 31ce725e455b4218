import type { DriverCase } from '../case.js'
import { SECOND_NS } from '../time.js'
import { check, equal } from '../check.js'
import type { DriverContext } from '../context.js'
import { checkData } from '../data.js'
import { area, KNOWN, MIB, roundTrip, rule, store, withFaults, withoutAWrite } from './support.js'

async function metadataRefused(context: DriverContext, nsid: number): Promise<void> {
  const device = await context.device()
  const ctrl = await context.openReadOnly(device)
  const ns = ctrl.namespace(nsid)
  const memory = context.alloc(ns, device, 8192)
  const read = () => ns.read(0, 1, memory)
  await withoutAWrite(device, () =>
    context.expectRejected('read', read, { code: 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE', says: '8 bytes of metadata' }),
  )
}

/** Discovery and use of namespaces. */
export const namespaceCases: readonly DriverCase[] = [
  {
    id: 'nsid-not-1',
    title: 'Reads and writes a namespace with an NSID other than 1',
    spec: 'Base 2.1 §3.2.1; AGILE, vroom',
    time: 'any',
    needs: { namespaces: [{ nsid: 7 }] },
    async run(context) {
      const opened = await context.open()
      equal('NSID', opened.ns.nsid, 7)
      await roundTrip(opened, 32)
      await opened.ns.flush()
    },
  },
  {
    id: 'nsids-with-gaps',
    title: 'Reports the listed active namespaces, in increasing order of NSID',
    spec: 'Base 2.1 §5.1.13.2.2',
    time: 'any',
    needs: { namespaces: [{ nsid: 1 }, { nsid: 4, blockBytes: 4096 }, { nsid: 9 }] },
    async run(context) {
      const { ctrl } = await context.open()
      equal(
        'NSIDs',
        ctrl.namespaces.map(({ nsid }) => nsid),
        [1, 4, 9],
      )
      equal('block size', ctrl.namespaces.map(({ blockBytes }) => blockBytes).at(1), 4096)
      for (const nsid of [0, 2, 10, 0xffff_ffff]) {
        await context.expectRejected(`namespace ${nsid}`, () => ctrl.namespace(nsid), {
          code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND',
          says: 'active: 1, 4, 9',
        })
      }
    },
  },
  {
    id: 'namespaces-apart',
    title: 'Keeps the blocks of namespaces with the same LBA apart',
    spec: 'Base 2.1 §3.2.1',
    time: 'any',
    needs: { namespaces: [{ nsid: 1 }, { nsid: 4, blockBytes: 4096 }, { nsid: 9 }] },
    async run(context) {
      const opened = await context.open({ queues: 2 })
      const { ctrl, alloc } = opened
      for (const [seed, ns] of ctrl.namespaces.entries()) await store({ ...opened, ns }, 16, seed, 64)
      for (const [seed, ns] of ctrl.namespaces.entries()) {
        const memory = alloc(16 * ns.blockBytes)
        await ns.read(64, 16, memory)
        checkData(memory, seed)
      }
    },
  },
  {
    id: 'metadata-refused',
    title: 'Rejects reads of a namespace with metadata, and names the reason; submits nothing',
    spec: 'NVM 1.2 §5.2.3; vroom',
    time: 'any',
    needs: { namespaces: [{ nsid: 1 }, { nsid: 2, metadataBytes: 8 }] },
    run: (context) => metadataRefused(context, 2),
  },
  {
    id: 'metadata-beside-others',
    title: 'Uses other namespaces beside one that is not supported',
    spec: 'ours',
    time: 'any',
    needs: { namespaces: [{ nsid: 1 }, { nsid: 2, metadataBytes: 8 }] },
    async run(context) {
      const opened = await context.open()
      equal('NSID of the namespace in use', opened.ns.nsid, 1)
      await roundTrip(opened, 16)
    },
  },
  {
    id: 'no-namespace',
    title: 'Opens a controller without namespaces',
    spec: 'Base 2.1 §3.2.1',
    time: 'any',
    needs: { namespaces: [] },
    async run(context) {
      const ctrl = await context.openReadOnly(await context.device())
      equal('namespaces', ctrl.namespaces.length, 0)
      await context.expectRejected('namespace 1', () => ctrl.namespace(1), {
        code: 'ERR_GPUNVME_NAMESPACE_NOT_FOUND',
        says: 'none',
      })
    },
  },
  {
    id: 'namespace-detached',
    title: 'A detached namespace causes an event, is no longer listed, and its calls are rejected',
    spec: 'Base 2.1 §5.1.2, Figure 152; openvmm',
    time: 'virtual',
    needs: {
      namespaces: [...KNOWN.namespaces!, { nsid: 2 }],
      faults: { rules: [rule({ kind: 'detach-namespace', nsid: 2 }, { atNs: 2 * SECOND_NS })] },
    },
    async run(context) {
      const opened = await context.open()
      const second = opened.ctrl.namespace(2)
      for await (const event of opened.ctrl.events()) {
        if (event.kind !== 'namespaces-changed') continue
        equal('NSIDs that changed', event.nsids, [2])
        break
      }
      equal(
        'NSIDs',
        opened.ctrl.namespaces.map(({ nsid }) => nsid),
        [1],
      )
      await context.expectRejected('read', () => second.readBytes(0, 1), {
        code: 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE',
        says: 'no longer attached',
      })
      await roundTrip(opened, 16)
    },
  },
  {
    id: 'namespace-resized',
    title: 'Uses the new size of a namespace that was shrunk',
    spec: 'Base 2.1 §5.1.2, Figure 152',
    time: 'virtual',
    needs: withFaults(rule({ kind: 'resize-namespace', nsid: 1, blocks: 2048 }, { atNs: 2 * SECOND_NS })),
    async run(context) {
      const { ctrl, ns, device, alloc } = await context.open()
      const memory = alloc(4096)
      for await (const { kind } of ctrl.events()) if (kind === 'namespaces-changed') break
      equal('blocks', ns.blocks, 2048)
      const read = () => ns.read(2048, 1, memory)
      await withoutAWrite(device, () => context.expectRejected('read', read, { code: 'ERR_GPUNVME_LBA_RANGE' }))
      await ns.read(2047, 1, memory)
    },
  },
  {
    id: 'wrong-serial',
    title: 'Rejects opening a controller with another serial number for writing; sends no command but Identify',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device()
      const open = () => context.bringUp(device.transport, { write: { serial: `${device.serial}x` } })
      await context.expectRejected('open', open, { code: 'ERR_GPUNVME_SERIAL_MISMATCH', says: device.serial })
      equal(
        'commands',
        device.commands.map(({ text }) => text.split(' ')[0]),
        ['Identify'],
      )
      equal('bytes kept', device.heldBytes, 0)
    },
  },
  {
    id: 'foreign-data',
    title: 'Rejects writes over foreign data that `overwrite` does not name, before any write',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const first = await context.open()
      const { ns, alloc, device } = first
      const memory = alloc(8192)
      // The magic number of ext2/3/4, 53h EFh at byte 1080, and two fields of the superblock.
      memory.view!.setUint16(1080, 0xef53, true)
      memory.view!.setUint32(1024, 64, true)
      memory.view!.setUint32(1028, 64, true)
      await ns.write(0, 8192 / ns.blockBytes, memory)
      await first.ctrl.close()

      const second = await context.open({}, undefined, device)
      const write = () => second.ns.write(0, 1, second.alloc(4096))
      const before = device.countOf('Write')
      const error = await context.expectRejected('write', write, { code: 'ERR_GPUNVME_FOREIGN_DATA' })
      const { found: data = [] } = error as Error & { readonly found?: readonly { readonly name: string }[] }
      const found = data.map(({ name }) => name)
      check(found.length > 0, 'the error names the data')
      equal('Write commands', device.countOf('Write'), before)
      await second.ctrl.close()

      const write3 = { serial: device.serial, overwrite: found }
      const third = await context.bringUp(device.transport, { ...context.engineFor(device), write: write3 })
      const clear = third.namespace(ns.nsid).dma.alloc(8192)
      await third.namespace(ns.nsid).write(0, 8192 / ns.blockBytes, clear)
      await third.close()
      clear.free()
    },
  },
  {
    id: 'reading-cannot-write',
    title: 'A controller opened for reading has no methods that write, and rejects a plan of writes',
    spec: 'ours',
    time: 'any',
    async run(context) {
      const device = await context.device()
      const ctrl = await context.openReadOnly(device)
      const ns = ctrl.namespaces.find(({ identity }) => identity.unsupported === undefined)!
      for (const name of ['write', 'planWrites', 'flush']) check(!(name in ns), `a namespace has no ${name}`)
      const memory = context.alloc(ns, device, MIB)
      const plan = { ...ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), operation: 'write' as const }
      await withoutAWrite(device, () =>
        context.expectRejected('execute', () => ns.execute(plan, memory), { type: 'TypeError' }),
      )
    },
  },
]

export const namespaces = area('namespaces', namespaceCases)
