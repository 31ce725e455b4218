import { Controller, HostEngine } from '@gpunvme/host-driver'
import { openSysfs } from '@gpunvme/host-driver/sysfs'
import { openVfio } from '@gpunvme/host-driver/vfio'
import { CSTS } from '@gpunvme/nvme-spec'
import type { QueuePairMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { equal, NotApplicable, type Check, type Facts } from '../check.js'
import type { CheckContext } from '../context.js'
import { namedFunction } from './registration.js'

const PAGE_BYTES = 4096

/** The driver's own engine, with access to its queues. */
class SeenEngine extends HostEngine {
  queues: readonly QueuePairMemory[] = []

  override attach(queues: readonly QueuePairMemory[], watch?: () => void): void {
    this.queues = queues
    super.attach(queues, watch)
  }
}

/**
 * Rings the doorbell of an idle submission queue with its current tail, from a kernel of one thread: the controller has
 * nothing to fetch, whether or not the write arrives. The host submits commands before and after, none of which is a write.
 */
export async function ringIdleQueue(context: CheckContext, transport: Transport): Promise<Facts> {
  const { cuda, kernels } = context
  const { bar } = transport
  if (bar.window === undefined) throw new NotApplicable(`${transport.name} maps no registers`)
  const engine = new SeenEngine(transport)
  const controller = await Controller.open(transport, { engine, queues: 1 })
  context.later(() => controller.close())
  const [pair] = engine.queues
  const { sqTailDoorbell, sqTail, qid } = pair!
  cuda.loadKernels(kernels.measure)
  const stream = cuda.stream()
  context.later(() => stream.close())
  // The pages up to that of the doorbell. The host has accessed each of them by now.
  const lengthBytes = Math.ceil((sqTailDoorbell + 4) / PAGE_BYTES) * PAGE_BYTES
  const { address, isMemory } = bar.window
  const registration = isMemory ? cuda.register(address, lengthBytes) : cuda.registerIo(address, lengthBytes)
  context.later(() => registration.unregister())
  const doorbell = registration.gpuPointer + BigInt(sqTailDoorbell)
  cuda.launch('gpunvme_ring', 1, 1, [doorbell, BigInt(sqTail)], stream)
  await stream.finished(5e9)
  const csts = bar.read32(CSTS.offset)
  equal('CSTS.RDY', CSTS.RDY.of(csts), 1)
  equal('CSTS.CFS', CSTS.CFS.of(csts), 0)
  // The queue serves commands as before.
  await controller.namespaces[0]?.readBytes(0, PAGE_BYTES)
  return { qid, tail: sqTail, doorbell: sqTailDoorbell }
}

const ring: Check = {
  id: 'ring-doorbell',
  title:
    'A kernel rings the doorbell of an idle queue of a real drive with the current tail, and the drive still works',
  alone: true,
  limitMs: 60_000,
  async run(context) {
    if (!context.ring) throw new NotApplicable('requires --ring and --bdf')
    const { bdf, driver } = namedFunction(context)
    const { host } = context
    const transport = driver === undefined ? await openSysfs({ host, bdf }) : await openVfio({ host, bdf })
    context.later(() => transport.close())
    return { driver: driver ?? null, ...(await ringIdleQueue(context, transport)) }
  },
}

/** The only check that writes to a real drive's registers, and only on request. */
export const ringChecks: readonly Check[] = [ring]
