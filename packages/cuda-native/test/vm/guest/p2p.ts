// The controller reads straight into another device's BAR, as it will into a GPU's memory, and writes from there.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { bytesOf, fixed, host, MIB, openTransport, print, take, vram } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 4 * MIB
const AT = 3 * MIB

/** BAR 2 of the other device, as memory that plans can name: by its physical address. */
function foreignMemory(): DmaMemory & { readonly bytes: Buffer } {
  const folder = join('/sys/bus/pci/devices', vram)
  const [start] = (readFileSync(join(folder, 'resource'), 'utf8').split('\n')[2] ?? '').split(' ').map(Number)
  const fd = openSync(join(folder, 'resource2_wc'), 'r+')
  const region = host.map(fd, 0, 64 * MIB, 'read-write')
  closeSync(fd)
  const iova = start! + AT
  return {
    lengthBytes: BYTES,
    view: new DataView(region.buffer, AT, BYTES),
    bytes: Buffer.from(region.buffer),
    segments: [{ offsetBytes: 0, iova, lengthBytes: BYTES }],
    iovaAt: (offset) => iova + offset,
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}

await using binding = await take(fixed)
await using transport = await openTransport(binding)
await using ctrl = await Controller.open(transport, { queues: 2, write: { serial: fixed.serial } })
const ns = ctrl.namespace(1)
const blocks = BYTES / ns.blockBytes
const content = randomBytes(BYTES, 4)
const memory = ns.dma.alloc(BYTES)
content.copy(bytesOf(memory))
await ns.write(1000, blocks, memory)

const foreign = foreignMemory()
foreign.bytes.fill(0xa5)
await ns.read(1000, blocks, foreign)
const arrived = bytesOf(foreign).equals(content)
// What lies around the target was not touched.
const around = [foreign.bytes[AT - 1], foreign.bytes[AT + BYTES]]

await ns.write(20_000, blocks, foreign)
bytesOf(memory).fill(0)
await ns.read(20_000, blocks, memory)
print({ arrived, around, left: bytesOf(memory).equals(content) })
