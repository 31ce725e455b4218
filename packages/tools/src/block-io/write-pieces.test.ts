import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { testIo } from '../../test/gpunvme.js'
import { contents, pattern, withSimulatedDrive } from '../../test/simulated-drive.js'
import { ByteSource, ShortSourceError } from './byte-source.js'
import { compareWritten, ReadBackError } from './compare-written.js'
import { writePieces, type WriteRequest } from './write-pieces.js'
import { WriteStoppedError } from './write-stopped.js'

const folder = scratch()

const never = new AbortController().signal
const REQUEST: WriteRequest = { offsetBytes: 0, padZero: false, keepDigests: true, signal: never, pieceBytes: 4096 }

function source(bytes: Uint8Array, wanted?: number, signal = never): ByteSource {
  const path = join(folder, 'source.bin')
  writeFileSync(path, bytes)
  return ByteSource.open(path, wanted, testIo().stdin, signal)
}

/** Returns the error of a stopped write. */
async function stopped(writing: Promise<unknown>): Promise<WriteStoppedError> {
  const error = await writing.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(WriteStoppedError)
  return error as WriteStoppedError
}

test('writePieces writes all bytes of the source, and nothing else', async () => {
  const bytes = pattern(102_400)
  await withSimulatedDrive({}, async ({ media, namespace }) => {
    media.write(0, new Uint8Array(200_000).fill(0xa5))
    const written = await writePieces(namespace, source(bytes), { ...REQUEST, offsetBytes: 5120 })
    expect(written).toMatchObject({ lengthBytes: 102_400, paddedBytes: 0 })
    expect(Buffer.from(contents(media, 5120, 102_400)).equals(bytes)).toBe(true)
    expect(new Set([...contents(media, 0, 5120), ...contents(media, 107_520, 5000)])).toEqual(new Set([0xa5]))
    await compareWritten(namespace, 5120, written, never, () => undefined)
  })
})

test('padZero fills the rest of the last block with zeros', async () => {
  const bytes = pattern(5000)
  await withSimulatedDrive({}, async ({ media, namespace }) => {
    media.write(0, new Uint8Array(8192).fill(0xa5))
    const written = await writePieces(namespace, source(bytes), { ...REQUEST, padZero: true })
    expect(written).toMatchObject({ lengthBytes: 5120, paddedBytes: 120 })
    expect(Buffer.from(contents(media, 0, 5000)).equals(bytes)).toBe(true)
    expect(new Set(contents(media, 5000, 120))).toEqual(new Set([0]))
    expect(contents(media, 5120, 1)).toEqual(Uint8Array.of(0xa5))
  })
})

test('without padZero, a partial last block is rejected before its piece is written', async () => {
  await withSimulatedDrive({}, async ({ media, namespace }) => {
    const error = await stopped(writePieces(namespace, source(pattern(4100)), REQUEST))
    expect(error.message).toBe(
      `Writing stopped after 4 KiB: ${join(folder, 'source.bin')} ends inside a block: the last one has 4 bytes of 512\n` +
        '  LBAs 0x0 to 0x7 are written, and flushed\n' +
        '  blocks from LBA 0x8 are unchanged\n' +
        '  Try: fill it with zeros by --pad zero, or use a --length of whole blocks',
    )
    expect(error.category).toBe('usage')
    expect(new Set(contents(media, 4096, 512))).toEqual(new Set([0]))
  })
})

test('an abort stops between two pieces, and exactly the reported blocks are written', async () => {
  const bytes = pattern(409_600)
  await withSimulatedDrive({}, async ({ media, namespace }) => {
    const controller = new AbortController()
    const onProgress = (writtenBytes: number) => {
      if (writtenBytes >= 40_960) controller.abort(new Error('Interrupted by SIGINT'))
    }
    const { signal } = controller
    const error = await stopped(
      writePieces(namespace, source(bytes, undefined, signal), { ...REQUEST, signal, onProgress }),
    )
    const { writtenBytes, begunBytes, isFlushed } = error.state
    expect(isFlushed).toBe(true)
    expect(begunBytes).toBe(writtenBytes)
    expect(writtenBytes).toBeGreaterThanOrEqual(40_960)
    expect(writtenBytes).toBeLessThan(409_600)
    expect(error.message).toContain(`LBAs 0x0 to 0x${(writtenBytes / 512 - 1).toString(16)} are written, and flushed`)
    expect(Buffer.from(contents(media, 0, writtenBytes)).equals(bytes.subarray(0, writtenBytes))).toBe(true)
    expect(new Set(contents(media, writtenBytes, 409_600 - writtenBytes))).toEqual(new Set([0]))
  })
})

test('a failed write reports the blocks before it as written and its piece as uncertain', async () => {
  const action = { kind: 'status', sct: 2, sc: 0x80, dnr: true } as const
  const faults = { rules: [{ match: { opcode: 1, lba: [20, 20] }, action }] } as const
  await withSimulatedDrive({ faults }, async ({ namespace }) => {
    const error = await stopped(writePieces(namespace, source(pattern(81_920)), REQUEST))
    expect(error.category).toBe('device')
    expect(error.message).toMatch(/^Writing stopped after 8 KiB: Write failed: Write Fault \(SCT 2h SC 80h, DNR, M\)\n/)
    expect(error.message).toContain('LBAs 0x0 to 0xf are written, and flushed\n')
    expect(error.message).toMatch(/LBAs 0x10 to 0x(17|1f) may have old or new data, or a mix\n/)
    expect(error.message).toMatch(/\n {2}Try: repeat the command, which writes everything again$/)
  })
})

test('a failed flush reports that written blocks may be lost', async () => {
  const action = { kind: 'status', sct: 0, sc: 6, dnr: true } as const
  const faults = {
    rules: [
      { match: { opcode: 0, qid: 2 }, action },
      { match: { opcode: 0, qid: 1 }, action },
    ],
  } as const
  await withSimulatedDrive({ faults }, async ({ namespace }) => {
    const error = await stopped(writePieces(namespace, source(pattern(4096)), REQUEST))
    expect(error.message).toContain('but not flushed: a loss of power may discard them')
  })
})

test('a source longer than the namespace is written up to its end, and the error says so', async () => {
  await withSimulatedDrive({ capacityBytes: 65_536 }, async ({ namespace }) => {
    const error = await stopped(writePieces(namespace, source(pattern(70_000)), { ...REQUEST, offsetBytes: 32_768 }))
    expect(error.category).toBe('infeasible')
    expect(error.message).toContain('Namespace 1 is full: it ends at byte 65536')
    expect(error.message).toContain('LBAs 0x40 to 0x7f are written')
  })
})

test('a source with too few bytes is rejected before any write', () => {
  expect(() => source(pattern(100), 101)).toThrow(ShortSourceError)
  expect(() => source(pattern(100), 101)).toThrow('source.bin has only 100 bytes\n  requested: 101 bytes')
  expect(() => source(new Uint8Array(0))).toThrow('has no bytes')
})

test('writePieces writes at most the requested number of bytes', async () => {
  await withSimulatedDrive({}, async ({ media, namespace }) => {
    const bytes = pattern(20_000)
    const written = await writePieces(namespace, source(bytes, 1024), REQUEST)
    expect(written.lengthBytes).toBe(1024)
    expect(new Set(contents(media, 1024, 19_000))).toEqual(new Set([0]))
  })
})

test('compareWritten finds a flipped bit, and names the piece', async () => {
  const action = { kind: 'corrupt-data', byte: 3, xor: 0x10 } as const
  const faults = { rules: [{ match: { opcode: 1, lba: [17, 17] }, action }] } as const
  await withSimulatedDrive({ faults }, async ({ namespace }) => {
    const written = await writePieces(namespace, source(pattern(40_960)), REQUEST)
    const comparing = compareWritten(namespace, 0, written, never, () => undefined)
    await expect(comparing).rejects.toThrow(ReadBackError)
    await expect(comparing).rejects.toThrow('the drive returned other bytes than were written, in LBAs 0x10 to 0x17')
    await expect(comparing).rejects.toMatchObject({ category: 'verification' })
  })
})
