import { crc32 } from 'node:zlib'
import { deviceQueues, openCuda, type PinnedMemory } from '@gpunvme/cuda-native/cuda'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { Controller } from '@gpunvme/host-driver'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { BUILD_MS, program } from '../../cuda-native/test/programs/program.js'
import { sharedMemory } from '../../cuda-native/test/real-time-drives.js'
import { scratchFile } from '../../cuda-native/test/scratch-file.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../cuda-native/test/standin/standin.js'
import { pack } from '../src/image/index.js'
import { expertTable, openImage } from '../src/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { EXPERTS, moeModel, STACKS } from './moe-model.js'

useStandin()
let library: string

const MIB = 1 << 20
const BLOCK_BYTES = 512
/** Experts in a fetch. */
const POSITIONS = 4
const LAYER = 1
/** Slices start and end inside blocks. */
const SLICE_BYTES = 30_001
const READ_BYTES = 8192
const VERIFIED = 1
const CORRUPT = 2
const READ_FAILED = 3
const NO_SUM = 2n ** 64n - 1n

/** A model of experts, packed, and the bytes of its drive. */
async function packedModel() {
  const { namespace, media } = new MemoryNamespace({ capacityBytes: 8 * MIB })
  await pack(await moeModel(Object.fromEntries(STACKS.map((stack) => [stack, [EXPERTS, SLICE_BYTES]]))), namespace)
  return { model: (await openImage(namespace)).model(), media }
}
type Packed = Awaited<ReturnType<typeof packedModel>>

/** Returns the bytes of an expert on the drive, by tensor. */
function tensorsOf({ model, media }: Packed, expert: number): Uint8Array[] {
  return model
    .expert(LAYER, expert)
    .pieces.map(({ runs: [run] }) => media.subarray(run!.storeBytes, run!.storeBytes + run!.lengthBytes))
}

const sumOf = (packed: Packed, expert: number) =>
  BigInt(tensorsOf(packed, expert).reduce((sum, bytes) => bytes.reduce((all, byte) => all + byte, sum), 0))

/** PTX with the names and parameters of examples/fetch_experts.cu, for the stand-in. */
const PTX = [
  '.version 8.2\n.target sm_75\n.address_size 64',
  ...[
    ['route', '.u64 p0', '.u64 p1', '.u32 p2', '.u64 p3'],
    ['fetch_experts', '.align 8 .b8 p0[32]', '.align 8 .b8 p1[96]'],
    ['sum_experts', '.align 8 .b8 p0[96]', '.u64 p1'],
  ].map(
    ([name, ...parameters]) =>
      `.visible .entry ${name}(${parameters.map((each) => `.param ${each}`).join(', ')}) { ret; }`,
  ),
].join('\n')

interface Fetched {
  readonly experts: number[]
  readonly endings: number[]
  /** Words of each gnv_fetch_result. */
  readonly results: Uint32Array[]
  readonly sums: bigint[]
}

/** Opens a simulated drive with these bytes and a GPU, and returns a function that replays the graph of one token. */
async function openFetch(
  packed: Packed,
  { faults, timeoutNs = 20e9 }: { readonly faults?: FaultPlan; readonly timeoutNs?: number } = {},
): Promise<() => Promise<Fetched>> {
  const file = scratchFile(packed.media)
  onTestFinished(() => file[Symbol.dispose]())
  const memory = sharedMemory(16 * MIB)
  onTestFinished(() => memory.unmap())
  const { transport, ...simulator } = await startRealTimeSimulator({
    ...{ module: nativeHostModule, address: memory.address, lengthBytes: memory.lengthBytes },
    ...{ namespaces: [{ file: { path: file.path, readOnly: true } }], idle: { longestSleepNs: 1_000_000 } },
    ...(faults !== undefined && { faults }),
  })
  onTestFinished(() => simulator.close())
  onTestFinished(async () => expect(await simulator.diagnostics()).toEqual([]))
  const cuda = openCuda()
  onTestFinished(async () => {
    await cuda.close()
  })
  cuda.loadKernels(new TextEncoder().encode(PTX))
  const queues = deviceQueues(cuda)
  const engine = queues.engine(transport)
  const controller = await Controller.open(transport, { engine, queueEntries: 32, queueDepth: 24 })
  onTestFinished(() => controller.close())
  const namespace = controller.namespace(1)
  const device = await queues.device([{ engine, namespace }], { timeoutNs })
  const stream = cuda.stream()
  const table = expertTable(packed.model)
  const expertBytes = table.maxBytes
  const buffer = engine.buffer(namespace.dma.alloc(POSITIONS * expertBytes))
  onTestFinished(() => buffer.free())
  const pinned = (words: BigUint64Array | Uint8Array): PinnedMemory => {
    const to = cuda.allocPinned(words.byteLength)
    new Uint8Array(to.buffer).set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength))
    return to
  }
  const [ids, results, progress, crcs, sums, token] = [
    ...[4 * POSITIONS, 32 * POSITIONS, 16 * POSITIONS, 4 * POSITIONS * table.maxExtents, 8 * POSITIONS, 4],
  ].map((bytes) => pinned(new Uint8Array(bytes))) as [
    PinnedMemory,
    PinnedMemory,
    PinnedMemory,
    PinnedMemory,
    PinnedMemory,
    PinnedMemory,
  ]
  const destinations = Array.from({ length: POSITIONS }, (_, at) => [at * expertBytes, expertBytes].map(BigInt)).flat()
  // struct gnv_fetch of gpunvme_fetch.h.
  const fetch = new Uint8Array(
    BigUint64Array.of(
      ...[pinned(table.bytes), ids, pinned(BigUint64Array.from(destinations)), results, progress, crcs].map(
        (each) => each.gpuPointer,
      ),
      ...new BigUint64Array(buffer.argument.buffer),
      ...[BigInt(table.layers.indexOf(`layer ${LAYER}`)) | (BigInt(POSITIONS) << 32n), BigInt(READ_BYTES)],
    ).buffer,
  )
  const graph = stream.capture(() => {
    cuda.launch('route', 1, 32, [ids.gpuPointer, BigInt(POSITIONS), EXPERTS, token.gpuPointer], stream)
    cuda.launch('fetch_experts', 2, 64, [device.argument, fetch], stream)
    cuda.launch('sum_experts', POSITIONS, 32, [fetch, sums.gpuPointer], stream)
  })
  return async () => {
    graph.launch(stream)
    await stream.finished(60e9)
    const words = Array.from({ length: POSITIONS }, (_, at) => new Uint32Array(results.buffer, 32 * at, 8).slice())
    return {
      experts: [...new Uint32Array(ids.buffer)],
      endings: words.map(([ending]) => ending!),
      results: words,
      sums: [...new BigUint64Array(sums.buffer)],
    }
  }
}

describe.skipIf(!hasStandin)(`experts fetched by a graph of the GPU, on the stand-in${skippedWithoutStandin}`, () => {
  beforeAll(async () => {
    library = (await program('standin/fetch')).path
  }, BUILD_MS)
  beforeEach(() => {
    process.env['GPUNVME_CUDA_LIBRARY'] = library
  })

  test('each replay reads, verifies and uses the experts that the router selects', async () => {
    const packed = await packedModel()
    const next = await openFetch(packed)
    const seen = new Set<string>()
    for (let token = 0; token < 4; token++) {
      const { experts, endings, sums } = await next()
      seen.add(experts.join())
      expect(endings).toEqual(experts.map(() => VERIFIED))
      expect(sums).toEqual(experts.map((expert) => sumOf(packed, expert)))
    }
    expect(seen.size).toBe(4)
  }, 120_000)

  test('a flipped bit on the drive is detected, and its expert is not used', async () => {
    const packed = await packedModel()
    // The router selects experts 0, 3, 6 and 1 for the first token.
    const [, tensor] = tensorsOf(packed, 6)
    const expected = crc32(tensor!)
    tensor![20_000]! ^= 0x10
    const { experts, endings, results, sums } = await (await openFetch(packed))()
    expect(experts).toEqual([0, 3, 6, 1])
    expect(endings).toEqual([VERIFIED, VERIFIED, CORRUPT, VERIFIED])
    const [, reason, position, extent, was, is] = results[2]!
    expect([reason, position, extent, was, is]).toEqual([0, 2, 1, expected, crc32(tensor!)])
    expect(sums[2]).toBe(NO_SUM)
    expect(sums[3]).toBe(sumOf(packed, 1))
  }, 120_000)

  test('a lost read ends the fetch at the time limit, and later fetches at once', async () => {
    const packed = await packedModel()
    const struck = packed.model.expert(LAYER, 3).pieces[0]!.runs[0]!.storeBytes
    const block = Math.floor(struck / BLOCK_BYTES)
    const faults: FaultPlan = {
      rules: [{ match: { opcode: 2, lba: [block, block], times: 1 }, action: { kind: 'drop-completion' } }],
    }
    const next = await openFetch(packed, { faults, timeoutNs: 2e9 })
    const { endings, results, sums } = await next()
    expect(endings[1]).toBe(READ_FAILED)
    expect(sums[1]).toBe(NO_SUM)
    // gnv_ending, in the upper word of `read`: GNV_TIMEOUT.
    expect(results[1]![7]).toBe(3)
    const after = await next()
    expect(after.endings).toEqual(after.experts.map(() => READ_FAILED))
    // GNV_HALTED.
    expect(after.results.map((words) => words[7])).toEqual(after.experts.map(() => 5))
    expect(after.sums).toEqual(after.experts.map(() => NO_SUM))
  }, 120_000)
})
