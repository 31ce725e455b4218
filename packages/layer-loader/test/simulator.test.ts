import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { simulate, unverifiableMedia, type SimulationOptions } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { loadTensor, openImage, streamLayers } from '../src/index.js'
import { pack, verifyImage } from '../src/image/index.js'
import { asStore } from '../src/store/index.js'
import { layeredModel, smallModel, tensorBytes } from './models.js'

interface Drive {
  readonly namespace: WritableNamespace
  readonly controller: Controller<WritableNamespace>
  readonly simulation: ReturnType<typeof simulate>
}

async function drive(options: SimulationOptions = {}, queues = 1): Promise<Drive> {
  const simulation = simulate({ namespaces: [{ capacityBytes: 64 << 20 }], ...options })
  const serial = options.profile === 'sn740' ? 'GPUNVME-SIM-SN740' : 'GPUNVME-SIM-1'
  const controller = await Controller.open(simulation.transport, { write: { serial }, queues })
  return { namespace: controller.namespace(1), controller, simulation }
}

describe('a model loaded from a simulated drive is byte-identical', () => {
  test.each([
    ['with 512-byte blocks', {}, 1],
    ['with 4096-byte blocks and several queues', { namespaces: [{ blockBytes: 4096, capacityBytes: 64 << 20 }] }, 4],
    ['with scattered memory', { fragmented: true }, 2],
    ['with the timing of an SN740', { profile: 'sn740', seed: 3 }, 4],
  ] as const)('%s', async (_, options, queues) => {
    const { namespace, controller, simulation } = await drive(options, queues)
    const model = await smallModel([
      ['model.embed_tokens.weight', (2 << 20) + 5],
      ['model.layers.0.a', 3_000_000],
      ['model.layers.0.b', 777],
      ['model.layers.1.a', 0],
      ['model.norm.weight', 4096],
    ])
    await pack(model, namespace)
    const packed = (await openImage(namespace)).model()
    for await (using lease of streamLayers(packed)) {
      for (const { name } of lease.tensors) {
        expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
      }
    }
    const [first] = model.tensors
    expect(Buffer.compare(await loadTensor(packed, first!.name), await tensorBytes(model, first!.name))).toBe(0)
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
    await controller.close()
    expect(simulation.diagnostics).toEqual([])
  })
})

test('data corrupted in transfer is detected and never leased', async () => {
  const corrupt = { kind: 'corrupt-data', byte: 100, xor: 4 } as const
  // The data of the image begins at byte 2 MiB, LBA 4096; each layer has 1 MiB.
  const match = { opcode: 2, lba: [4096 + 2 * 2048, 4096 + 3 * 2048 - 1] } as const
  const { namespace, controller } = await drive({ faults: { rules: [{ match, action: corrupt }] } })
  await pack(await layeredModel(4, 1 << 20), namespace)
  const names: string[] = []
  const streaming = async () => {
    for await (using lease of streamLayers((await openImage(namespace)).model())) names.push(lease.name)
  }
  await expect(streaming()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VERIFICATION', extent: 'layer 2', chunk: 0 })
  expect(names).toEqual(['layer 0', 'layer 1'])
  await controller.close()
})

test('a removed drive ends the stream with a device error', async () => {
  const faults = {
    rules: [{ match: { opcode: 2, lba: [4096 + 2048, 4096 + 2048] }, action: { kind: 'remove-device' } }],
  } as const
  const { namespace } = await drive({ faults })
  await pack(await layeredModel(4, 1 << 20), namespace)
  const packed = (await openImage(namespace)).model()
  const streaming = async () => {
    for await (const lease of streamLayers(packed)) lease.release()
  }
  await expect(streaming()).rejects.toMatchObject({ category: 'device' })
})

test('the write guard protects foreign data; overwriting it removes all signatures', async () => {
  const { namespace, controller, simulation } = await drive({ namespaces: [{ capacityBytes: 128 << 20 }] })
  const memory = namespace.dma.alloc(512)
  memory.view!.setUint16(510, 0x55aa)
  await namespace.write(0, 1, memory)
  // The backup of a GUID partition table is in the last block.
  new Uint8Array(memory.view!.buffer).set(Buffer.from('EFI PART'))
  await namespace.write(namespace.blocks - 1, 1, memory)
  // The second superblock of a btrfs is 64 MiB into the drive, far from both ends.
  new Uint8Array(memory.view!.buffer).set(Buffer.from('_BHRfS_M'), 0x40)
  await namespace.write((64 << 20) / namespace.blockBytes, 1, memory)
  memory.free()
  await controller.close()
  const again = await Controller.open(simulation.transport, { write: { serial: 'GPUNVME-SIM-1' } })
  await expect(pack(await smallModel(), again.namespace(1))).rejects.toMatchObject({ code: 'ERR_GPUNVME_FOREIGN_DATA' })
  const write = { serial: 'GPUNVME-SIM-1', overwrite: ['MBR', 'GPT', 'btrfs'] }
  await again.close()
  const third = await Controller.open(simulation.transport, { write })
  await pack(await smallModel(), third.namespace(1))
  // No foreign signature is left, so that the next pack needs no `overwrite`.
  await third.close()
  const fourth = await Controller.open(simulation.transport, { write: { serial: 'GPUNVME-SIM-1' } })
  await pack(await smallModel(), fourth.namespace(1), { replace: true })
  await fourth.close()
})

test('the statistics of layers and of the stream are measured on the clock of the drive', async () => {
  const { namespace } = await drive({ profile: 'sn740' })
  await pack(await layeredModel(6, 4 << 20), namespace)
  const packed = (await openImage(namespace)).model()
  const stream = streamLayers(packed)
  let readNs = 0
  for await (using lease of stream) {
    expect(lease.statistics.readNs).toBeGreaterThan(0)
    readNs += lease.statistics.readNs
  }
  const { elapsedNs, bytes } = stream.statistics
  expect(readNs).toBeLessThanOrEqual(elapsedNs)
  // Six layers of 4 MiB, read without a pause at the 3,330 MiB/s of this drive.
  expect(bytes / elapsedNs).toBeGreaterThan(3)
  expect(bytes / elapsedNs).toBeLessThan(3.5)
})

test('media that store no data are rejected by all functions that read or write an image', async () => {
  const media = unverifiableMedia({ capacityBytes: 64 << 20 })
  const { namespace } = await drive({ namespaces: [{ media }] })
  const model = await smallModel()
  for (const refused of [openImage(namespace), verifyImage(namespace), pack(model, namespace)]) {
    const error: unknown = await refused.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNVERIFIABLE_MEDIA' })
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_UNVERIFIABLE_MEDIA',
      headline: expect.stringContaining('namespace 1') as unknown,
    })
    expect(String(error)).toMatch(/stores no data[^]*RamMedia or fileMedia/)
  }
  // A model of an image that was opened on another drive is rejected too.
  const other = await drive()
  await pack(model, other.namespace)
  const packed = { ...(await openImage(other.namespace)).model(), store: asStore(namespace) }
  expect(() => streamLayers(packed)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_UNVERIFIABLE_MEDIA' }))
  await expect(loadTensor(packed, packed.manifest.layers[0]!.tensors[0]!.name)).rejects.toThrow(
    expect.objectContaining({ code: 'ERR_GPUNVME_UNVERIFIABLE_MEDIA' }),
  )
})
