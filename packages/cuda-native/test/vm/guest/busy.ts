// Reads and writes until killed.ts, which has bound the controller, kills this process.
import { Controller } from '@gpunvme/host-driver'
import { fixed, MIB, openTransport, print } from './lib.js'

await using transport = await openTransport(fixed)
await using ctrl = await Controller.open(transport, { queues: 4, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const memory = ns.dma.alloc(32 * MIB)
const transfers = [{ slba: 0, blocks: memory.lengthBytes / ns.blockBytes, offsetBytes: 0 }]
for (let round = 0; ; round++) {
  const plans = [ns.planWrites(transfers), ns.planReads(transfers)]
  const running = Promise.all(plans.map((plan) => ns.execute(plan, memory)))
  if (round === 1) print({ busy: true })
  await running
}
