import { deriveProfile, simulate, SimulatedHost } from '@gpunvme/nvme-sim'
import { Read, zeroBased } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { countedAllocator } from '../../test/counted-allocator.js'
import { Controller } from '../controller.js'
import { traced } from '../wrap/traced.js'
import { LentMemory } from './lent-memory.js'

const MIB = 1024 * 1024

async function opened(...options: Parameters<typeof simulate>) {
  const simulation = simulate(...options)
  const dma = countedAllocator(simulation.transport.dma)
  const ctrl = await Controller.open({ ...simulation.transport, dma })
  const ns = ctrl.namespace(1)
  return { simulation, dma, ctrl, ns, held: dma.bytesInUse }
}

/** Lets a call begin to submit commands. */
async function begun(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

test('frees memory after the calls that use it, so that no command writes to memory of a later allocation', async () => {
  const { simulation, dma, ctrl, ns, held } = await opened({ profile: 'sn740' })
  const memory = ns.dma.alloc(MIB)
  const reads = [ns.read(0, 2048, memory), ns.read(0, 8, memory)]
  await begun()
  memory.free()
  expect(() => memory.free()).toThrow('this memory was freed')
  const later = ns.dma.alloc(MIB)
  new Uint8Array(later.view!.buffer).fill(0xa5)
  await expect(ns.read(0, 8, memory)).rejects.toThrow('this memory was freed')
  await Promise.all(reads)
  expect(dma.bytesInUse).toBe(held + MIB)
  expect(new Set(new Uint8Array(later.view!.buffer))).toEqual(new Set([0xa5]))
  expect(() => memory.iovaAt(0)).toThrow('this memory was freed')
  later.free()
  expect(dma.bytesInUse).toBe(held)
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

test('keeps memory that is freed during a call if the controller is lost meanwhile', async () => {
  const faults = { rules: [{ match: { qid: 1, nth: 1 }, action: { kind: 'remove-device' } }] } as const
  const { dma, ctrl, ns, held } = await opened({ profile: 'sn740', faults })
  const memory = ns.dma.alloc(MIB)
  const read = ns.read(0, 8, memory)
  await begun()
  memory.free()
  await expect(read).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  expect(dma.bytesInUse).toBe(held + MIB)
  await ctrl.close()
})

test('rejects memory of a controller with other addresses before a command is sent', async () => {
  const a = simulate({ profile: deriveProfile('ideal', { identify: { SN: 'SIM00001' } }) })
  const { transport } = simulate()
  const there = (await Controller.open(transport)).namespace(1).dma.alloc(4096)
  const ctrl = await Controller.open(a.transport, { write: { serial: 'SIM00001' }, manage: true })
  const ns = ctrl.namespace(1)
  const plan = ns.planReads([{ slba: 0, blocks: 1, offsetBytes: 0 }])
  const sent = a.statistics.ioCommands
  for (const call of [
    () => ns.read(0, 8, there),
    () => ns.write(0, 8, new LentMemory({ alloc: () => there }).alloc(4096)),
    () => ns.compare(0, 8, there),
    () => ns.execute(plan, there),
    () => ctrl.management.submitIo(Read, { NSID: 1, SLBA: 0, NLB: zeroBased(8) }, { data: { memory: there } }),
  ]) {
    const refusal = call()
    await expect(refusal).rejects.toThrow(TypeError)
    await expect(refusal).rejects.toThrow('memory: expected memory that this controller can access')
  }
  expect(a.statistics.ioCommands).toEqual(sent)
  await ctrl.close()
})

test('accepts memory of another controller of one machine, and of an earlier handle on the same controller', async () => {
  const host = new SimulatedHost()
  const [a, b] = [simulate({ host }).transport, simulate({ host }).transport]
  const first = await Controller.open(a)
  const memory = first.namespace(1).dma.alloc(4096)
  await first.close()
  const other = await Controller.open(b)
  await other.namespace(1).read(0, 8, memory)
  await other.namespace(1).read(0, 8, b.dma.alloc(4096))
  await other.close()
  const again = await Controller.open(traced(a, () => undefined))
  await again.namespace(1).read(0, 8, memory)
  await again.close()
})
