import type { CudaGraph, CudaStream } from '@gpunvme/cuda-native/cuda'
import type { Plan } from '@gpunvme/nvme-spec/transport'
import { equal, fail } from '../check.js'
import { MIB, type CheckContext } from '../context.js'
import type { ExpertExtent, ExpertModel, QueueShape } from '../expert-model.js'
import { onGpu, openStream, pinned, upload } from '../gpu-memory.js'
import { bytesOf } from '../memory.js'
import { allSucceeded } from '../plans.js'
import { structure } from '../served-queues.js'
import { SUM_THREADS } from './expert-fetch-by-device.js'

const VERIFY_THREADS = 256
const PAGE_BYTES = 4096
/** Bytes of a `ReadExtent` and of a `ReadSum` of kernels/expert_layer.cuh. */
const EXTENT_BYTES = 16
const SUM_BYTES = 16
const SPIN_LIMIT_MS = 30_000
const NO_MISMATCH = [0, 0xffff_ffff]

/** Host waits of each layer, and its launches, as conditions of figures. */
export const HOST_WAITS = {
  hostWaits: '3: the router; the reads; checksums and sums',
  waitsForKernels: 'the host spins on words in pinned memory',
  launches: 'CUDA graphs: the router; one kernel for all checksums, one for all sums',
}

/** Fetches through the host. For each layer, it waits for the router, reads, and waits for checksums and sums. */
interface HostLoop {
  /** Runs all layers of a token. */
  readonly token: () => Promise<void>
  /** Returns the experts and sums of each layer of the last token. */
  readonly results: () => { expert: number; sum: number }[][]
  /** Executes only the reads of the last token, one plan after another. Returns the sum of their times from start to end. */
  readonly readsNs: () => Promise<number>
  /** Corrupts a byte of the last layer, and checks that the kernel detects it. */
  readonly expectDetected: () => Promise<void>
  readonly expectNoMistakes: () => Promise<void>
}

/** Objects of a layer that are created before its first token. */
interface HostLayer {
  readonly experts: readonly (readonly ExpertExtent[])[]
  /** Identifiers that the router selected. */
  readonly ids: Uint32Array
  /** Words of the `ReadSum`s. */
  readonly sums: Uint32Array
  /** Reads of the selected experts, one command per extent. */
  readonly plan: Plan
  readonly route: CudaGraph
  readonly verifyAndSum: CudaGraph
}

/** Encodes `ReadExtent`s. */
function readExtents(layers: ExpertModel['layers']): Uint8Array {
  const extents = layers.flat(2)
  const view = new DataView(new ArrayBuffer(EXTENT_BYTES * extents.length))
  extents.forEach(({ offset, skip, bytes, crc32 }, index) => {
    view.setBigUint64(EXTENT_BYTES * index, BigInt(offset + skip), true)
    view.setUint32(EXTENT_BYTES * index + 8, bytes, true)
    view.setUint32(EXTENT_BYTES * index + 12, crc32, true)
  })
  return new Uint8Array(view.buffer)
}

/** Spins until `isOver`, without waiting for the event loop. @throws CudaCallError, CheckFailed after SPIN_LIMIT_MS */
async function spin(what: string, stream: CudaStream, isOver: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + SPIN_LIMIT_MS
  while (!isOver()) {
    if (performance.now() < deadlineMs) continue
    // If a kernel failed, its error is the cause.
    await stream.finished()
    fail(`${what}: no result within ${SPIN_LIMIT_MS} ms`)
  }
}

/** Opens a separate drive with the engine `cuda`, and captures the graphs. */
export async function openHostLoop(
  context: CheckContext,
  media: Uint8Array,
  { table, layers: model }: ExpertModel,
  shape: QueueShape,
): Promise<HostLoop> {
  const { cuda, kernels } = context
  const { experts, positions } = context.scale.model
  const perExpert = table.maxExtents
  const drive = await context.drive(media, 8 * MIB, undefined, false)
  const engine = context.engine(drive.transport)
  const { namespace } = await context.open(drive, shape, engine)
  const memory = namespace.dma.alloc(Math.ceil((positions * table.maxBytes) / PAGE_BYTES) * PAGE_BYTES)
  const data = bytesOf(memory)
  const registration = cuda.register(data)
  context.later(() => registration.unregister())
  cuda.loadKernels(kernels.measure)
  const encoded = readExtents(model)
  const extents = onGpu(context, encoded.length)
  await upload(context, encoded, extents)
  const [launches, verdict] = [pinned(context, 4), pinned(context, 8)]
  const ids = pinned(context, 4 * positions * model.length)
  const sums = pinned(context, SUM_BYTES * positions * model.length)
  const [routed, mismatches] = [new Uint32Array(launches.buffer), new Uint32Array(verdict.buffer)]
  mismatches.set(NO_MISMATCH)
  const stream = openStream(context)

  const layerOf = (of: HostLayer['experts'], layer: number): HostLayer => {
    const idsAt = 4 * positions * layer
    const sumsAt = SUM_BYTES * positions * layer
    const idsPointer = ids.gpuPointer + BigInt(idsAt)
    // struct ReadExperts.
    const read = structure([
      ...[idsPointer, extents.gpuPointer + BigInt(EXTENT_BYTES * layer * experts * perExpert), BigInt(perExpert)],
      ...[registration.gpuPointer, BigInt(table.maxBytes)],
    ])
    const capture = (record: () => void) => {
      const graph = stream.capture(record)
      context.later(() => graph.close())
      return graph
    }
    const transfers = of.slice(0, positions).flatMap((each, position) =>
      each.map(({ firstBlock, blocks, offset }) => {
        return { slba: firstBlock, blocks, offsetBytes: position * table.maxBytes + offset }
      }),
    )
    const plan = namespace.planReads(transfers)
    equal('commands of a layer, one per extent', plan.commands, positions * perExpert)
    return {
      ...{ experts: of, plan },
      ids: new Uint32Array(ids.buffer, idsAt, positions),
      sums: new Uint32Array(sums.buffer, sumsAt, (SUM_BYTES / 4) * positions),
      route: capture(() =>
        cuda.launch('gpunvme_route_experts', 1, 32, [idsPointer, positions, experts, launches.gpuPointer], stream),
      ),
      verifyAndSum: capture(() => {
        const blocks = positions * perExpert
        cuda.launch('gpunvme_verify_read', blocks, VERIFY_THREADS, [read, verdict.gpuPointer], stream)
        cuda.launch('gpunvme_sum_read', positions, SUM_THREADS, [read, sums.gpuPointer + BigInt(sumsAt)], stream)
      }),
    }
  }
  const layers = model.map(layerOf)

  /** Replaces the reads of a plan by those of the selected experts. */
  const fillPlan = ({ ids, experts: of, plan }: HostLayer) => {
    for (let at = 0; at < plan.commands; at++) {
      const position = Math.floor(at / perExpert)
      const { firstBlock, blocks, offset } = of[ids[position]!]![at % perExpert]!
      plan.slba[at] = firstBlock
      plan.blocks[at] = blocks
      plan.offsetBytes[at] = position * table.maxBytes + offset
    }
  }
  const verifyAndSum = async ({ sums, verifyAndSum: graph }: HostLayer) => {
    for (let at = 2; at < sums.length; at += 4) sums[at] = 0
    graph.launch(stream)
    await spin('checksums and sums', stream, () => {
      for (let at = 2; at < sums.length; at += 4) if (Atomics.load(sums, at) === 0) return false
      return true
    })
  }
  const token: HostLoop['token'] = async () => {
    for (const layer of layers) {
      const before = routed[0]!
      layer.route.launch(stream)
      await spin('the router', stream, () => Atomics.load(routed, 0) !== before)
      fillPlan(layer)
      const summary = await namespace.execute(layer.plan, memory)
      if (summary.succeeded !== layer.plan.commands) allSucceeded('reads of a layer', summary)
      await verifyAndSum(layer)
      if (mismatches[0] !== 0) fail(`extents that do not match: ${mismatches[0]}, the first ${mismatches[1]}`)
    }
    await stream.finished()
  }
  const results: HostLoop['results'] = () =>
    layers.map(({ ids, sums }) =>
      Array.from(ids, (expert, position) => ({ expert, sum: sums[4 * position]! + sums[4 * position + 1]! * 2 ** 32 })),
    )
  const readsNs: HostLoop['readsNs'] = async () => {
    let ns = 0
    for (const { plan } of layers) {
      const summary = await namespace.execute(plan, memory)
      allSucceeded('reads alone', summary)
      ns += summary.endNs - summary.startNs
    }
    return ns
  }
  const expectDetected: HostLoop['expectDetected'] = async () => {
    const layer = layers.at(-1)!
    const [position, index] = [positions - 1, perExpert - 1]
    const { offset, skip, bytes } = layer.experts[layer.ids[position]!]![index]!
    data[position * table.maxBytes + offset + skip + bytes - 1]! ^= 1
    await verifyAndSum(layer)
    await stream.finished()
    equal('corrupted extents, and the first', [...mismatches], [1, position * perExpert + index])
  }
  const expectNoMistakes = async () => {
    equal('stale completions, through the host', engine.statistics.staleCompletions, 0)
    equal('host errors detected by the controller, through the host', await drive.simulator.diagnostics(), [])
  }
  return { token, results, readsNs, expectDetected, expectNoMistakes }
}
