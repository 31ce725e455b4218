// Waits for completions by MSI-X interrupts and eventfds instead of polling.
import { Controller } from '@gpunvme/host-driver'
import type { Interrupts } from '@gpunvme/nvme-spec/transport'
import { bytesOf, fixed, MIB, openTransport, print, take } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 8 * MIB
const ROUNDS = 4

await using binding = await take(fixed)
await using transport = await openTransport(binding, 1)
const given = transport.interrupts
if (given === undefined) throw new Error('the transport has no interrupts')
/** Number of waits by outcome. */
const waits = { fired: 0, deadline: 0 }
const interrupts: Interrupts = {
  vectors: given.vectors,
  async wait(vector, untilNs) {
    const outcome = await given.wait(vector, untilNs)
    waits[outcome]++
    return outcome
  },
}
await using ctrl = await Controller.open(
  { ...transport, interrupts },
  { queues: 4, interrupts: true, write: { serial: fixed.serial } },
)
const ns = ctrl.namespace(1)
const blocks = BYTES / ns.blockBytes
const memory = ns.dma.alloc(BYTES)
let right = true
for (let round = 0; round < ROUNDS; round++) {
  const content = randomBytes(BYTES, 7 + round)
  content.copy(bytesOf(memory))
  await ns.write(round * blocks, blocks, memory)
  bytesOf(memory).fill(0xa5)
  await ns.read(round * blocks, blocks, memory)
  right &&= bytesOf(memory).equals(content)
}
const { recoveries } = ctrl.statistics
print({ right, vectors: given.vectors, ...waits, resets: recoveries['controller-reset'] })
