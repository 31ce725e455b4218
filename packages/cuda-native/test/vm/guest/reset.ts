// Disables or resets the controller during reads, without the driver's knowledge. All reads must succeed with correct
// data.
import { Controller } from '@gpunvme/host-driver'
import { CC } from '@gpunvme/nvme-spec'
import { bytesOf, fixed, MIB, openTransport, print, take } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 16 * MIB
/**
 * Command timeout, after which the driver detects the reset: long enough for QEMU on a busy machine, short for a test.
 */
const TIMEOUT_NS = 2_000_000_000

await using binding = await take(fixed)
await using transport = await openTransport(binding)
await using ctrl = await Controller.open(transport, {
  queues: 4,
  write: { serial: fixed.serial },
  commandTimeoutNs: TIMEOUT_NS,
})
const ns = ctrl.namespace(1)
const memory = ns.dma.alloc(BYTES)
const content = randomBytes(BYTES, 5)
content.copy(bytesOf(memory))
const blocks = BYTES / ns.blockBytes
await ns.write(0, blocks, memory)
const plan = ns.planReads([{ slba: 0, blocks, offsetBytes: 0 }])

/** Reads while `disturb` runs, and again afterwards. */
async function readWhile(disturb: () => Promise<void> | void): Promise<object> {
  const started = performance.now()
  const before = ctrl.statistics.recoveries['controller-reset']
  let good = true
  const read = async (meanwhile: () => Promise<void> | void = () => undefined) => {
    bytesOf(memory).fill(0xa5)
    const running = ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS })
    await meanwhile()
    const { failures, succeeded } = await running
    good &&= failures.length === 0 && succeeded === plan.commands && bytesOf(memory).equals(content)
  }
  await read(disturb)
  // The first read may have ended before the disturbance. This one starts after it.
  await read()
  const { 'controller-reset': resets, lost } = ctrl.statistics.recoveries
  return { good, resets: resets - before, lost, ms: Math.round(performance.now() - started) }
}

const disable = () => transport.bar.write32(CC.offset, (transport.bar.read32(CC.offset) & ~(1 << CC.EN.lsb)) >>> 0)
const disabled = await readWhile(() => disable())
// A function-level reset, if the transport supports one.
const functionReset = transport.reset === undefined ? 'none' : await readWhile(() => transport.reset!('function'))
print({ disabled, functionReset })
