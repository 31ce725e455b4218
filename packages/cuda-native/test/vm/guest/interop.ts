// The kernel's driver reads what this driver wrote, and vice versa.
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'
import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { bytesOf, fixed, kernelDevices, MIB, openTransport, print, take } from './lib.js'
import { randomBytes } from './pattern.js'

const BYTES = 8 * MIB
/** First blocks, in units of 512 bytes. Not round numbers, so that misplaced data are detected. */
const [OURS, THEIRS] = [12_345, 54_321]

async function withNamespace(work: (ns: WritableNamespace, memory: DmaMemory) => Promise<void>): Promise<void> {
  await using binding = await take(fixed)
  await using transport = await openTransport(binding)
  await using ctrl = await Controller.open(transport, { queues: 2, write: { serial: fixed.serial } })
  const ns = ctrl.namespace(1)
  await work(ns, ns.dma.alloc(BYTES))
}

const [ours, theirs] = [randomBytes(BYTES, 1), randomBytes(BYTES, 2)]
await withNamespace(async (ns, memory) => {
  ours.copy(bytesOf(memory))
  await ns.write(OURS, BYTES / ns.blockBytes, memory)
  await ns.flush()
})

const { namespace } = await kernelDevices(fixed)
const file = openSync(namespace, 'r+')
const read = Buffer.alloc(BYTES)
const readBytes = readSync(file, read, 0, BYTES, OURS * 512)
const writtenBytes = writeSync(file, theirs, 0, BYTES, THEIRS * 512)
fdatasyncSync(file)
closeSync(file)

await withNamespace(async (ns, memory) => {
  await ns.read(THEIRS, BYTES / ns.blockBytes, memory)
  const weReadTheirs = bytesOf(memory).equals(theirs)
  print({ readBytes, writtenBytes, theyReadOurs: read.equals(ours), weReadTheirs })
})
