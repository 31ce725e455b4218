import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { CaseHost } from '@gpunvme/nvme-sim/conformance'
import { Controller } from '../../src/index.js'
import { startQemu, type Qemu, type QemuController, type QemuOptions } from '../../src/transport/qtest/index.js'
import { fillPattern, wrongBytes } from '../pattern.js'
import { qemuMissing, skippedNote } from '../qemu.js'

const MIB = 1024 * 1024

describe.skipIf(qemuMissing)(`controllers of a QEMU${skippedNote}`, () => {
  let qemu: Qemu | undefined

  // QEMU must trace no host errors.
  afterEach(() => {
    expect(qemu?.misuse ?? '').toBe('')
  })

  async function start(options: QemuOptions): Promise<Qemu> {
    const started = (qemu = await startQemu(options))
    onTestFinished(() => started.close())
    return started
  }

  /** Writes a pattern to 16 blocks of a namespace. Returns the written bytes. */
  async function write(controller: QemuController, nsid: number, slba: number, salt: number): Promise<Uint8Array> {
    const { transport, serial } = controller
    await using ctrl = await Controller.open(transport, { write: { serial } })
    const ns = ctrl.namespace(nsid)
    const memory = ns.dma.alloc(16 * ns.blockBytes)
    fillPattern(memory, salt)
    await ns.write(slba, 16, memory)
    await ns.flush()
    return new Uint8Array(memory.view!.buffer).slice()
  }

  test('each controller has its own transport and BAR, and all share memory', async () => {
    const { controllers } = await start({
      controllers: [{ serial: 'FIRST' }, { serial: 'SECOND', maxIoQueuePairs: 2 }, { serial: 'THIRD', cmbMib: 4 }],
    })
    expect(controllers.map(({ transport }) => transport.name)).toEqual(['qtest:0', 'qtest:1', 'qtest:2'])
    const open = await Promise.all(controllers.map(({ transport }) => Controller.open(transport)))
    expect(open.map(({ identity }) => identity.serial)).toEqual(['FIRST', 'SECOND', 'THIRD'])
    const written = await Promise.all(open.map((ctrl) => ctrl.close())).then(async () => {
      const all: Uint8Array[] = []
      for (const [index, controller] of controllers.entries()) all.push(await write(controller, 1, 8, 1000 * index))
      return all
    })
    for (const [index, { namespaces }] of controllers.entries()) {
      const stored = readFileSync(namespaces[0]!.image).subarray(8 * 512, 24 * 512)
      expect(Buffer.compare(stored, written[index]!)).toBe(0)
    }
  })

  test('namespaces have the requested NSIDs, block sizes and images', async () => {
    const { controllers } = await start({
      controllers: [
        {
          namespaces: [
            { nsid: 3, imageBytes: 8 * MIB },
            { nsid: 9, blockBytes: 4096, imageBytes: 4 * MIB },
          ],
        },
      ],
    })
    const [controller] = controllers
    expect(controller!.namespaces.map(({ nsid }) => nsid)).toEqual([3, 9])
    const bytes = await write(controller!, 9, 5, 31)
    const [other, image] = controller!.namespaces.map((namespace) => readFileSync(namespace.image))
    expect(Buffer.compare(image!.subarray(5 * 4096, 21 * 4096), bytes)).toBe(0)
    expect(other!.every((byte) => byte === 0)).toBe(true)
    await using ctrl = await Controller.open(controller!.transport)
    expect(ctrl.namespaces.map(({ nsid, blocks, blockBytes }) => [nsid, blocks, blockBytes])).toEqual([
      [3, 16384, 512],
      [9, 1024, 4096],
    ])
  })

  test('controllers of one subsystem share its namespaces', async () => {
    const { controllers } = await start({
      controllers: [
        { subsystem: 'nqn.2024-01.test:shared', namespaces: [{ nsid: 1, imageBytes: 4 * MIB }] },
        { subsystem: 'nqn.2024-01.test:shared', namespaces: [] },
      ],
    })
    await write(controllers[0]!, 1, 40, 5)
    await using second = await Controller.open(controllers[1]!.transport)
    const ns = second.namespace(1)
    const back = ns.dma.alloc(16 * 512)
    await ns.read(40, 16, back)
    expect(wrongBytes(back, 5)).toBe(0)
  })

  test('a zoned namespace uses command set 02h, and has the requested zones', async () => {
    const { controllers } = await start({
      controllers: [
        { namespaces: [{ imageBytes: 16 * MIB, zones: { zoneBytes: 4 * MIB, maxOpen: 2, maxActive: 3 } }] },
      ],
    })
    const host = new CaseHost(controllers[0]!.transport)
    // CC.CSS = 110b: all supported I/O command sets; IOSQES 6, IOCQES 4, EN.
    await host.start({ cc: 0x0046_0061 })
    const memory = host.alloc(4096)
    // Identify, CNS 05h of command set 02h (CDW11 31:24): MAR at 4, MOR at 8, both 0's based.
    const { status } = await host.admin({
      opcode: 0x06,
      nsid: 1,
      prp1: memory.iova(),
      cdw: { 10: 0x05, 11: 0x0200_0000 },
    })
    expect(status).toBe('0/00')
    const identify = new DataView(memory.read().buffer)
    expect([identify.getUint32(4, true), identify.getUint32(8, true)]).toEqual([2, 1])
    // LBAFE 0 at 2816: ZSZE, in logical blocks.
    expect(identify.getBigUint64(2816, true)).toBe(8192n)
    await host.release()
  })

  test('a function reset deletes the queues, and the controller can be enabled again at the same address', async () => {
    const { controllers } = await start({ vramBytes: MIB })
    const { transport } = controllers[0]!
    const host = new CaseHost(transport)
    await host.startWithPair()
    expect(transport.bar.read32(0x1c)).toBe(1)
    await transport.reset!('function')
    expect(transport.bar.read32(0x1c)).toBe(0)
    expect(transport.bar.read32(0x14)).toBe(0)
    await host.release()
    await using after = await Controller.open(transport)
    await after.namespace(1).readBytes(0, 4096)
  })

  test('a bus reset resets every controller, and each can be enabled again at the same address', async () => {
    const { controllers } = await start({ controllers: [{}, {}] })
    const hosts = controllers.map(({ transport }) => new CaseHost(transport))
    for (const host of hosts) await host.startWithPair()
    await controllers[0]!.transport.reset!('bus')
    expect(controllers.map(({ transport }) => transport.bar.read32(0x1c))).toEqual([0, 0])
    for (const host of hosts) await host.release()
    for (const { transport } of controllers) {
      await using ctrl = await Controller.open(transport)
      await ctrl.namespace(1).readBytes(0, 4096)
    }
  })

  test('registers of a removed controller read all ones, and the other controller works', async () => {
    const { controllers } = await start({ controllers: [{}, {}] })
    const [first, second] = controllers.map(({ transport }) => transport)
    const ctrl = await Controller.open(second!)
    await controllers[0]!.remove()
    expect(first!.bar.read32(0x08)).toBe(0xffff_ffff)
    expect(first!.config!.read(0, 4)).toBe(0xffff_ffff)
    await ctrl.namespace(1).readBytes(0, 4096)
    await ctrl.close()
  })

  test('registers of a closed transport read all ones, and the other controller works', async () => {
    const { controllers } = await start({ controllers: [{}, {}] })
    const [first, second] = controllers.map(({ transport }) => transport)
    await first!.close()
    expect(first!.bar.read32(0x08)).toBe(0xffff_ffff)
    await using ctrl = await Controller.open(second!)
    await ctrl.namespace(1).readBytes(0, 4096)
  })

  test('an interrupt before the wait is not missed, and vectors are independent', async () => {
    const { controllers } = await start({ controllers: [{ msixVectors: 3 }] })
    const { transport } = controllers[0]!
    const { interrupts, clock } = transport
    expect(interrupts!.vectors).toBe(3)
    const soon = () => clock.now() + 20_000_000
    expect(await interrupts!.wait(0, soon())).toBe('deadline')
    const host = new CaseHost(transport)
    await host.start()
    expect(await interrupts!.wait(0, soon())).toBe('fired')
    expect(await interrupts!.wait(2, soon())).toBe('deadline')
    await expect(interrupts!.wait(3, soon())).rejects.toThrow(RangeError)
    await transport.reset!('function')
    await host.start()
    expect(await interrupts!.wait(0, soon())).toBe('fired')
    await host.release()
  })

  test('the controller reports an event when the monitor changes the health of the drive', async () => {
    const { controllers } = await start({})
    const { transport, id } = controllers[0]!
    const host = new CaseHost(transport)
    await host.start()
    // Set Features, Asynchronous Event Configuration: all critical warnings. Then a request for an event.
    await host.admin({ opcode: 0x09, cdw: { 10: 0x0b, 11: 0x1f } })
    host.submit(0, { opcode: 0x0c })
    await qemu!.qmp('qom-set', { path: `/machine/peripheral/${id}`, property: 'smart_critical_warning', value: 4 })
    const [completed] = await host.collect(0, 1)
    // DW0: SMART / Health status (1h), NVM subsystem reliability degraded (00h), log page 02h.
    expect(completed!.dw0).toBe(0x0002_0001)
    await host.release()
  })
})
