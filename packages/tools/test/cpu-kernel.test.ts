import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { loadTensor, openImage, streamLayers } from '@gpunvme/layer-loader'
import { pack, verifyImage } from '@gpunvme/layer-loader/image'
import type { Diagnostic } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { isBuilt, skipped } from '../../cuda-native/test/native.js'
import { startDrive, type DriveOptions } from '../../cuda-native/test/real-time-drives.js'
import { layeredModel, smallModel, tensorBytes } from '../../layer-loader/test/models.js'
import { openEngine } from '../src/open.js'

// Cases of the loader that need no virtual time, with commands submitted by the device code.

const MIB = 1024 * 1024

interface Drive extends AsyncDisposable {
  readonly namespace: WritableNamespace
  readonly diagnostics: () => Promise<readonly Diagnostic[]>
}

async function drive(options: DriveOptions = {}, queues = 1): Promise<Drive> {
  const { simulator, close } = await startDrive({ namespaces: [{ capacityBytes: 64 * MIB }], ...options })
  const { transport, diagnostics } = simulator
  const engine = openEngine('cpu-kernel', transport)
  const serial = options.profile === 'sn740' ? 'GPUNVME-SIM-SN740' : 'GPUNVME-SIM-1'
  const controller = await Controller.open(transport, { engine, queues, write: { serial } })
  return {
    namespace: controller.namespace(1),
    diagnostics,
    async [Symbol.asyncDispose]() {
      // Rejects for a removed drive.
      await controller.close().catch(() => undefined)
      await close()
    },
  }
}

/** Returns a fault for reads of a layer. The image begins at byte 2 MiB, and each layer has 1 MiB. */
const inLayer = (
  layer: number,
  action: { kind: 'corrupt-data'; byte: number; xor: number } | { kind: 'remove-device' },
) => {
  const first = 4096 + layer * 2048
  return { faults: { rules: [{ match: { opcode: 2, lba: [first, first + 2047] as const }, action }] } }
}

describe.skipIf(!isBuilt)(`models by the engine cpu-kernel${skipped}`, () => {
  test.each<[string, DriveOptions, number]>([
    ['with 512-byte blocks', {}, 1],
    ['with 4096-byte blocks and several queues', { namespaces: [{ blockBytes: 4096, capacityBytes: 64 * MIB }] }, 4],
    ['with the timing of an SN740', { profile: 'sn740' }, 4],
  ])('a model on a simulated drive %s is streamed byte-identical', async (_, options, queues) => {
    await using opened = await drive(options, queues)
    const { namespace } = opened
    const model = await smallModel([
      ['model.embed_tokens.weight', 2 * MIB + 5],
      ['model.layers.0.a', 3_000_000],
      ['model.layers.0.b', 777],
      ['model.layers.1.a', 0],
      ['model.norm.weight', 4096],
    ])
    await pack(model, namespace)
    const packed = (await openImage(namespace)).model()
    for await (using lease of streamLayers(packed)) {
      expect(lease.verified).toBe(true)
      for (const { name } of lease.tensors) {
        expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
      }
    }
    const [first] = model.tensors
    expect(Buffer.compare(await loadTensor(packed, first!.name), await tensorBytes(model, first!.name))).toBe(0)
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
    expect(await opened.diagnostics()).toEqual([])
  })

  test('two concurrent streams of a model are both correct', async () => {
    await using opened = await drive({}, 2)
    const model = await layeredModel(6, MIB)
    await pack(model, opened.namespace)
    const packed = (await openImage(opened.namespace)).model()
    const stream = async () => {
      let correct = 0
      for await (using lease of streamLayers(packed)) {
        const { name } = lease.tensors[0]!
        correct += Buffer.compare(lease.tensor(name), await tensorBytes(model, name)) === 0 ? 1 : 0
      }
      return correct
    }
    expect(await Promise.all([stream(), stream()])).toEqual([6, 6])
  })

  test('a stream that is left early leaves nothing in flight', async () => {
    await using opened = await drive({}, 2)
    await pack(await layeredModel(6, MIB), opened.namespace)
    for await (using lease of streamLayers((await openImage(opened.namespace)).model())) {
      expect(lease.name).toBe('layer 0')
      break
    }
    expect(await opened.diagnostics()).toEqual([])
  })

  test('data corrupted in transfer is detected and never leased', async () => {
    await using opened = await drive(inLayer(2, { kind: 'corrupt-data', byte: 100, xor: 4 }))
    await pack(await layeredModel(4, MIB), opened.namespace)
    const names: string[] = []
    const streaming = async () => {
      for await (using lease of streamLayers((await openImage(opened.namespace)).model())) names.push(lease.name)
    }
    await expect(streaming()).rejects.toMatchObject({ code: 'ERR_GPUNVME_VERIFICATION', extent: 'layer 2', chunk: 0 })
    expect(names).toEqual(['layer 0', 'layer 1'])
  })

  test('a removed drive ends the stream with a device error', async () => {
    await using opened = await drive(inLayer(1, { kind: 'remove-device' }))
    await pack(await layeredModel(4, MIB), opened.namespace)
    const packed = (await openImage(opened.namespace)).model()
    const streaming = async () => {
      for await (const lease of streamLayers(packed)) lease.release()
    }
    await expect(streaming()).rejects.toMatchObject({ category: 'device' })
  })
})
