import { expect, it } from 'vitest'
import { FaultPlanError } from '@gpunvme/nvme-spec/faults'
import { RamMedia } from '../index.js'
import { startRealTimeSimulator } from './index.js'

const memory = new SharedArrayBuffer(1 << 20)
const module = new URL('file:///nowhere/host.mjs')
const native = { module, address: 4096n, lengthBytes: 4096 }
const source = "expected either 'memory', a SharedArrayBuffer, or 'module' with 'address' and 'lengthBytes', got"

it.each([
  [undefined, TypeError, `${source} undefined`],
  [{}, TypeError, `${source} neither`],
  [{ memory, ...native }, TypeError, `${source} both`],
  [{ memory: new ArrayBuffer(1 << 20) }, TypeError, 'memory: expected a SharedArrayBuffer, since threads cannot share'],
  [{ ...native, module: './x.mjs' }, TypeError, "as new URL('./host.mjs', import.meta.url), got './x.mjs'"],
  [{ ...native, address: 4096 }, TypeError, 'address: expected an address as a bigint, 1n or more, got 4096'],
  [{ ...native, address: 0n }, RangeError, 'got 0n'],
  [{ module, address: 4096n }, TypeError, 'lengthBytes: expected a whole number of bytes, 1 or more, got undefined'],
  [
    { memory, trace: () => undefined },
    TypeError,
    "unknown 'trace'; a function cannot be passed to the simulator's thread",
  ],
  [
    { memory, spareCapacityBytes: 5 },
    TypeError,
    "'spareCapacityBytes'; only simulate() has spare capacity; known are memory,",
  ],
  [{ memory, fault: 5 }, TypeError, "unknown 'fault'; known are memory, baseIova,"],
  [{ memory, seed: 1.5 }, RangeError, 'seed: expected a whole number from 0 to 4294967295, got 1.5'],
  [{ memory, reach: 'some' }, RangeError, "reach: expected one of 'allocated', 'all', got 'some'"],
  [{ memory, idle: { pollsPerYield: 0 } }, RangeError, 'idle.pollsPerYield: expected a count of 1 or more, got 0'],
  [{ memory, idle: { spinPolls: NaN } }, RangeError, 'idle.spinPolls: expected a count of 0 or more, got NaN'],
  [
    { memory, idle: { minSleepNs: 0 } },
    RangeError,
    'idle.minSleepNs: expected whole nanoseconds from 1 to 60e9, got 0',
  ],
  [{ memory, idle: { sleepNs: 5 } }, TypeError, "idle: unknown 'sleepNs'"],
  [
    { memory, responseLimitMs: -1 },
    RangeError,
    'responseLimitMs: expected a whole number from 1 to 2147483647, got -1',
  ],
  [{ memory, profile: { name: 'x' } }, TypeError, 'profile.source: expected a string, got undefined'],
  [
    { memory, namespaces: [{ media: new RamMedia(4096) }] },
    TypeError,
    "unknown 'media'; it cannot be passed to the simulator's",
  ],
  [
    { memory, namespaces: [{ capacityBytes: () => 5 }] },
    TypeError,
    'capacityBytes: expected a whole number of bytes, 1 or',
  ],
  [{ memory, namespaces: [{ file: 'disk.img' }] }, TypeError, "namespaces[0].file: expected an object, got 'disk.img'"],
  [{ memory, faults: { rules: 5 } }, FaultPlanError, "expected an object with a list 'rules'"],
])('rejects %o before it starts a thread', async (options, error, message) => {
  const started = startRealTimeSimulator(options as never)
  await expect(started).rejects.toThrow(error)
  await expect(started).rejects.toThrow(message)
})
