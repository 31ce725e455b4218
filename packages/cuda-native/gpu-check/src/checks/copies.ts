import { equal, equalBytes, type Check } from '../check.js'
import { content } from '../content.js'
import { MIB } from '../context.js'
import { bytesOf } from '../memory.js'
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

/** Tier 1's second hop. */
export const copyChecks: readonly Check[] = [overlap]
