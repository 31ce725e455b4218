// Cost of streaming, compared with copying the same bytes; and modelled rates of a drive.
import { crc32 } from 'node:zlib'
import { openImage, streamLayers } from '@gpunvme/layer-loader'
import { deriveProfile, profiles, RamMedia, simulate } from '@gpunvme/nvme-sim'
import { payloadLimit } from '@gpunvme/nvme-spec/pcie'
import { packDemoModel, withController } from './lib/demo-drive.mjs'

const MIB = 1024 * 1024
const PASSES = 9

/** Size of the three slots of the stream. */
const SLOTS_MIB = 96

export async function bench() {
  const media = new RamMedia(1024 * MIB)
  await packDemoModel(simulate, media)
  const drive = () => simulate({ namespaces: [{ media }] })

  await streamOnce(drive(), { verify: 'off' })
  const cold = await streamOnce(drive(), { verify: 'off' })
  const copy = copier(cold.bytes)
  const coldCopyMs = copy.cold()
  const plain = await passes(drive(), { verify: 'off' }, copy.warm)
  const verified = await passes(drive(), { verify: 'full' }, copy.warm)
  const gbs = (wallMs) => (cold.bytes / wallMs / 1e6).toFixed(1)

  const preset = await streamOnce(simulate({ namespaces: [{ media }], profile: 'sn740' }), { verify: 'off' })
  const uncapped = deriveProfile('sn740', { readBytesPerSecond: Infinity })
  const free = await streamOnce(simulate({ namespaces: [{ media }], profile: uncapped }), { verify: 'off' })
  const presetMiB = preset.bytes / MIB / (preset.modelledNs / 1e9)
  const limit = payloadLimit(profiles.sn740.link)
  const share = free.bytes / (free.modelledNs / 1e9) / limit
  return [
    {
      name: 'Streaming the demo model without verification, compared with copying the same bytes in 1 MiB blocks (`Uint8Array.set`)',
      value: plain.ratio,
      unit: '×',
      goal: '≥ 0.6',
      met: plain.ratio >= 0.6,
      note: `${gbs(plain.wallMs)} and ${gbs(plain.copyMs)} GB/s; one thread, simulator without latency, RAM media; first pass, into untouched memory: ${gbs(cold.wallMs)} and ${gbs(coldCopyMs)} GB/s`,
    },
    {
      name: 'The same with every chunk verified',
      value: verified.ratio,
      unit: '×',
      note: `${gbs(verified.wallMs)} GB/s; limited by CRC-32 on the same thread (${gbs(checksumMs(cold.bytes))} GB/s alone)`,
    },
    {
      name: 'Modelled: `sn740`, 1 MiB commands, 32 in flight',
      value: presetMiB,
      unit: 'MiB/s',
      goal: '3,330 MiB/s ± 2 %',
      met: Math.abs(presetMiB / 3330 - 1) <= 0.02,
      note: `${((presetMiB * MIB) / 1e9).toFixed(2)} GB/s, ${((presetMiB * MIB * 100) / limit).toFixed(1)} % of the Gen3 x4 payload limit at MPS 256`,
    },
    {
      name: 'Modelled: the same without the rate limit of the drive',
      value: share * 100,
      unit: '%',
      goal: '≥ 98 % of the payload limit',
      met: share >= 0.98,
      note: `of ${(limit / 1e9).toFixed(2)} GB/s, Gen3 x4 at MPS 256`,
    },
  ]
}

async function streamOnce({ transport }, { verify }) {
  return withController(transport, { queueDepth: 32 }, async (controller) => {
    const model = (await openImage(controller.namespace(1))).model()
    const startMs = performance.now()
    const stream = streamLayers(model, { verify })
    for await (const layer of stream) layer.release()
    const { bytes, elapsedNs } = stream.statistics
    return { bytes, modelledNs: elapsedNs, wallMs: performance.now() - startMs }
  })
}

/**
 * Makes passes over the model in one stream, as inference does, each followed by a round of copying.
 * Returns the pass with the median ratio, without the first pass, which touches the slots for the first time.
 */
async function passes({ transport }, options, copy) {
  return withController(transport, { queueDepth: 32 }, async (controller) => {
    const model = (await openImage(controller.namespace(1))).model()
    const names = model.layers
    const layers = Array.from({ length: PASSES + 1 }, () => names).flat()
    const found = []
    let startMs = performance.now()
    for await (const layer of streamLayers(model, { ...options, layers })) {
      layer.release()
      if (layer.name !== names.at(-1)) continue
      const wallMs = performance.now() - startMs
      const copyMs = copy()
      found.push({ wallMs, copyMs, ratio: copyMs / wallMs })
      startMs = performance.now()
    }
    return found.slice(1).sort((a, b) => a.ratio - b.ratio)[Math.floor(PASSES / 2)]
  })
}

/** Returns the time of CRC-32 alone over the same number of bytes, in chunks of 1 MiB. */
function checksumMs(bytes) {
  const chunk = new Uint8Array(MIB).fill(1)
  const startMs = performance.now()
  for (let done = 0; done < bytes; done += MIB) crc32(chunk)
  return performance.now() - startMs
}

/** Returns functions that copy the same number of bytes from equal memory into equal slots, and return the time. */
function copier(bytes) {
  const blocks = Math.floor(bytes / MIB)
  const from = Array.from({ length: blocks }, () => new Uint8Array(MIB).fill(1))
  const copyInto = (into) => {
    const startMs = performance.now()
    for (let block = 0; block < blocks; block++) into.set(from[block], (block % SLOTS_MIB) * MIB)
    return ((performance.now() - startMs) * bytes) / (blocks * MIB)
  }
  const touched = new Uint8Array(SLOTS_MIB * MIB).fill(1)
  return {
    /** Copies into memory that was written before. */
    warm: () => copyInto(touched),
    /** Copies into memory whose pages are not allocated yet. */
    cold: () => copyInto(new Uint8Array(SLOTS_MIB * MIB)),
  }
}
