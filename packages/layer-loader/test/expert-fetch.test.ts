import { crc32 } from 'node:zlib'
import { deviceQueues, openCuda, type FetchResult } from '@gpunvme/cuda-native/cuda'
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
const VERIFIED = 'verified'
const CORRUPT = 'corrupt'
const READ_FAILED = 'read-failed'
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
  readonly endings: FetchResult['ending'][]
  readonly results: FetchResult[]
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
    ...{ namespaces: [{ file: { path: file.path, readOnly: true } }], idle: { maxSleepNs: 1_000_000 } },
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
  const controller = await Controller.open(transport, { engine, queueDepth: 24 })
  onTestFinished(() => controller.close())
  const namespace = controller.namespace(1)
  const device = await queues.device([{ engine, namespace }], { timeoutNs })
  const stream = cuda.stream()
  const table = expertTable(packed.model)
  const buffer = engine.buffer(namespace.dma.alloc(POSITIONS * table.maxBytes))
  onTestFinished(() => buffer.free())
  const fetch = device.expertFetch({ table, positions: POSITIONS, buffer, maxReadBytes: READ_BYTES })
  const argument = fetch.argument(`layer ${LAYER}`)
  const sums = cuda.allocPinned(8 * POSITIONS)
  const token = cuda.allocPinned(4)
  new Uint32Array(token.buffer).fill(0)
  const graph = stream.capture(() => {
    cuda.launch('route', 1, 32, [fetch.ids, BigInt(POSITIONS), EXPERTS, token.gpuPointer], stream)
    cuda.launch('fetch_experts', 2, 64, [device.argument, argument], stream)
    cuda.launch('sum_experts', POSITIONS, 32, [argument, sums.gpuPointer], stream)
  })
  return async () => {
    graph.launch(stream)
    await stream.finished(60e9)
    const results = fetch.results()
    return {
      experts: results.map(({ expert }) => expert),
      endings: results.map(({ ending }) => ending),
      results,
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
    expect(results[2]).toMatchObject({ position: 2, extent: 1, expected, actual: crc32(tensor!) })
    expect(sums[2]).toBe(NO_SUM)
    expect(sums[3]).toBe(sumOf(packed, 1))
  }, 120_000)

  test('a lost read ends the fetch at the time limit, and later fetches at once', async () => {
    const packed = await packedModel()
    const target = packed.model.expert(LAYER, 3).pieces[0]!.runs[0]!.storeBytes
    const block = Math.floor(target / BLOCK_BYTES)
    const faults: FaultPlan = {
      rules: [{ match: { opcode: 2, lba: [block, block], times: 1 }, action: { kind: 'drop-completion' } }],
    }
    const next = await openFetch(packed, { faults, timeoutNs: 2e9 })
    const { endings, results, sums } = await next()
    expect(endings[1]).toBe(READ_FAILED)
    expect(sums[1]).toBe(NO_SUM)
    expect(results[1]!.read.ending).toBe('timeout')
    const after = await next()
    expect(after.endings).toEqual(after.experts.map(() => READ_FAILED))
    expect(after.results.map(({ read }) => read.ending)).toEqual(after.experts.map(() => 'halted'))
    expect(after.sums).toEqual(after.experts.map(() => NO_SUM))
  }, 120_000)
})
