// Stands for a native module: both threads that import it see the same memory, which neither could be posted.
import { getEnvironmentData } from 'node:worker_threads'

const ADDRESS = 0x7f00_0000_0000n
const { memory, orders } = getEnvironmentData('gpunvme shared memory')

export function view(address, lengthBytes) {
  if (address !== ADDRESS || lengthBytes !== memory.byteLength) throw new RangeError(`no memory at ${address}`)
  return memory
}

/** Counts its calls, and does what the test has ordered: 0 is nothing, 1 is to throw, 2 is to hang until the order changes. */
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
