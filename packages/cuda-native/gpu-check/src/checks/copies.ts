import { open } from 'node:fs/promises'
import { readThrough, type ReadThrough } from '@gpunvme/cuda-native/cuda'
import { equal, equalBytes, type Check } from '../check.js'
import { content } from '../content.js'
import { MIB } from '../context.js'
import { bytesOf, pieceOf } from '../memory.js'
import { allSucceeded, transfersOf } from '../plans.js'

const CHUNK_BYTES = MIB
const COMMAND_BYTES = 128 * 1024
/** Size of the guard areas before and after the destination, which must not change. */
const ASIDE_BYTES = 4096

const overlap: Check = {
  id: 'copy-overlap',
  title: 'Each chunk is copied to GPU memory while the next one is read, and every byte arrives (tier 1)',
  limitMs: 60_000,
  async run(context) {
    const chunks = Math.floor(context.scale.planBytes / CHUNK_BYTES)
    const commands = CHUNK_BYTES / COMMAND_BYTES
    const media = content(chunks * CHUNK_BYTES, 9)
    const drive = await context.drive(media, 8 * MIB)
    const options = { queueDepth: 8, maxTransferBytes: COMMAND_BYTES }
    const { controller, namespace } = await context.open(drive, options)
    const copies = context.cuda.copyEngine()
    context.later(() => copies.close())
    const onGpu = copies.alloc(chunks * CHUNK_BYTES)
    context.later(() => onGpu.free())
    await onGpu.fill(0xa5)
    const buffers = [namespace.dma.alloc(CHUNK_BYTES), namespace.dma.alloc(CHUNK_BYTES)]
    // Unregisters the buffers before their memory is freed.
    context.later(() => buffers.forEach((buffer) => copies.forget(buffer)))
    for (const buffer of buffers) bytesOf(buffer).fill(0x5a)
    const underWay = [Promise.resolve(), Promise.resolve()]
    const startMs = performance.now()
    for (let chunk = 0; chunk < chunks; chunk++) {
      const which = chunk % 2
      await underWay[which]
      const buffer = buffers[which]!
      const transfers = transfersOf(commands, COMMAND_BYTES, (chunk * CHUNK_BYTES) / namespace.blockBytes)
      allSucceeded(`chunk ${chunk}`, await namespace.execute(namespace.planReads(transfers), buffer))
      underWay[which] = copies.copy(buffer, 0, onGpu, chunk * CHUNK_BYTES, CHUNK_BYTES)
    }
    await Promise.all(underWay)
    const tookMs = performance.now() - startMs
    equalBytes('GPU memory', await onGpu.read(), media)
    await controller.close()
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return { chunks, bytes: chunks * CHUNK_BYTES, tookMs: Math.round(tookMs) }
  },
}

const readThroughSlots: Check = {
  id: 'read-through',
  title:
    'readThrough copies data read by the engine, and by Linux from a file, to GPU memory: every byte, and nothing else',
  limitMs: 60_000,
  async run(context) {
    const pieces = Math.floor(context.scale.planBytes / CHUNK_BYTES)
    // The last piece is shorter.
    const lengthBytes = pieces * CHUNK_BYTES - 3 * COMMAND_BYTES
    const media = content(pieces * CHUNK_BYTES, 15)
    const drive = await context.drive(media, 8 * MIB)
    const { controller, namespace } = await context.open(drive, { queueDepth: 8, maxTransferBytes: COMMAND_BYTES })
    const copies = context.cuda.copyEngine()
    context.later(() => copies.close())
    const to = copies.alloc(lengthBytes + 2 * ASIDE_BYTES)
    context.later(() => to.free())
    const slots = [namespace.dma.alloc(CHUNK_BYTES), namespace.dma.alloc(CHUNK_BYTES)]
    context.later(() => slots.forEach((slot) => copies.forget(slot)))
    const expected = new Uint8Array(to.lengthBytes).fill(0xa5)
    expected.set(media.subarray(0, lengthBytes), ASIDE_BYTES)
    const through = async (what: string, slotCount: number, read: ReadThrough['read']) => {
      await to.fill(0xa5)
      for (const slot of slots) bytesOf(slot).fill(0x5a)
      const startMs = performance.now()
      await readThrough({
        ...{ slots: slots.slice(0, slotCount), copies, to, toBytes: ASIDE_BYTES, lengthBytes },
        read,
      })
      const tookMs = performance.now() - startMs
      equalBytes(`GPU memory, ${what} with ${slotCount} slots`, await to.read(), expected)
      return {
        slots: slotCount,
        tookMs: Math.round(tookMs),
        mibPerSecond: Math.round((lengthBytes / MIB / tookMs) * 1000),
      }
    }
    const byEngine: ReadThrough['read'] = async (slot, from, bytes) => {
      const transfers = transfersOf(bytes / COMMAND_BYTES, COMMAND_BYTES, from / namespace.blockBytes)
      allSucceeded(`reads from byte ${from}`, await namespace.execute(namespace.planReads(transfers), slot))
    }
    const file = await open(drive.mediaPath)
    context.later(() => file.close())
    const byLinux: ReadThrough['read'] = async (slot, from, bytes) => {
      const { bytesRead } = await file.read(bytesOf(slot), 0, bytes, from)
      equal(`bytes returned by pread from byte ${from}`, bytesRead, bytes)
    }
    const engine = [await through('by the engine', 1, byEngine), await through('by the engine', 2, byEngine)]
    const pread = [await through('by pread', 1, byLinux), await through('by pread', 2, byLinux)]
    await controller.close()
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
    return { bytes: lengthBytes, pieceBytes: CHUNK_BYTES, engine, pread }
  },
}

const inParts: Check = {
  id: 'copy-in-parts',
  title: 'Memory that is registered in part, by earlier copies or by other code, is copied completely',
  limitMs: 60_000,
  async run(context) {
    const page = 4096
    const bytes = content(64 * page, 12)
    const region = context.allocate(bytes.length)
    new Uint8Array(region.buffer).set(bytes)
    // A registration by other code: the region can no longer be registered as a whole.
    const others = context.cuda.register(region.address + BigInt(20 * page), page)
    context.later(() => others.unregister())
    const copies = context.cuda.copyEngine()
    context.later(() => copies.close())
    const onGpu = copies.alloc(bytes.length)
    context.later(() => onGpu.free())
    const part = (first: number, pages: number) => pieceOf(region.buffer, region.address, first * page, pages * page)
    context.later(() => copies.forget(part(0, 64)))
    const parts = [
      [4, 4],
      [30, 10],
      // Across one end of a registered part, across several parts, and the whole region.
      [2, 4],
      [26, 20],
      [0, 64],
    ] as const
    for (const [first, pages] of parts) {
      await onGpu.fill(0xa5)
      await copies.copy(part(first, pages), 0, onGpu, 0, pages * page)
      const expected = bytes.subarray(first * page, (first + pages) * page)
      equalBytes(`${pages} pages from page ${first}`, await onGpu.read(0, pages * page), expected)
    }
    return { parts: parts.length, pages: 64 }
  },
}

/** Tier 1's second hop. */
export const copyChecks: readonly Check[] = [overlap, readThroughSlots, inParts]
