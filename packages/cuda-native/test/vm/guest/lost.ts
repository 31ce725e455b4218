// Unplugs the device during reads. All commands must end as device-lost, and no call may hang.
import { cpuKernelEngine } from '@gpunvme/cuda-native'
import { Controller } from '@gpunvme/host-driver'
import { loose, MIB, openTransport, print, take, variable } from './lib.js'

/** Time limit of each recovery step, to bound the time until the device is declared lost. */
const SECOND_NS = 1_000_000_000

const device = loose()
const binding = await take(device)
const transport = await openTransport(binding)
const ctrl = await Controller.open(transport, {
  queues: 2,
  // The engine's threads access queues and doorbells directly, even after the kernel has revoked the mappings.
  ...(variable('VM_ENGINE') === 'cpu-kernel' && { engine: cpuKernelEngine(transport) }),
  readyTimeoutNs: SECOND_NS,
  commandTimeoutNs: 2 * SECOND_NS,
  recovery: { abortNs: SECOND_NS, queuesNs: SECOND_NS, restartNs: SECOND_NS },
})
const events: string[] = []
const listening = (async () => {
  for await (const event of ctrl.events())
    events.push(event.kind === 'recovery' ? `${event.step} ${event.result}` : event.kind)
})()
const ns = ctrl.namespace(1)
const memory = ns.dma.alloc(4 * MIB)
const transfers = [{ slba: 0, blocks: memory.lengthBytes / ns.blockBytes, offsetBytes: 0 }]
const plan = ns.planReads(transfers)

let askedMs = NaN
let outcomes: string[] = []
let counted = true
for (let round = 1; outcomes.length === 0; round++) {
  const running = ns.execute(plan, memory, { timeoutNs: 2 * SECOND_NS })
  if (round === 3) {
    askedMs = performance.now()
    print({ monitor: { execute: 'device_del', arguments: { id: device.id } } })
  }
  const { failures, succeeded } = await running
  counted &&= failures.length + succeeded === plan.commands
  outcomes = [...new Set(failures.map(({ outcome }) => outcome.kind))].sort()
}
const noticedMs = Math.round(performance.now() - askedMs)
const nameOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
const after = await ns.read(0, 1, memory).then(() => 'succeeded', nameOf)
const closed = await ctrl.close().then(() => 'closed', nameOf)
await listening
const released = await transport.close().then(() => 'closed', nameOf)
const restored = await binding.restore().then(() => 'restored', nameOf)
const boundMs = ctrl.recoveryBoundNs / 1e6
print({ outcomes, counted, noticedMs, boundMs, after, closed, released, restored, events })
