// Cost of loading 2 of 64 experts of each layer, from an image and from a GGUF in place; and the time of an urgent one.
import { openImage, openLoader, modelInPlace } from '@gpunvme/layer-loader'
import { pack } from '@gpunvme/layer-loader/image'
import { namespaceStore, storeSource } from '@gpunvme/layer-loader/store'
import { Catalogue, memorySource, openModel, writeGguf } from '@gpunvme/layer-loader/formats'
import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import { withController } from './lib/demo-drive.mjs'

const MIB = 1024 * 1024
const LAYERS = 2
const EXPERTS = 64
/** Any two that are not neighbours. */
const PICKED = [7, 42]

/** Shapes as in Qwen3-30B-A3B: hidden size 2048, intermediate size of an expert 768. */
const SHAPES = {
  ffn_gate_exps: [EXPERTS, 768, 2048],
  ffn_up_exps: [EXPERTS, 768, 2048],
  ffn_down_exps: [EXPERTS, 2048, 768],
}

/** Start of the GGUF on the drive: at a block, but not at a round number. */
const GGUF_START_BYTES = 513 * 512

export async function bench() {
  const gguf = await moeModel()
  const rows = []
  for (const blockBytes of [512, 4096]) {
    const media = new RamMedia(1024 * MIB)
    const { transport } = simulate({ profile: 'sn740', namespaces: [{ media, blockBytes }] })
    const serial = 'GPUNVME-SIM-SN740'
    rows.push(
      await withController(transport, { write: { serial } }, async (controller) => {
        const namespace = controller.namespace(1)
        await pack(await openModel(memorySource(gguf, 'moe.gguf')), namespace)
        const image = await load((await openImage(namespace)).model(), { verify: 'full' })
        return { blockBytes, image }
      }),
    )
  }
  const inPlace = await fromGguf(gguf)
  const percent = ({ bytes, requestedBytes }) => (bytes / requestedBytes - 1) * 100
  const sayRate = ({ requestedBytes, elapsedNs }) => `${(requestedBytes / elapsedNs).toFixed(2)} GB/s modelled`
  return [
    ...rows.map(({ blockBytes, image }) => ({
      name: `Extra bytes read for 2 of ${EXPERTS} experts per layer, from an image, verified, ${blockBytes}-byte blocks`,
      value: percent(image),
      unit: '%',
      goal: '≤ 2 %',
      met: percent(image) <= 2,
      note: `${image.commandsEach.toFixed(1)} commands per expert of ${(image.eachBytes / MIB).toFixed(2)} MiB, ${sayRate(image)}`,
    })),
    {
      name: 'The same from a GGUF in place, not verified, 512-byte blocks',
      value: percent(inPlace),
      unit: '%',
      goal: '≤ 2 %',
      met: percent(inPlace) <= 2,
      note: `${inPlace.commandsEach.toFixed(1)} commands per expert, ${sayRate(inPlace)}, ${inPlace.movedBytes} bytes moved in memory`,
    },
    ...(await urgentRows()),
  ]
}

/**
 * Models the time of an urgent expert of 2.65 MB while layers of 87.5 MiB are read ahead, compared with an idle drive.
 */
async function urgentRows() {
  const rows = []
  for (const profile of ['sn740', '980pro', '990pro', 'p5800x', 'pm1753', 'sn530']) {
    const idle = await urgent(profile, { layers: 0, experts: 20 })
    const alone = await urgent(profile, { layers: 40, experts: 0 })
    const both = await urgent(profile, { layers: 40, experts: 20 })
    const times = both.medianNs / idle.medianNs
    const share = both.bytesPerNs / alone.bytesPerNs
    rows.push(
      {
        name: `Urgent expert during reading ahead, compared with an idle drive, ${profile} (modelled)`,
        value: times,
        unit: '×',
        goal: '≤ 2 ×',
        met: times <= 2,
        note: `medians of 20: ${(both.medianNs / 1e6).toFixed(2)} and ${(idle.medianNs / 1e6).toFixed(2)} ms; the longest, before the window has adapted: ${(both.longestNs / 1e6).toFixed(2)} ms`,
      },
      {
        name: `Rate of reading ahead with urgent experts, compared with reading ahead alone, ${profile} (modelled)`,
        value: share,
        unit: '×',
        goal: '≥ 0.97 ×',
        met: share >= 0.97,
        note: `${both.bytesPerNs.toFixed(2)} and ${alone.bytesPerNs.toFixed(2)} GB/s`,
      },
    )
  }
  return rows
}

async function urgent(profile, { layers, experts }) {
  const media = new RamMedia(16 * 1024 * MIB)
  const { transport } = simulate({ profile, namespaces: [{ media, blockBytes: 4096 }] })
  return withController(transport, {}, async (controller) => {
    const store = namespaceStore(controller.namespace(1))
    const { clock } = store
    const extent = (name, storeBytes, lengthBytes) => {
      const piece = { name, dtype: 'U8', shape: [lengthBytes], lengthBytes, runs: [{ storeBytes, lengthBytes }] }
      return { name, checks: [], pieces: [piece] }
    }
    const none = () => extent('none', 0, 0)
    const model = {
      name: 'urgent',
      store,
      layers: [],
      hasChecksums: false,
      layer: none,
      tensor: none,
      experts: () => [],
      expert: none,
    }
    const loader = openLoader(model, { slots: 6, slotBytes: 88 * MIB, verify: 'off' })
    const numbers = Array.from({ length: layers }, (_, layer) => layer)
    const readAhead = async () => {
      for (let layer = numbers.shift(); layer !== undefined; layer = numbers.shift()) {
        const request = loader.request(extent(`layer ${layer}`, layer * 88 * MIB, 87.5 * MIB), { priority: 'ahead' })
        ;(await request.lease()).release()
      }
    }
    const ahead = [readAhead(), readAhead(), readAhead()]
    const times = []
    for (let expert = 0; expert < experts; expert++) {
      while (layers > 0 && loader.statistics.bytes < (expert + 2) * 120 * MIB) await new Promise(setImmediate)
      const startNs = clock.now()
      const request = extent(`expert ${expert}`, (8192 + 4 * expert) * MIB, 647 * 4096)
      const lease = await loader.request(request, { priority: 'now' }).lease()
      times.push(clock.now() - startNs)
      lease.release()
    }
    await Promise.all(ahead)
    const { bytes, elapsedNs } = loader.statistics
    await loader.close()
    times.sort((a, b) => a - b)
    return { bytesPerNs: bytes / elapsedNs, medianNs: times[times.length >> 1], longestNs: times.at(-1) }
  })
}

async function load(model, { verify }) {
  const loader = openLoader(model, { slots: 4, slotBytes: 8 * MIB, verify })
  const tickets = Array.from({ length: LAYERS }, (_, layer) => PICKED.map((expert) => model.expert(layer, expert)))
    .flat()
    .map((extent) => loader.request(extent))
  for (const ticket of tickets) (await ticket.lease()).release()
  const { bytes, requestedBytes, commands, elapsedNs, movedBytes } = loader.statistics
  await loader.close()
  const each = tickets.length
  return {
    bytes,
    requestedBytes,
    elapsedNs,
    movedBytes,
    commandsEach: commands / each,
    eachBytes: requestedBytes / each,
  }
}

async function fromGguf(gguf) {
  const media = new RamMedia(1024 * MIB)
  media.write(GGUF_START_BYTES, gguf)
  const { transport } = simulate({ profile: 'sn740', namespaces: [{ media }] })
  return withController(transport, {}, async (controller) => {
    const store = namespaceStore(controller.namespace(1))
    const source = storeSource(store, { offsetBytes: GGUF_START_BYTES, lengthBytes: gguf.length })
    const catalogue = new Catalogue(await openModel(source))
    const file = [{ fileOffsetBytes: 0, deviceOffsetBytes: GGUF_START_BYTES, lengthBytes: gguf.length }]
    return load(modelInPlace(catalogue, store, [file]), { verify: 'off' })
  })
}

async function moeModel() {
  const pieces = []
  const block = new Uint8Array(MIB).map((_, index) => (index * 197) >> 3)
  const tensors = Array.from({ length: LAYERS }, (_, layer) =>
    Object.entries(SHAPES).map(([name, shape]) => {
      const lengthBytes = (shape[0] * shape[1] * shape[2] * 144) / 256
      return { name: `blk.${layer}.${name}.weight`, dtype: 'Q4_K', shape, data: repeated(block, lengthBytes) }
    }),
  ).flat()
  await writeGguf(
    { write: (bytes) => Promise.resolve((pieces.push(bytes.slice()), { bytesWritten: bytes.length })) },
    // The length of the name is such that the tensor data do not start at a block boundary.
    {
      metadata: new Map([
        ['general.architecture', 'qwen3moe'],
        ['general.name', 'experts'.repeat(9)],
      ]),
      tensors,
    },
  )
  return Buffer.concat(pieces)
}

function* repeated(block, lengthBytes) {
  for (let done = 0; done < lengthBytes; done += block.length)
    yield block.subarray(0, Math.min(block.length, lengthBytes - done))
}
