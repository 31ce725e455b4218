import { openSync, closeSync, readSync } from 'node:fs'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { Controller } from '../../src/index.js'
import { startQemu, type Qemu, type QemuOptions } from '../../src/transport/qtest/index.js'
import { fillPattern, wrongBytes } from '../pattern.js'
import { qemuMissing, skippedNote } from '../qemu.js'

const MIB = 1024 * 1024

describe.skipIf(qemuMissing)(`memory behind another function's BAR${skippedNote}`, () => {
  let qemu: Qemu

  afterEach(() => {
    expect(qemu.misuse).toBe('')
  })

  async function start(options: QemuOptions) {
    qemu = await startQemu({ vramBytes: 64 * MIB, ...options })
    onTestFinished(() => qemu.close())
    return { ...qemu.controllers[0]!, vram: qemu.vram! }
  }

  /** Reads bytes of the image. */
  function stored(offsetBytes: number, lengthBytes: number): Uint8Array {
    const bytes = new Uint8Array(lengthBytes)
    const file = openSync(qemu.controllers[0]!.namespaces[0]!.image, 'r')
    readSync(file, bytes, 0, lengthBytes, offsetBytes)
    closeSync(file)
    return bytes
  }

  test('is above 4 GiB, has no view, and can be accessed through `vram`', async () => {
    const { transport, vram } = await start({})
    expect(transport.can).toEqual({ gpuRing: false, gpuRead: false, dmaToVram: true })
    const memory = transport.dma.alloc(MIB, { where: 'gpu' })
    expect(memory.view).toBeUndefined()
    expect(memory.iovaAt(0)).toBeGreaterThanOrEqual(2 ** 32)
    expect(memory.iovaAt(0) - vram.iova).toBe(0)
    vram.write(5, Uint8Array.of(1, 2, 3))
    expect([...vram.read(4, 5)]).toEqual([0, 1, 2, 3, 0])
    expect(() => vram.read(64 * MIB, 1)).toThrow(RangeError)
    expect(() => vram.write(-1, Uint8Array.of(1))).toThrow(RangeError)
  })

  test('the drive reads data into the BAR and writes data from it', async () => {
    const { transport, serial, vram } = await start({})
    await using ctrl = await Controller.open(transport, { queues: 2, write: { serial } })
    const ns = ctrl.namespace(1)
    const source = ns.dma.alloc(3 * MIB)
    fillPattern(source, 7)
    await ns.write(100, (3 * MIB) / 512, source)

    // Not at the start of the BAR, so that a truncated address is detected.
    transport.dma.alloc(MIB, { where: 'gpu' })
    const target = transport.dma.alloc(3 * MIB, { where: 'gpu' })
    await ns.read(100, (3 * MIB) / 512, target)
    const arrived = vram.read(target.iovaAt(0) - vram.iova, 3 * MIB)
    expect(Buffer.compare(arrived, stored(100 * 512, 3 * MIB))).toBe(0)
    expect(Buffer.compare(arrived, new Uint8Array(source.view!.buffer))).toBe(0)
    expect(vram.read(0, MIB).every((byte) => byte === 0)).toBe(true)

    const bytes = Uint8Array.from({ length: MIB }, (_, index) => (index * 13 + (index >>> 8)) & 0xff)
    vram.write(target.iovaAt(0) - vram.iova, bytes)
    await ns.write(50_000, MIB / 512, target)
    await ns.flush()
    expect(Buffer.compare(stored(50_000 * 512, MIB), bytes)).toBe(0)
  })

  test('submission and completion queues, PRP lists and data can all be in the BAR', async () => {
    const { transport, serial, vram } = await start({ vramView: true })
    const options = { queues: 2, queueDepth: 5, queueMemory: 'gpu', write: { serial } } as const
    await using ctrl = await Controller.open(transport, options)
    const ns = ctrl.namespace(1)
    // The first page of the BAR is allocated, to a queue.
    expect(transport.dma.alloc(4096, { where: 'gpu' }).iovaAt(0)).toBeGreaterThan(vram.iova)
    const memory = transport.dma.alloc(5 * MIB, { where: 'gpu' })
    fillPattern(memory, 99)
    await ns.write(11, (5 * MIB) / 512, memory)
    await ns.flush()
    expect(Buffer.compare(stored(11 * 512, 5 * MIB), new Uint8Array(memory.view!.buffer))).toBe(0)
    const back = transport.dma.alloc(5 * MIB, { where: 'gpu' })
    await ns.read(11, (5 * MIB) / 512, back)
    expect(wrongBytes(back, 99)).toBe(0)
    expect(Buffer.compare(vram.read(back.iovaAt(0) - vram.iova, 5 * MIB), stored(11 * 512, 5 * MIB))).toBe(0)
  })

  test('keeps its address and content across a bus reset', async () => {
    const { transport, vram } = await start({})
    vram.write(0, Uint8Array.of(42))
    await transport.reset!('bus')
    await using ctrl = await Controller.open(transport)
    const ns = ctrl.namespace(1)
    const target = transport.dma.alloc(4096, { where: 'gpu' })
    vram.write(0, new Uint8Array(4096).fill(0xa5))
    await ns.read(0, 8, target)
    expect(vram.read(0, 4096).every((byte) => byte === 0)).toBe(true)
  })
})
