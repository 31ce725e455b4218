import { afterEach, describe, expect, test } from 'vitest'
import { Controller, type ControllerOptions } from '../src/index.js'
import { startQemu, type Qemu, type QemuControllerOptions } from '../src/transport/qtest/index.js'
import { fillPattern, wrongBytes } from './pattern.js'
import { qemuMissing, skippedNote } from './qemu.js'
import { splicedMemory } from './spliced-memory.js'

// Command sets, data pointers, doorbells and interrupts, validated against QEMU's independent controller.

const KIB = 1024
const MIB = 1024 * KIB
const SECOND_NS = 1_000_000_000
/** QEMU's message about a doorbell of a queue that an unexpected reset has deleted. */
const OF_A_RESET = 'queue doorbell write for nonexistent queue'
let qemu: Qemu

describe.skipIf(qemuMissing)(
  `Command sets, SGLs, shadow doorbells and interrupts on QEMU's controller${skippedNote}`,
  () => {
    afterEach(async () => {
      const misuse = qemu.misuse.split('\n').filter((line) => line !== '' && !line.includes(OF_A_RESET))
      await qemu.close()
      expect(misuse).toEqual([])
    })

    async function open(options: ControllerOptions = {}, controller: QemuControllerOptions = {}) {
      qemu = await startQemu({ controllers: [{ mdts: 8, ...controller }] })
      const { transport, serial } = qemu.controllers[0]!
      const ctrl = await Controller.open(transport, { queues: 2, queueDepth: 7, ...options, write: { serial } })
      return { ctrl, ns: ctrl.namespace(1), transport }
    }

    test('enables all command sets if the controller does not support the NVM Command Set alone', async () => {
      qemu = await startQemu({ controllers: [{ namespaces: [{}, { nsid: 7, zones: { zoneBytes: 8 * MIB } }] }] })
      const { transport } = qemu.controllers[0]!
      const { bar } = transport
      const withoutNcss = {
        lengthBytes: bar.lengthBytes,
        read32: (offset: number) => bar.read32(offset),
        // CAP.CSS.NCSS is bit 37.
        read64: (offset: number) => (offset === 0 ? bar.read64(0) & ~(1n << 37n) : bar.read64(offset)),
        write32: (offset: number, value: number) => bar.write32(offset, value),
        write64: (offset: number, value: bigint) => bar.write64(offset, value),
      }
      const ctrl = await Controller.open({ ...transport, bar: withoutNcss })
      // CC.CSS is 110b in bits 6:4.
      expect(bar.read32(0x14) & 0x70).toBe(0x60)
      expect(ctrl.namespaces.map(({ nsid }) => nsid)).toEqual([1])
      await ctrl.namespace(1).readBytes(0, 512)
      await ctrl.close()
    })

    test.each([
      ['SGLs', {}],
      ['PRP lists', { sgl: false }],
    ])('data that one command describes by %s are written and read back', async (_, options) => {
      const { ctrl, ns } = await open(options)
      const memory = ns.dma.alloc(3 * MIB)
      fillPattern(memory, 5)
      await ns.write(7, (3 * MIB) / 512, memory)
      const back = ns.dma.alloc(3 * MIB)
      await ns.read(7, (3 * MIB) / 512, back)
      expect(wrongBytes(back, 5)).toBe(0)
      await ctrl.close()
    })

    test('reads and writes memory that is not contiguous within pages by SGL segments', async () => {
      const { ctrl, ns } = await open()
      const whole = ns.dma.alloc(256 * KIB)
      // No piece starts or ends at a page boundary, and the last one precedes the first in memory.
      const pieces = [
        [100 * KIB + 512, 20 * KIB + 512],
        [160 * KIB + 4, 1024],
        [512, 62 * KIB - 1536],
      ] as const
      const source = ns.dma.alloc(82 * KIB)
      fillPattern(source, 9)
      await ns.write(3, 164, source)
      const spliced = splicedMemory(whole, pieces)
      await ns.read(3, 164, spliced)
      let at = 9
      for (const [from, lengthBytes] of pieces) {
        expect(wrongBytes(whole, at, from, lengthBytes)).toBe(0)
        at += lengthBytes
      }
      await ns.write(1000, 164, spliced)
      const back = ns.dma.alloc(82 * KIB)
      await ns.read(1000, 164, back)
      expect(wrongBytes(back, 9)).toBe(0)
      await ctrl.close()
    })

    test('shadow doorbells serve many laps of small queues', async () => {
      const { ctrl, ns } = await open({ shadowDoorbells: true, queueDepth: 3 })
      const memory = ns.dma.alloc(500 * 512)
      fillPattern(memory, 77)
      await ns.write(0, 500, memory)
      const back = ns.dma.alloc(500 * 512)
      const transfers = Array.from({ length: 500 }, (__, index) => ({
        slba: index,
        blocks: 1,
        offsetBytes: index * 512,
      }))
      const { failures } = await ns.execute(ns.planReads(transfers), back, { timeoutNs: SECOND_NS })
      expect(failures).toEqual([])
      expect(wrongBytes(back, 77)).toBe(0)
      expect(ctrl.statistics.timeouts).toBe(0)
      await ctrl.close()
    })

    test.each<[string, ControllerOptions]>([
      ['shadow doorbells', { shadowDoorbells: true }],
      ['interrupts', { interrupts: true }],
      ['both', { shadowDoorbells: true, interrupts: true }],
      ['interrupts of shared completion queues', { interrupts: true, completionQueues: 1 }],
    ])('%s work, also after another host has reset the controller', async (_, options) => {
      const { ctrl, ns, transport } = await open(options)
      const memory = ns.dma.alloc(MIB)
      fillPattern(memory, 21)
      await ns.write(0, 2048, memory)
      for (let round = 0; round < 2; round++) {
        transport.bar.write32(0x14, 0)
        const back = ns.dma.alloc(MIB)
        await ns.read(0, 2048, back, { timeoutNs: SECOND_NS / 20 })
        expect(wrongBytes(back, 21)).toBe(0)
        expect(ctrl.statistics.recoveries).toMatchObject({ 'controller-reset': round + 1, lost: 0 })
      }
      await ctrl.close()
    })
  },
)
