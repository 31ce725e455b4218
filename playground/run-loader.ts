import { Controller } from '@gpunvme/host-driver'
import { streamLayers, type StoredExtent, type StoredModel } from '@gpunvme/layer-loader'
import { namespaceStore } from '@gpunvme/layer-loader/store'
import { deriveProfile, RamMedia, simulate } from '@gpunvme/nvme-sim'
import { linkOf, type Settings } from './settings.js'

/** A modelled pass over a model: a sample is streamed by the loader, the rest is extrapolated. */
export interface LoaderRun {
  readonly sampleLayers: number
  readonly sampleLayerBytes: number
  readonly sampleBytesPerSecond: number
  readonly modelBytes: number
  /** Extrapolated: `modelBytes` at the rate of the sample. */
  readonly secondsPerToken: number
}

const SAMPLE_LAYERS = 6
const MAX_SAMPLE_LAYER_BYTES = 32 * 1024 * 1024
const BLOCK_BYTES = 512

/** Streams a sample of the model without faults. The loader refuses media that move no bytes, so the sample is empty memory. */
export async function runLoader(settings: Settings): Promise<LoaderRun> {
  const { layers, layerBytes, queueDepth, commandBytes, drive } = settings
  const sampleLayers = Math.min(layers, SAMPLE_LAYERS)
  const wholeBytes = Math.ceil(layerBytes / BLOCK_BYTES) * BLOCK_BYTES
  const sampleLayerBytes = Math.min(wholeBytes, MAX_SAMPLE_LAYER_BYTES)
  const media = new RamMedia(sampleLayers * sampleLayerBytes)
  const { transport, clock } = simulate({
    profile: deriveProfile(drive, { link: linkOf(settings) }),
    namespaces: [{ media }],
  })
  const controller = await Controller.open(transport, { queueDepth, maxTransferBytes: commandBytes })
  const model = sampleModel(controller, sampleLayers, sampleLayerBytes)
  const startNs = clock.now()
  // Memory without contents has no checksums to verify.
  for await (const layer of streamLayers(model, { slots: 3, verify: 'off' })) layer.release()
  const sampleBytesPerSecond = ((sampleLayers * sampleLayerBytes) / (clock.now() - startNs)) * 1e9
  await controller.close()
  const modelBytes = layers * layerBytes
  return {
    sampleLayers,
    sampleLayerBytes,
    sampleBytesPerSecond,
    modelBytes,
    secondsPerToken: modelBytes / sampleBytesPerSecond,
  }
}

function sampleModel(controller: Controller, layers: number, lengthBytes: number): StoredModel {
  const extents = Array.from({ length: layers }, (_, index): StoredExtent => {
    const run = { storeBytes: index * lengthBytes, lengthBytes }
    const piece = { name: `blk.${index}`, dtype: 'I8', shape: [lengthBytes], lengthBytes, runs: [run] }
    return { name: `layer ${index}`, pieces: [piece], fullRange: run, checks: [] }
  })
  const find = (name: string | number) => {
    const extent = extents.find((each, index) => name === index || name === each.name)
    if (extent === undefined) throw new RangeError(`layer: expected 0 to ${layers - 1}, got ${name}`)
    return extent
  }
  return {
    name: 'sample',
    store: namespaceStore(controller.namespace(1)),
    layers: extents.map(({ name }) => name),
    hasChecksums: false,
    layer: find,
    tensor: find,
    experts: () => [],
    expert: find,
  }
}
