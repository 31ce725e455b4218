import { scatterEntries, type PinnedMemory, type ScatterPiece } from '@gpunvme/cuda-native/cuda'
import { equal, equalBytes, type Check } from '../check.js'
import { content } from '../content.js'
import type { CheckContext } from '../context.js'
import { crc32 } from '../crc32.js'
import { onGpu, pinned, openStream, upload } from '../gpu-memory.js'

const THREADS = 256

/** Loads the kernels of the package. Returns a function that runs a kernel and returns its time in milliseconds. */
function launcher(context: CheckContext) {
  context.cuda.loadKernels(context.kernels.kernels)
  const stream = openStream(context)
  return async (name: string, blocks: number, args: readonly bigint[]): Promise<number> => {
    const startMs = performance.now()
    context.cuda.launch(name, blocks, THREADS, args, stream)
    await stream.finished(20e9)
    return performance.now() - startMs
  }
}

const checksum: Check = {
  id: 'checksum',
  title: "Checksums of chunks of any size and alignment equal zlib's, and a corrupted byte is detected",
  limitMs: 60_000,
  async run(context) {
    const launch = launcher(context)
    const bytes = context.scale.checksumBytes
    const data = content(bytes, 10)
    const memory = onGpu(context, bytes)
    await upload(context, data, memory)
    const max = 4096
    const results = pinned(context, 4 * max)
    const expected = pinned(context, 4 * max)
    const verdict = pinned(context, 8)
    const words = (of: PinnedMemory) => new Uint32Array(of.buffer)
    const judge = async (offset: number, length: number, chunk: number, first: number) => {
      const chunks = Math.ceil(length / chunk)
      words(verdict).set([0, 0xffff_ffff])
      words(results).fill(0xdead_beef)
      await launch('gpunvme_checksum', Math.max(1, Math.min(chunks, 512)), [
        ...[memory.gpuPointer + BigInt(offset), BigInt(length), BigInt(chunk), results.gpuPointer],
        ...[expected.gpuPointer, verdict.gpuPointer, BigInt(first)],
      ])
      return { got: words(results).slice(0, chunks), verdict: [...words(verdict).slice(0, 2)] }
    }
    const truth = (offset: number, length: number, chunk: number) =>
      Uint32Array.from({ length: Math.ceil(length / chunk) }, (_, index) => {
        const from = offset + index * chunk
        return crc32(data.subarray(from, Math.min(from + chunk, offset + length)))
      })
    const shapes: (readonly [offset: number, length: number, chunk: number])[] = []
    for (const length of [1, 3, 4, 5, 15, 16, 17, 511, 512, 4096, 65_537])
      for (const offset of [0, 1, 7, 15]) shapes.push([offset, length, length])
    for (const chunk of [512, 4095, 65_536, 262_144]) shapes.push([3, Math.min(bytes - 3, max * chunk - 1), chunk])
    shapes.push([0, bytes, bytes])
    for (const [offset, length, chunk] of shapes) {
      const right = truth(offset, length, chunk)
      words(expected).set(right)
      const what = `${length} bytes from ${offset} in chunks of ${chunk}`
      const { got, verdict: said } = await judge(offset, length, chunk, 0)
      equal(`${what}: checksums`, [...got].slice(0, 64), [...right].slice(0, 64))
      equalBytes(what, new Uint8Array(got.buffer), new Uint8Array(right.buffer))
      equal(`${what}: number of mismatches, and the first one`, said, [0, 0xffff_ffff])
    }
    // Corrupts one byte in the second-to-last chunk.
    const chunk = 65_536
    const chunks = Math.min(Math.floor(bytes / chunk), max)
    words(expected).set(truth(0, chunks * chunk, chunk))
    const wrong = (chunks - 2) * chunk + 12_345
    await memory.fill(data[wrong]! ^ 1, wrong, 1)
    const { verdict: said } = await judge(0, chunks * chunk, chunk, 1000)
    equal('number of mismatches, and the first one, with a corrupted chunk', said, [1, 1000 + chunks - 2])
    await launch('gpunvme_checksum', chunks, [memory.gpuPointer, BigInt(chunks * chunk), BigInt(chunk), 0n, 0n, 0n, 0n])
    const ms = await launch('gpunvme_checksum', chunks, [
      ...[memory.gpuPointer, BigInt(chunks * chunk), BigInt(chunk), results.gpuPointer, 0n, 0n, 0n],
    ])
    context.figure({
      ...{ name: 'checksum-rate', value: (chunks * chunk) / ms / 1e6, unit: 'GB/s', per: 'data in GPU memory' },
      conditions: { bytes: chunks * chunk, chunkBytes: chunk, threads: THREADS, launchIncluded: true },
    })
    return { shapes: shapes.length, bytes }
  },
}

const scatter: Check = {
  id: 'scatter',
  title: 'Pieces of any length and alignment are copied to their destinations, and nothing else changes',
  limitMs: 60_000,
  async run(context) {
    const launch = launcher(context)
    const bytes = Math.min(context.scale.checksumBytes, 8 * 1024 * 1024)
    const data = content(bytes, 11)
    const source = onGpu(context, bytes)
    await upload(context, data, source)
    const destination = onGpu(context, 2 * bytes)
    await destination.fill(0xa5)
    const lengths = [1, 2, 15, 16, 17, 31, 33, 511, 4096, 4099, 16_383, 16_385, 70_001]
    const pieces: ScatterPiece[] = []
    let from = 0
    let to = 5
    for (let index = 0; from + 70_001 < bytes; index++) {
      const lengthBytes = lengths[(index * 7) % lengths.length]!
      pieces.push({ sourceOffset: from, destinationOffset: to, lengthBytes })
      from += lengthBytes + (index % 5)
      to += lengthBytes + (index % 3)
    }
    const entries = scatterEntries(pieces, { sourceBytes: bytes, destinationBytes: 2 * bytes })
    const list = pinned(context, entries.byteLength)
    new BigUint64Array(list.buffer).set(entries)
    await launch('gpunvme_scatter', 64, [
      ...[source.gpuPointer, destination.gpuPointer, list.gpuPointer, BigInt(pieces.length)],
    ])
    const expected = new Uint8Array(2 * bytes).fill(0xa5)
    for (const { sourceOffset, destinationOffset, lengthBytes } of pieces)
      expected.set(data.subarray(sourceOffset, sourceOffset + lengthBytes), destinationOffset)
    equalBytes('the destination', await destination.read(), expected)
    return { pieces: pieces.length, bytes: from }
  },
}

/** Computes SplitMix64 from its definition. */
function splitMix64(seed: bigint, index: number): bigint {
  const wrap = (value: bigint) => BigInt.asUintN(64, value)
  let word = wrap(seed + BigInt(index + 1) * 0x9e3779b97f4a7c15n)
  word = wrap((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n)
  word = wrap((word ^ (word >> 27n)) * 0x94d049bb133111ebn)
  return word ^ (word >> 31n)
}

const pattern: Check = {
  id: 'pattern',
  title: 'A pattern equals SplitMix64 from any byte offset, and its verification finds every wrong byte',
  limitMs: 60_000,
  async run(context) {
    const launch = launcher(context)
    const bytes = 65_536
    const seed = 0x0123_4567_89ab_cdefn
    const words = BigUint64Array.from({ length: bytes / 8 + 2 }, (_, index) => splitMix64(seed, index))
    const all = new Uint8Array(words.buffer)
    const memory = onGpu(context, bytes + 64)
    const verdict = pinned(context, 16)
    const said = new BigUint64Array(verdict.buffer)
    for (const [at, offset] of [0, 1, 7, 8, 13].map((value) => [(value * 3) % 16, value] as const)) {
      await memory.fill(0xa5)
      const args = [memory.gpuPointer + BigInt(at), BigInt(bytes), seed, BigInt(offset)]
      await launch('gpunvme_pattern_fill', 16, args)
      const expected = new Uint8Array(bytes + 64).fill(0xa5)
      expected.set(all.subarray(offset, offset + bytes), at)
      equalBytes(`the pattern from byte ${offset}, stored at ${at}`, await memory.read(), expected)
      said.set([0n, 2n ** 64n - 1n])
      await launch('gpunvme_pattern_verify', 16, [...args, verdict.gpuPointer])
      equal('wrong bytes in a correct pattern', said[0]!.toString(), '0')
      const wrong = [9, 10, bytes - 1]
      for (const byte of wrong) await memory.fill(expected[at + byte]! ^ 0x80, at + byte, 1)
      said.set([0n, 2n ** 64n - 1n])
      await launch('gpunvme_pattern_verify', 16, [...args, verdict.gpuPointer])
      equal('number of wrong bytes, and the first one', [...said].map(String), ['3', '9'])
    }
    return { bytes, alignments: 5 }
  },
}

/** Kernels that check, move and generate data. */
export const kernelChecks: readonly Check[] = [checksum, scatter, pattern]
