import { closeSync, openSync, readSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { hasCode } from '../src/error.js'
import { Controller } from '../src/index.js'
import { fillPattern, wrongBytes } from './pattern.js'
import {
  startQemu,
  type BlockNode,
  type Qemu,
  type QemuController,
  type QemuControllerOptions,
  type QemuOptions,
} from '../src/transport/qtest/index.js'
import { qemuMissing, skippedNote } from './qemu.js'

// Tests the driver against QEMU's controller, which is independent of this repository, unlike the simulator.

const MIB = 1024 * 1024
let qemu: Qemu

async function start(options?: QemuOptions): Promise<QemuController & { readonly image: string }> {
  qemu = await startQemu(options)
  const [first] = qemu.controllers
  return { ...first!, image: first!.namespaces[0]!.image }
}

/** Returns options for one controller with one namespace, on a replacement for its image. */
function onDrive(drive: (image: BlockNode) => BlockNode): QemuOptions {
  return { controllers: [{ namespaces: [{ drive }] }] }
}

describe.skipIf(qemuMissing)(`on QEMU's NVMe controller${skippedNote}`, () => {
  afterEach(() => qemu.close())

  test('enables and shuts down the controller repeatedly', async () => {
    const { transport, serial } = await start()
    for (let round = 0; round < 3; round++) {
      await using ctrl = await Controller.open(transport, { queues: 4 })
      expect(ctrl.identity).toMatchObject({ serial, model: 'QEMU NVMe Ctrl', maxTransferBytes: 512 * 1024 })
      expect(ctrl.queues).toBe(4)
      expect(ctrl.namespaces.map(({ nsid, blocks, blockBytes }) => [nsid, blocks, blockBytes])).toEqual([
        [1, 131072, 512],
      ])
    }
    expect(qemu.misuse).toBe('')
  })

  test.for<[string, QemuControllerOptions]>([
    ['512-byte blocks', {}],
    ['4096-byte blocks', { namespaces: [{ blockBytes: 4096 }] }],
    ['transfers of 4 MiB with chained PRP lists', { mdts: 10 }],
    ['two queue pairs', { maxIoQueuePairs: 2 }],
  ])('writes data to the backing file, and reads them back, with %s', async ([, controller], { skip }) => {
    const { transport, serial, image } = await start({ controllers: [controller] }).catch((error: unknown) => {
      if (hasCode(error, 'ERR_GPUNVME_QEMU_START') && error.message.includes('mdts exceeds IOV_MAX'))
        skip('this QEMU transfers 2 MiB at most, for which one PRP list is enough')
      throw error
    })
    await using ctrl = await Controller.open(transport, {
      queues: 3,
      queueDepth: 5,
      maxTransferBytes: 4 * MIB,
      write: { serial },
    })
    const ns = ctrl.namespace(1)
    const blocks = (9 * MIB) / ns.blockBytes
    const memory = ns.dma.alloc(9 * MIB)
    fillPattern(memory, 77)
    await ns.write(33, blocks, memory)
    await ns.flush()

    const stored = Buffer.alloc(9 * MIB)
    const file = openSync(image, 'r')
    readSync(file, stored, 0, stored.length, 33 * ns.blockBytes)
    closeSync(file)
    expect(Buffer.compare(stored, new Uint8Array(memory.view!.buffer))).toBe(0)

    const back = ns.dma.alloc(9 * MIB)
    await ns.read(33, blocks, back)
    expect(wrongBytes(back, 77)).toBe(0)
    expect(qemu.misuse).toBe('')
  })

  test('wraps small queues many times', async () => {
    const { transport } = await start()
    await using ctrl = await Controller.open(transport, { queues: 2, queueDepth: 3 })
    const ns = ctrl.namespace(1)
    const transfers = Array.from({ length: 500 }, (__, index) => ({ slba: index, blocks: 1, offsetBytes: index * 512 }))
    const summary = await ns.execute(ns.planReads(transfers), ns.dma.alloc(500 * 512))
    expect(summary).toMatchObject({ succeeded: 500, failures: [] })
    expect(qemu.misuse).toBe('')
  })

  test('reports LBA Out of Range of the controller', async () => {
    const { transport } = await start()
    await using ctrl = await Controller.open(transport)
    const ns = ctrl.namespace(1)
    const plan = { ...ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), slba: Float64Array.of(ns.blocks - 4) }
    const { failures } = await ns.execute(plan, ns.dma.alloc(4096))
    expect(failures).toMatchObject([{ command: 0, outcome: { kind: 'status', sct: 0, sc: 0x80, dnr: true } }])
  })

  test('reports a media error of one block, and reads the blocks around it', async () => {
    const error = { event: 'none', iotype: 'read', errno: 5, sector: 64 }
    const { transport } = await start(onDrive((image) => ({ driver: 'blkdebug', 'inject-error': [error], image })))
    await using ctrl = await Controller.open(transport)
    const ns = ctrl.namespace(1)
    const transfers = [63, 64, 65].map((slba, index) => ({ slba, blocks: 1, offsetBytes: index * 512 }))
    const { succeeded, failures } = await ns.execute(ns.planReads(transfers), ns.dma.alloc(4096))
    expect(succeeded).toBe(2)
    expect(failures).toMatchObject([{ command: 1, outcome: { kind: 'status', sct: 2, sc: 0x81 } }])
  })

  test('aborts commands that a slow drive does not complete, and continues to use the controller', async () => {
    const { transport } = await start(onDrive(() => ({ driver: 'null-co', size: 64 * MIB, 'latency-ns': 500_000_000 })))
    await using ctrl = await Controller.open(transport)
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(4096)
    const plan = ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }])
    await ns.execute(plan, memory, { timeoutNs: 50_000_000 })
    expect(ctrl.statistics.recoveries).toMatchObject({ lost: 0 })
    expect(ctrl.statistics.timeouts).toBeGreaterThan(0)
    const { failures } = await ns.execute(plan, memory)
    expect(failures).toEqual([])
  })

  test('lists every namespace, and rejects I/O on one with metadata, with the reason', async () => {
    const { transport } = await start({ controllers: [{ namespaces: [{}, { nsid: 5, metadataBytes: 8 }] }] })
    await using ctrl = await Controller.open(transport)
    expect(ctrl.namespaces.map(({ nsid }) => nsid)).toEqual([1, 5])
    await expect(ctrl.namespace(5).readBytes(0, 1)).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE' })
    await expect(ctrl.namespace(5).readBytes(0, 1)).rejects.toThrow('8 bytes of metadata')
    await ctrl.namespace(1).readBytes(0, 1)
  })
})
