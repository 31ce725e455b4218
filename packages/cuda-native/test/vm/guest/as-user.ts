// Reads from a bound controller, or binds one, as another user or with another limit of locked memory. Prints the
// error.
import { Controller } from '@gpunvme/host-driver'
import { bytesOf, fixed, openTransport, print, take } from './lib.js'
import { refusalOf } from './refusals-of.js'

const attempts: Record<string, () => Promise<unknown>> = {
  bind: () => take(fixed),
  async read() {
    await using transport = await openTransport(fixed)
    await using ctrl = await Controller.open(transport)
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(ns.blockBytes)
    bytesOf(memory).fill(0xa5)
    await ns.read(ns.blocks - 1, 1, memory)
    // No test writes to the last block.
    if (bytesOf(memory).some((byte) => byte !== 0)) throw new Error('expected zeros in the last block')
  },
}
print(await refusalOf(attempts[process.argv[2]!]!))
