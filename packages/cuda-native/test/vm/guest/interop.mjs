// What we write is what the kernel's driver reads, and the other way round.
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { Controller } from '@gpunvme/host-driver'
import { blockDevice, fixed, MIB, openTransport, print, take } from './lib.mjs'
import { random } from './pattern.mjs'

const BYTES = 8 * MIB
/** In blocks of 512 bytes: no multiple of anything, so that what is misplaced is not where it is looked for. */
const [OURS, THEIRS] = [12_345, 54_321]

function content(seed) {
  const next = random(seed)
  return Buffer.from(Uint32Array.from({ length: BYTES / 4 }, () => next(2 ** 32)).buffer)
}

async function withNamespace(work) {
  await using binding = await take(fixed)
  const transport = await openTransport(binding)
  try {
    await using ctrl = await Controller.open(transport, { queues: 2, write: { serial: fixed.serial } })
    const ns = ctrl.namespace(1)
    const memory = ns.dma.alloc(BYTES)
    await work(ns, memory, Buffer.from(memory.view.buffer, memory.view.byteOffset, BYTES))
  } finally {
    await transport.close()
  }
}

const [ours, theirs] = [content(1), content(2)]
await withNamespace(async (ns, memory, bytes) => {
  ours.copy(bytes)
  await ns.write(OURS, BYTES / ns.blockBytes, memory)
  await ns.flush()
})

const { path } = await blockDevice(fixed)
const file = openSync(path, 'r+')
const read = Buffer.alloc(BYTES)
const readBytes = readSync(file, read, 0, BYTES, OURS * 512)
const writtenBytes = writeSync(file, theirs, 0, BYTES, THEIRS * 512)
fdatasyncSync(file)
closeSync(file)

let back
await withNamespace(async (ns, memory, bytes) => {
  await ns.read(THEIRS, BYTES / ns.blockBytes, memory)
  back = Buffer.compare(bytes, theirs)
})
print({ readBytes, writtenBytes, kernelReadsOurs: Buffer.compare(read, ours) === 0, weReadTheKernels: back === 0 })
