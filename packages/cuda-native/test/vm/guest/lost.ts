// The device is pulled out in the middle of reads: every one ends, the loss has a name, and nothing hangs.
import { Controller } from '@gpunvme/host-driver'
import { loose, MIB, openTransport, print, take } from './lib.js'

const device = loose()
const binding = await take(device)
const transport = await openTransport(binding)
const ctrl = await Controller.open(transport, { queues: 2 })
const ns = ctrl.namespace(1)
const memory = ns.dma.alloc(4 * MIB)
const transfers = [{ slba: 0, blocks: memory.lengthBytes / ns.blockBytes, offsetBytes: 0 }]

const plan = ns.planReads(transfers)
let rounds = 0
let askedMs = NaN
let outcomes: string[] = []
while (outcomes.length === 0) {
  const running = ns.execute(plan, memory)
  if (++rounds === 3) {
    askedMs = performance.now()
    print({ monitor: { execute: 'device_del', arguments: { id: 'loose' } } })
  }
  const { failures } = await running
  outcomes = [...new Set(failures.map(({ outcome }) => outcome.kind))].sort()
}
const noticedMs = Math.round(performance.now() - askedMs)
const after = await ns.read(0, 1, memory).then(
  () => 'succeeded',
  (error: unknown) => (error as { code?: string }).code,
)
const nameOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
const closed = await ctrl.close().then(() => 'closed', nameOf)
const released = await transport.close().then(() => 'closed', nameOf)
const restored = await binding.restore().then(() => 'restored', nameOf)
print({ outcomes, noticedMs, after, closed, released, restored })
