import { equal, equalBytes, type Check } from '../check.js'
import { content } from '../content.js'
import { MIB } from '../context.js'
import { bytesOf, pieceOf } from '../memory.js'
import { allSucceeded, transfersOf } from './transfers.js'

const CHUNK_BYTES = MIB
const COMMAND_BYTES = 128 * 1024

const overlap: Check = {
  id: 'copy-overlap',
  title: 'What was read is copied to GPU memory while the next is read, and every byte arrives (tier 1)',
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
    // Before the memory goes, whose registrations these are.
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
    equal('mistakes that the controller saw', await drive.simulator.diagnostics(), [])
    return { chunks, bytes: chunks * CHUNK_BYTES, tookMs: Math.round(tookMs) }
  },
}

const inParts: Check = {
  id: 'copy-in-parts',
  title: 'Memory of which parts are registered, by the copies before or by others, is copied whole',
  limitMs: 60_000,
  async run(context) {
    const page = 4096
    const bytes = content(64 * page, 12)
    const region = context.allocate(bytes.length)
    new Uint8Array(region.buffer).set(bytes)
    // By somebody else: from then on it is not registered as a whole.
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
      // From across one end to across another, from gap to gap, and all of it.
      [2, 4],
      [26, 20],
      [0, 64],
    ] as const
    for (const [first, pages] of parts) {
      await onGpu.fill(0xa5)
      await copies.copy(part(first, pages), 0, onGpu, 0, pages * page)
      const expected = bytes.subarray(first * page, (first + pages) * page)
      equalBytes(`${pages} pages from page ${first} on`, await onGpu.read(0, pages * page), expected)
    }
    return { parts: parts.length, pages: 64 }
  },
}

/** Tier 1's second hop. */
export const copyChecks: readonly Check[] = [overlap, inParts]
