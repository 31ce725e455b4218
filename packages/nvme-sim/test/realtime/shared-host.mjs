// Replaces a native module: both threads that import it access the same memory.
import { getEnvironmentData } from 'node:worker_threads'

const ADDRESS = 0x7f00_0000_0000n
const { memory, orders } = getEnvironmentData('gpunvme shared memory')

export function view(address, lengthBytes) {
  if (address !== ADDRESS || lengthBytes !== memory.byteLength) throw new RangeError(`no memory at ${address}`)
  return memory
}

/** Counts its calls, and executes the order of the test. 0: nothing, 1: throw, 2: hang until the order changes. */
function give() {
  Atomics.add(orders, 1, 1)
  if (Atomics.load(orders, 0) === 2) {
    Atomics.store(orders, 2, 1)
    Atomics.notify(orders, 2)
    Atomics.wait(orders, 0, 2)
  }
  if (Atomics.load(orders, 0) === 1) throw new Error('the native module has failed')
}

export { give as yield }
