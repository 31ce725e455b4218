import type { ExpertFetch } from '@gpunvme/cuda-native/cuda'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { equal } from '../check.js'
import { MIB, type CheckContext } from '../context.js'
import type { ExpertModel, QueueShape } from '../expert-model.js'
import { lendDrive } from '../lent-drive.js'

/** At least one warp per read of a fetch: a warp that waits for a lost read delays no other read. */
const GRID = { blocks: 8, threads: 128 }
/** Number of threads of a block that sums an expert. */
export const SUM_THREADS = 256

/** Result of the kernel sum_experts at a position. */
interface Summed {
  readonly expert: number
  readonly ending: number
  readonly sum: number
}

/** Fetches by the GPU: one graph per layer, with router, fetch and sums. */
export interface DeviceLoop {
  readonly fetch: ExpertFetch
  /** Replays the graphs of these layers, and waits once. Returns the results by layer and position. */
  readonly replay: (layers: readonly number[]) => Promise<Summed[][]>
  /** Checks that the controller detected no host errors, and the queues no stale completions. */
  readonly expectNoMistakes: () => Promise<void>
}

/** Opens a separate drive, and captures the graphs. */
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
    equal('stale completions', stale, Array(shape.queues).fill(0))
    equal('host errors detected by the controller', await drive.simulator.diagnostics(), [])
  }
  return { fetch, replay, expectNoMistakes }
}
