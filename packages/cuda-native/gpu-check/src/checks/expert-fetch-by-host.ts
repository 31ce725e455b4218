import type { Plan } from '@gpunvme/nvme-spec/transport'
import { equal } from '../check.js'
import { MIB, type CheckContext } from '../context.js'
import type { ExpertModel, QueueShape } from '../expert-model.js'
import { bytesOf } from '../memory.js'
import { SUM_THREADS } from './expert-fetch-by-device.js'
import { allSucceeded } from './transfers.js'

const CHECKSUM_THREADS = 256
const PAGE_BYTES = 4096

/** Host waits of each layer, and its checksum launches, as conditions of figures. */
export const HOST_WAITS = {
  hostWaits: '3: the router; the reads; checksums and sums',
  checksums: 'one launch per extent',
}

/** Fetches through the host. For each layer, it waits for the router, reads, and waits for checksums and sums. */
interface HostLoop {
  /** Runs all layers of a token. Returns the experts and sums of each, and the plan of its reads. */
  readonly token: () => Promise<{ layers: { expert: number; sum: number }[][]; plans: Plan[] }>
  /** Executes only these plans, one after another. Returns the sum of their times from start to end. */
  readonly readsNs: (plans: readonly Plan[]) => Promise<number>
  readonly expectNoMistakes: () => Promise<void>
}

/** Opens a separate drive with the engine `cuda`. */
export async function openHostLoop(
  context: CheckContext,
  media: Uint8Array,
  { table, layers }: ExpertModel,
  shape: QueueShape,
): Promise<HostLoop> {
  const { cuda, kernels } = context
  const { experts, positions } = context.scale.model
  const drive = await context.drive(media, 8 * MIB, undefined, false)
  const engine = context.engine(drive.transport)
  const { namespace } = await context.open(drive, shape, engine)
  const memory = namespace.dma.alloc(Math.ceil((positions * table.maxBytes) / PAGE_BYTES) * PAGE_BYTES)
  const registration = cuda.register(bytesOf(memory))
  context.later(() => registration.unregister())
  for (const text of [kernels.kernels, kernels.measure]) cuda.loadKernels(text)
  const pinned = (lengthBytes: number) => {
    const allocated = cuda.allocPinned(lengthBytes)
    context.later(() => allocated.free())
    new Uint8Array(allocated.buffer).fill(0)
    return allocated
  }
  const spanCount = positions * table.maxExtents
  const [launches, ids, crcs] = [pinned(4), pinned(4 * positions), pinned(4 * spanCount)]
  const [spans, sums] = [pinned(16 * spanCount), pinned(8 * positions)]
  const stream = cuda.stream()
  context.later(() => stream.close())

  const runLayer = async (layer: number) => {
    const route = [ids.gpuPointer, positions, experts, launches.gpuPointer]
    cuda.launch('gpunvme_route_experts', 1, 32, route, stream)
    await stream.finished()
    const chosen = [...new Uint32Array(ids.buffer, 0, positions)]
    const extents = chosen.flatMap((expert, position) =>
      layers[layer]![expert]!.map((each) => ({ ...each, offset: position * table.maxBytes + each.offset })),
    )
    const transfers = extents.map(({ firstBlock: slba, blocks, offset: offsetBytes }) => {
      return { slba, blocks, offsetBytes }
    })
    const plan = namespace.planReads(transfers)
    allSucceeded(`reads of layer ${layer}`, await namespace.execute(plan, memory))
    const words = new BigUint64Array(spans.buffer)
    for (const [index, { offset, skip, bytes }] of extents.entries()) {
      const span = [registration.gpuPointer + BigInt(offset + skip), BigInt(bytes)] as const
      words.set(span, 2 * index)
      const to = [crcs.gpuPointer + BigInt(4 * index), 0n, 0n, 0n]
      cuda.launch('gpunvme_checksum', 1, CHECKSUM_THREADS, [...span, BigInt(bytes), ...to], stream)
    }
    cuda.launch(
      'gpunvme_sum_read',
      positions,
      SUM_THREADS,
      [spans.gpuPointer, table.maxExtents, sums.gpuPointer],
      stream,
    )
    await stream.finished()
    const got = [...new Uint32Array(crcs.buffer, 0, spanCount)]
    equal(
      `checksums of layer ${layer}`,
      got,
      extents.map(({ crc32 }) => crc32),
    )
    const summed = new BigUint64Array(sums.buffer)
    return { plan, results: chosen.map((expert, position) => ({ expert, sum: Number(summed[position]) })) }
  }
  const token: HostLoop['token'] = async () => {
    const all: Awaited<ReturnType<typeof runLayer>>[] = []
    for (const layer of layers.keys()) all.push(await runLayer(layer))
    return { layers: all.map(({ results }) => results), plans: all.map(({ plan }) => plan) }
  }
  const readsNs: HostLoop['readsNs'] = async (plans) => {
    let ns = 0
    for (const plan of plans) {
      const summary = await namespace.execute(plan, memory)
      allSucceeded('reads alone', summary)
      ns += summary.endNs - summary.startNs
    }
    return ns
  }
  const expectNoMistakes = async () => {
    equal('stale completions, through the host', engine.statistics.staleCompletions, 0)
    equal('host errors detected by the controller, through the host', await drive.simulator.diagnostics(), [])
  }
  return { token, readsNs, expectNoMistakes }
}
