// The controller reads straight into another device's BAR, as it will into a GPU's memory, and writes from there.
import { Controller } from '@gpunvme/host-driver'
import { bytesOf, fixed, MIB, openTransport, print, take, vram } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 4 * MIB
const AT = 3 * MIB

await using binding = await take(fixed)
await using transport = await openTransport(binding)
if (!('mapPeer' in transport)) throw new Error('this way maps no other device')
await using ctrl = await Controller.open(transport, { queues: 2, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const blocks = BYTES / ns.blockBytes
const content = randomBytes(BYTES, 4)
const memory = ns.dma.alloc(BYTES)
content.copy(bytesOf(memory))
await ns.write(1000, blocks, memory)

// In the middle of BAR 2, so that what lies around the target can be looked at.
const foreign = transport.mapPeer({ bdf: vram, bar: 2 })
const all = bytesOf(foreign)
all.fill(0xa5)
await ns.read(1000, blocks, foreign, { offsetBytes: AT })
const arrived = all.subarray(AT, AT + BYTES).equals(content)
const around = [all[AT - 1], all[AT + BYTES]]

// And out of it.
await ns.write(20_000, blocks, foreign, { offsetBytes: AT })
bytesOf(memory).fill(0)
await ns.read(20_000, blocks, memory)
foreign.free()
print({ arrived, around, left: bytesOf(memory).equals(content) })
