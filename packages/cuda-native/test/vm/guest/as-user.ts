// Run by somebody who is not root: how far it gets with a controller that is bound already, or with binding one.
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
    // Where nothing was ever written.
    if (bytesOf(memory).some((byte) => byte !== 0)) throw new Error('something else was read')
  },
}
print(await refusalOf(attempts[process.argv[2]!]!))
