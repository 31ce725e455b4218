import { SimulatedHost, simulate } from '@gpunvme/nvme-sim'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'
import { fillPattern } from '../pattern.js'

const CC = 0x14

/** A controller whose only namespace another host formats, to blocks of 4096 bytes, while this one resets it. */
function formattedInReset() {
  const host = new SimulatedHost()
  const before = simulate({ host, namespaces: [{ capacityBytes: 1024 * 1024, blockBytes: 512 }] })
  const after = simulate({ host, namespaces: [{ capacityBytes: 1024 * 1024, blockBytes: 4096 }] })
  let isOpen = false
  let now = before
  const bar: Bar = Object.assign(Object.create(before.transport.bar) as Bar, {
    read32: (offset: number) => now.transport.bar.read32(offset),
    read64: (offset: number) => now.transport.bar.read64(offset),
    write64: (offset: number, value: bigint) => now.transport.bar.write64(offset, value),
    write32: (offset: number, value: number) => {
      now.transport.bar.write32(offset, value)
      if (offset === CC && (value & 1) === 0 && isOpen) now = after
    },
  })
  return { before, after, bar, transport: { ...before.transport, bar }, opened: () => (isOpen = true) }
}

test('does not send a plan whose namespace is formatted while the plan waits for a reset', async () => {
  const { transport, before, after, opened } = formattedInReset()
  const ctrl = await Controller.open(transport, { write: { serial: before.serial } })
  opened()
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  fillPattern(memory, 1)
  await ns.write(0, 8, memory)
  const reset = ctrl.reset()
  const outcome = ns.write(0, 8, memory).then(
    () => 'written',
    (error: unknown) => (error as Error).message,
  )
  await reset
  expect([ns.blockBytes, await outcome, after.diagnostics]).toEqual([4096, expect.not.stringMatching(/^written/), []])
})
