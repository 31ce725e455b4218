import { simulate } from '@gpunvme/nvme-sim'
import type { Engine, Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { HostEngine } from '../engine/host-engine.js'
import { faulty } from '../wrap/faulty.js'
import { traced } from '../wrap/traced.js'

const wrappers: [string, (transport: Transport) => Transport][] = [
  ['traced', (transport) => traced(transport, () => undefined)],
  ['faulty', (transport) => faulty(transport, { rules: [] })],
  [
    'both',
    (transport) =>
      faulty(
        traced(transport, () => undefined),
        { rules: [] },
      ),
  ],
  ['a copy of one', (transport) => ({ ...traced(transport, () => undefined) })],
]

/** Returns the transport with registers that throw when they are accessed. */
function untouched(transport: Transport): Transport {
  const touch = () => {
    throw new Error('touched')
  }
  const bar = { lengthBytes: 16384, read32: touch, read64: touch, write32: touch, write64: touch }
  return { ...transport, bar }
}

test.each(wrappers)('rejects an engine below the wrapper %s unless it is allowed', async (_, wrap) => {
  const { transport } = simulate()
  const engine = new HostEngine(transport)
  const wrapped = wrap(transport)
  await expect(Controller.open(wrapped, { engine })).rejects.toThrow(
    /^engine: expected one made on transport .*, got 'host' on the transport below it, .*\{ allowInnerEngine: true \}$/,
  )
  await expect(Controller.open(wrapped, { engine, allowInnerEngine: false })).rejects.toThrow(TypeError)
  const controller = await Controller.open(wrapped, { engine, allowInnerEngine: true })
  expect((await controller.namespace(1).readBytes(0, 512)).length).toBe(512)
  await controller.close()
})

describe('an engine on other registers', () => {
  test('is rejected before any access to the controller, whatever is allowed', async () => {
    const device = untouched(simulate().transport)
    const engine = new HostEngine(simulate().transport)
    for (const allowInnerEngine of [false, true]) {
      await expect(Controller.open(device, { engine, allowInnerEngine })).rejects.toThrow(
        new TypeError(
          "engine: expected one made on transport sim:ideal, got 'host' on another device; " +
            'a wrapper must set `wraps`',
        ),
      )
    }
  })

  test('of a wrapper of the transport is rejected', async () => {
    const { transport } = simulate()
    const engine = new HostEngine(traced(transport, () => undefined))
    await expect(Controller.open(transport, { engine, allowInnerEngine: true })).rejects.toThrow(/on another device/)
  })
})

test('accepts an engine on the same registers, on a copy of the transport, or without a transport', async () => {
  const { transport } = simulate()
  const wrapped = traced(transport, () => undefined)
  const inner = new HostEngine(transport)
  const silent: Engine = {
    name: 'silent',
    attach: (queues, watch) => inner.attach(queues, watch),
    execute: (plan, memory, options) => inner.execute(plan, memory, options),
    detach: () => inner.detach(),
  }
  for (const [on, engine] of [
    [transport, new HostEngine(transport)],
    [wrapped, new HostEngine(wrapped)],
    [{ ...transport }, new HostEngine(transport)],
    [wrapped, silent],
  ] as const) {
    const controller = await Controller.open(on, { engine })
    await controller.namespace(1).readBytes(0, 512)
    await controller.close()
  }
})
