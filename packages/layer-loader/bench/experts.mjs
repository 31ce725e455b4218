// Cost of loading 2 of 64 experts of each layer, from an image and from a GGUF in place.
import { openImage, openLoader, asModel, modelInPlace, namespaceStore, pack, storeSource } from '@gpunvme/layer-loader'
import { Catalogue, memorySource, openModel, writeGguf } from '@gpunvme/layer-loader/formats'
import { RamMedia, simulate } from '@gpunvme/nvme-sim'
import { withController } from './lib/demo-drive.mjs'

const MIB = 1024 * 1024
const LAYERS = 2
const EXPERTS = 64
/** Any two that are not neighbours. */
const PICKED = [7, 42]

/** As in Qwen3-30B-A3B: 2048 wide, 768 within an expert. */
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
        const image = await load(asModel((await openImage(namespace)).model()), { verify: 'full' })
        return { blockBytes, image }
      }),
    )
  }
  const inPlace = await fromGguf(gguf)
  const percent = ({ bytes, wantedBytes }) => (bytes / wantedBytes - 1) * 100
  const sayRate = ({ wantedBytes, elapsedNs }) => `${(wantedBytes / elapsedNs).toFixed(2)} GB/s modelled`
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
  ]
}

async function load(model, { verify }) {
  const loader = openLoader(model, { slots: 4, slotBytes: 8 * MIB, verify })
  const tickets = Array.from({ length: LAYERS }, (_, layer) => PICKED.map((expert) => model.expert(layer, expert)))
    .flat()
    .map((extent) => loader.request(extent))
  for (const ticket of tickets) (await ticket.lease()).release()
  const { bytes, wantedBytes, commands, elapsedNs, movedBytes } = loader.statistics
  await loader.close()
  const each = tickets.length
  return { bytes, wantedBytes, elapsedNs, movedBytes, commandsEach: commands / each, eachBytes: wantedBytes / each }
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
    // With this name, the data do not start at a block.
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
