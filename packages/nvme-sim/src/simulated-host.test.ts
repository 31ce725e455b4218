import { expect, it } from 'vitest'
import { simulate, SimulatedHost } from './index.js'

it('drives on one host share its memory and clock; a drive without `host` shares neither', () => {
  const host = new SimulatedHost()
  const [one, other, alone] = [simulate({ host }), simulate({ host }), simulate()]
  expect(one.transport.clock).toBe(other.transport.clock)
  expect(one.transport.dma.addressSpace).toBe(other.transport.dma.addressSpace)
  expect(one.transport.dma.addressSpace).toBeDefined()
  expect(alone.transport.dma.addressSpace).not.toBe(one.transport.dma.addressSpace)
  expect(alone.transport.clock).not.toBe(one.transport.clock)
  // All transports of a host allocate from the same addresses.
  const addresses = [one, other].map(({ transport }) => transport.dma.alloc(4096).iovaAt(0))
  expect(new Set(addresses).size).toBe(2)
})

it('allocations on a closed drive fail; other drives on the host keep working', async () => {
  const host = new SimulatedHost()
  const [one, other] = [simulate({ host }), simulate({ host })]
  const memory = one.transport.dma.alloc(4096)
  await one.transport.close()
  expect(() => one.transport.dma.alloc(4096)).toThrow('alloc: the transport was closed')
  memory.view!.setUint8(0, 7)
  other.transport.dma.alloc(4096).free()
  memory.free()
})

it('rejects options of the host for a drive with `host`', () => {
  const host = new SimulatedHost({ hostMemoryBytes: 8192, fragmented: true, seed: 2 })
  expect(() => simulate({ host, hostMemoryBytes: 4096 })).toThrow('in the SimulatedHost')
  expect(() => simulate({ host, fragmented: false })).toThrow(TypeError)
  expect(() => simulate({ host: JSON.parse('{}') as SimulatedHost })).toThrow(
    'simulate options.host: expected a SimulatedHost',
  )
  expect(() => simulate({ host }).transport.dma.alloc(12288)).toThrow('8192 of 8192 free')
  expect(() => new SimulatedHost({ hostMemoryBytes: -1 })).toThrow('SimulatedHost options.hostMemoryBytes')
})
