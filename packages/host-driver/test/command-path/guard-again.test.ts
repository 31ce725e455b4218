import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import { TemperatureThreshold } from '@gpunvme/nvme-spec'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const TURNS = 200
const turns = async () => {
  for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate)
}

/** A namespace that was written to, after two changes by another host that the driver has detected. */
async function changedTwice(first: FaultAction, second: FaultAction) {
  const media = new RamMedia(1024 * 1024)
  const rules = [first, second].map((action, index) => ({ match: { qid: 0, opcode: 0x0a, nth: index + 1 }, action }))
  const simulation = simulate({ namespaces: [{ media }], faults: { rules } })
  const ctrl = await Controller.open(simulation.transport, { write: { serial: simulation.serial } })
  const seen: (number | undefined)[] = []
  void (async () => {
    for await (const event of ctrl.events()) {
      if (event.kind === 'namespaces-changed') seen.push(ctrl.namespaces[0]?.blocks)
    }
  })()
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(512)
  await ns.write(100, 1, memory)
  for (let change = 0; change < 2; change++) {
    await ctrl.getFeature(TemperatureThreshold)
    await turns()
  }
  // Another host has made an ext4 file system meanwhile: its magic number.
  media.write(1024 + 0x38, Uint8Array.of(0x53, 0xef))
  return { ctrl, ns, memory, seen }
}

test.each([
  [
    'resized and resized back',
    [1024, 2048],
    { kind: 'resize-namespace', nsid: 1, blocks: 1024 },
    { kind: 'resize-namespace', nsid: 1, blocks: 2048 },
  ],
  [
    'detached and attached',
    [undefined, 2048],
    { kind: 'detach-namespace', nsid: 1 },
    { kind: 'attach-namespace', nsid: 1 },
  ],
] as const)('a namespace that was %s passes the guard again', async (_, sizes, first, second) => {
  const { ctrl, ns, memory, seen } = await changedTwice(first, second)
  expect(seen).toEqual(sizes)
  await expect(ns.write(100, 1, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FOREIGN_DATA' })
  await ctrl.close()
})
