// The exporter of a dma-buf revokes it during reads into it. All commands must end as device-lost, and the controller
// must be usable after it is reopened.
import { closeSync, openSync } from 'node:fs'
import { Controller } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { bytesOf, fixed, host, openTransport, print, take } from './lib.js'

const SECOND_NS = 1_000_000_000
const PAGES = 64
const BYTES = PAGES * 4096
/** TEST_EXPORT and TEST_MOVE of kmod/test/module/gpunvme_test.h. */
const [EXPORT, MOVE] = [0xc004_5401, 0xc004_5402]

const exporter = openSync('/dev/gpunvme_test', 'r+')
function ask(request: number, value: number): number {
  const argument = new Uint32Array([value])
  host.ioctl(exporter, request, new Uint8Array(argument.buffer))
  return argument[0]!
}

const binding = await take(fixed)
const transport = await openTransport(binding)
if (!('dmaBufs' in transport)) throw new Error('the transport does not support dma-bufs')
const fd = host.adopt(ask(EXPORT, PAGES))
const buffer = transport.dmaBufs.attach(fd, BYTES)
const memory: DmaMemory = {
  lengthBytes: BYTES,
  segments: buffer.segments,
  iovaAt(offsetBytes) {
    const { iova, offsetBytes: start } = buffer.segments.findLast((each) => each.offsetBytes <= offsetBytes)!
    return iova + offsetBytes - start
  },
  forDevice: () => undefined,
  forHost: () => undefined,
  free: () => buffer.detach(),
}
const ctrl = await Controller.open(transport, {
  queues: 2,
  readyTimeoutNs: SECOND_NS,
  commandTimeoutNs: 2 * SECOND_NS,
  recovery: { abortNs: SECOND_NS, queuesNs: SECOND_NS, restartNs: SECOND_NS },
})
const ns = ctrl.namespace(1)
const plan = ns.planReads([{ slba: 0, blocks: BYTES / ns.blockBytes, offsetBytes: 0 }])

let mappingsLeft = NaN
let outcomes: string[] = []
let rounds = 0
for (; outcomes.length === 0; rounds++) {
  const running = ns.execute(plan, memory, { timeoutNs: 2 * SECOND_NS })
  if (rounds === 3) mappingsLeft = ask(MOVE, fd)
  const { failures } = await running
  outcomes = [...new Set(failures.map(({ outcome }) => outcome.kind))].sort()
}
const { departure } = transport
const { isRevoked } = buffer
memory.free()
await ctrl.close()
await transport.close()
closeSync(fd)

const again = await openTransport(binding)
const reopened = await Controller.open(again)
const own = again.dma.alloc(4096)
bytesOf(own).fill(0xa5)
await reopened.namespace(1).read(0, 8, own)
const isRead = bytesOf(own).some((byte) => byte !== 0xa5)
await reopened.close()
await again.close()
await binding.restore()
print({ outcomes, roundsBefore: Math.min(rounds, 3), mappingsLeft, departure, isRevoked, isRead })
