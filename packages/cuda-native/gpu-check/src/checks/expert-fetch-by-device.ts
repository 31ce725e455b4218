import type { ExpertFetch } from '@gpunvme/cuda-native/cuda'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { equal } from '../check.js'
import { MIB, type CheckContext } from '../context.js'
import type { ExpertModel, QueueShape } from '../expert-model.js'
import { lendDrive } from '../lent-drive.js'

/** A warp for each read of a fetch: one that waits for a lost read delays no other. */
const GRID = { blocks: 8, threads: 128 }
/** Threads of a block that sums an expert. */
export const SUM_THREADS = 256

/** What the kernel sum_experts stored at a position. */
interface Summed {
  readonly expert: number
  readonly ending: number
  readonly sum: number
}

/** Fetches by the GPU: a graph of router, fetch and sums for each layer. */
export interface DeviceLoop {
  readonly fetch: ExpertFetch
  /** Replays the graphs of these layers, and waits once. Returns what they stored, by layer and position. */
  readonly replay: (layers: readonly number[]) => Promise<Summed[][]>
  /** Compares what the controller and the queues counted with none. */
  readonly expectNoMistakes: () => Promise<void>
}

/** Opens a drive of its own, and records the graphs. */
export async function openDeviceLoop(
  context: CheckContext,
  media: Uint8Array,
  { table }: ExpertModel,
  shape: QueueShape,
  failing: { readonly faults?: FaultPlan; readonly timeoutNs?: number } = {},
): Promise<DeviceLoop> {
  const { cuda, kernels, scale } = context
  const { experts, positions } = scale.model
  const { drive, engine, device, allocate } = await lendDrive(context, media, {
    ...{ ...shape, memoryBytes: 8 * MIB, ...failing },
  })
  const { buffer } = allocate(positions * table.maxBytes)
  const fetch = device.expertFetch({ table, positions, buffer })
  context.later(() => fetch.free())
  cuda.loadKernels(kernels.measure)
  const launches = cuda.allocPinned(4)
  context.later(() => launches.free())
  new Uint32Array(launches.buffer).fill(0)
  const layerBytes = 16 * positions
  const results = cuda.allocPinned(layerBytes * table.layers.length)
  context.later(() => results.free())
  const stream = cuda.stream()
  context.later(() => stream.close())
  const graphs = table.layers.map((name, layer) => {
    const argument = fetch.argument(name)
    const graph = stream.capture(() => {
      const route = [fetch.ids, positions, experts, launches.gpuPointer]
      cuda.launch('gpunvme_route_experts', 1, 32, route, stream)
      cuda.launch('gpunvme_fetch_experts', GRID.blocks, GRID.threads, [device.argument, argument], stream)
      const to = results.gpuPointer + BigInt(layer * layerBytes)
      cuda.launch('gpunvme_sum_experts', positions, SUM_THREADS, [argument, to], stream)
    })
    context.later(() => graph.close())
    return graph
  })
  const replay: DeviceLoop['replay'] = async (layers) => {
    for (const layer of layers) graphs[layer]!.launch(stream)
    await stream.finished(30e9)
    return layers.map((layer) => {
      const view = new DataView(results.buffer, layer * layerBytes, layerBytes)
      return Array.from({ length: positions }, (_, position) => ({
        expert: view.getUint32(16 * position + 8, true),
        ending: view.getUint32(16 * position + 12, true),
        sum: Number(view.getBigUint64(16 * position, true)),
      }))
    })
  }
  const expectNoMistakes = async () => {
    const stale = engine.queueStates().map(({ staleCompletions }) => staleCompletions)
    equal('completions of no command', stale, Array(shape.queues).fill(0))
    equal('mistakes that the controller saw', await drive.simulator.diagnostics(), [])
  }
  return { fetch, replay, expectNoMistakes }
}
