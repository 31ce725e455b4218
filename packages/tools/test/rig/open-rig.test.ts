import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pack } from '@gpunvme/layer-loader/image'
import { type HostCopyMemory, type ResidentLease } from '@gpunvme/layer-loader/residence'
import { openModelFile } from '@gpunvme/layer-loader/formats'
import { Controller } from '@gpunvme/host-driver'
import { describe, expect, test } from 'vitest'
import { missing, run } from '../../../layer-loader/test/filesystems/images.js'
import { safetensorsFile, type TensorSize } from '../../../layer-loader/test/models.js'
import { openRig, openTransport, type ComposeOptions, type Rig, type RigOptions } from '../../src/open.js'
import { createImageFile } from '../../src/drive/image-file.js'
import { composeRig, packInto } from '../../src/rig/open-rig.js'
import { gpunvme, scratch } from '../gpunvme.js'

const MIB = 1024 * 1024
const LAYERS = 8
const SERIAL = 'GPUNVME-SIM-SN740'

/** A budget with some layers in GPU memory, some in host memory and the others on the drive. */
const BUDGET = { vram: 5 * MIB, ram: 5 * MIB }

/** Eight layers of 1 MiB. */
const TENSORS = Array.from({ length: LAYERS }, (_, layer): TensorSize => [`model.layers.${layer}.weight`, MIB])

const lacks = missing('mkfs.ext4')
const skipped = lacks === undefined ? '' : ` (skipped: ${lacks})`

const folder = scratch()
const file = (name: string) => join(folder, name)

async function modelFile(): Promise<string> {
  const path = file('model.safetensors')
  await writeFile(path, safetensorsFile(TENSORS))
  return path
}

/** Returns the bytes of a tensor of a layer, from host memory in place of GPU memory. */
function bytesOf(layer: ResidentLease, name: string): Uint8Array {
  const { offsetBytes, lengthBytes } = layer.tensors.find((tensor) => tensor.name === name)!
  return (layer.memory as HostCopyMemory).range(offsetBytes, lengthBytes)
}

/** Compares every tensor with the model file in two passes. */
async function comparePasses(rig: Rig, path: string): Promise<void> {
  await using model = await openModelFile(path)
  for (let pass = 0; pass < 2; pass++) {
    let tensors = 0
    for await (using layer of rig.loader.pass({ isLast: pass === 1 })) {
      expect(layer.verifiedOnGpu).toBe(true)
      for (const { name } of layer.tensors) {
        const { part, offsetBytes, lengthBytes } = model.tensors.find((tensor) => tensor.name === name)!
        const expected = new Uint8Array(lengthBytes)
        await model.parts[part]!.source.read(offsetBytes, expected)
        expect(Buffer.compare(bytesOf(layer, name), expected), name).toBe(0)
        tensors++
      }
    }
    expect(tensors).toBe(LAYERS)
  }
}

const whyOf = (rig: Rig, subject: string) => rig.decisions.find((choice) => choice.subject === subject)!

describe('openRig without a GPU', () => {
  test('packs a model file onto a simulated drive in memory, and passes are byte-identical', async () => {
    const path = await modelFile()
    const stages = new Set<string>()
    const onProgress: RigOptions['onProgress'] = ({ stage }) => stages.add(stage)
    await using rig = await openRig({ model: path, sim: {}, gpu: 'none', ...BUDGET, onProgress })
    expect(rig.models).toHaveLength(1)
    expect(new Set(rig.placement.layers.map(({ residence }) => residence))).toEqual(new Set(['vram', 'ram', 'nvme']))
    await comparePasses(rig, path)
    expect([...stages]).toEqual(['packing', 'loading'])
  })

  test('predicts the drive time of a pass from measured costs', async () => {
    const path = await modelFile()
    await using rig = await openRig({ model: path, sim: { profile: 'sn740' }, gpu: 'none', ...BUDGET })
    const before = rig.loader.statistics.driveBusyNs
    for await (using layer of rig.loader.pass({ isLast: true })) expect(layer.verified).toBe(true)
    const busyNs = rig.loader.statistics.driveBusyNs - before
    // Modelled time does not depend on the machine. Each of the four reads of 1 MiB adds its latency.
    expect(busyNs / rig.placement.predicted.driveNs).toBeGreaterThan(0.9)
    expect(busyNs / rig.placement.predicted.driveNs).toBeLessThan(1.3)
  })

  test('states each choice with the fact that ruled out the alternatives', async () => {
    await using rig = await openRig({ model: await modelFile(), sim: {}, gpu: 'none', ...BUDGET })
    expect(rig.decisions.map(({ subject }) => subject)).toEqual(['gpu', 'engine', 'tier', 'verification', 'cost'])
    expect(whyOf(rig, 'gpu')).toMatchObject({ chosen: 'none', reason: 'requested' })
    expect(whyOf(rig, 'engine')).toMatchObject({
      chosen: 'host',
      rejected: [{ option: 'cuda', reason: 'no GPU' }],
    })
    expect(whyOf(rig, 'tier')).toMatchObject({
      chosen: '1',
      rejected: [{ option: 'tier 2', reason: 'no GPU' }],
    })
  })

  test('opens an image by the name of its model', async () => {
    const path = await modelFile()
    const image = await packed(path, 'drive.img')
    await using rig = await openRig({ model: 'draft', drives: [{ transport: 'sim', image }], gpu: 'none', ...BUDGET })
    expect(rig.models).toEqual(['draft'])
    await comparePasses(rig, path)
  })

  test('opens several drives as a set', async () => {
    const path = await modelFile()
    const images = [file('a.img'), file('b.img')]
    const members = images.flatMap((image) => ['--image', image])
    expect((await gpunvme(['pack', path, ...members, '--stripe'], { cwd: folder })).code).toBe(0)
    const drives = images.map((image) => ({ transport: 'sim', image }) as const)
    await using rig = await openRig({ drives, gpu: 'none', ...BUDGET })
    expect(rig.controllers).toHaveLength(2)
    await comparePasses(rig, path)
  })

  test('loads plain files without verification of reads', async () => {
    const path = await modelFile()
    await using rig = await openRig({ model: path, gpu: 'none', ...BUDGET })
    expect(rig.controllers).toEqual([])
    expect(whyOf(rig, 'verification')).toMatchObject({ chosen: 'copies' })
    await comparePasses(rig, path)
    for await (using layer of rig.loader.pass({ isLast: true })) expect(layer.verified).toBe(false)
  })

  test.skipIf(lacks !== undefined)(`loads a file in place from the ext4 file system of a drive${skipped}`, async () => {
    const path = await modelFile()
    const files = file('files')
    await mkdir(join(files, 'models'), { recursive: true })
    await copyFile(path, join(files, 'models', 'tiny.safetensors'))
    const image = file('ext4.img')
    run('mkfs.ext4', ['-q', '-F', '-d', files, image, '32m'])
    const drives = [{ transport: 'sim', image, readOnly: true }] as const
    await using rig = await openRig({
      ...{ drives, model: '/models/tiny.safetensors', inPlace: true, gpu: 'none' },
      ...BUDGET,
    })
    await comparePasses(rig, path)
    await expect(openRig({ drives, model: '/models/other.gguf', inPlace: true, gpu: 'none' })).rejects.toMatchObject({
      code: 'ERR_GPUNVME_FILE_NOT_IN_PLACE',
      category: 'not-found',
    })
  })

  test.each<[string, ComposeOptions, object]>([
    ['a budget that is too small', { vram: MIB, ram: MIB }, { code: 'ERR_GPUNVME_BUDGET_INFEASIBLE' }],
    ['an unsuitable engine', { engine: 'cpu-kernel' }, { code: 'ERR_GPUNVME_ENGINE_UNSUITABLE' }],
    ['an abort', { signal: AbortSignal.abort(new Error('enough')) }, { message: 'enough' }],
  ])('releases the drive after %s', async (_, options, expected) => {
    const path = await modelFile()
    const drive = await openTransport('sim', { capacityBytes: 64 * MIB })
    await packInto(drive, path, {})
    const good = { gpu: 'none', ...BUDGET } as const
    await expect(composeRig([drive], { ...good, ...options })).rejects.toMatchObject(expected)
    // This would fail if a controller were still open.
    const rig = await composeRig([drive], good)
    await comparePasses(rig, path)
    await rig.close()
    await drive.close()
  })

  test('loads a model of a single block', async () => {
    const path = file('tiny.safetensors')
    await writeFile(path, safetensorsFile([['a', 8]]))
    await using rig = await openRig({ model: path, gpu: 'none', ...BUDGET })
    for await (using layer of rig.loader.pass({ isLast: true })) expect(layer.verifiedOnGpu).toBe(true)
  })

  test.each<[string, RigOptions, Error]>([
    ['no drive and no model', {}, new TypeError('model: expected a path if no drive is given, got undefined')],
    ['in place without a drive', { model: 'x', inPlace: true }, new TypeError('inPlace: expected a drive')],
    ['an unknown tier', { sim: {}, tier: 4 as 3 }, new RangeError('tier: expected 1, 2 or 3, got 4')],
  ])('rejects %s', async (_, options, expected) => {
    await expect(openRig({ gpu: 'none', ...options })).rejects.toThrow(expected.message)
  })

  test('rejects an unknown profile', async () => {
    const opening = openRig({ model: await modelFile(), sim: { profile: 'sn999' }, gpu: 'none' })
    await expect(opening).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_PROFILE' })
  })

  test('a rig without a GPU can be closed twice during a pass', async () => {
    const rig = await openRig({ model: await modelFile(), sim: {}, gpu: 'none', ...BUDGET })
    const pass = rig.loader.pass()
    await pass.next()
    await Promise.all([rig.close(), rig.close()])
    await expect(pass.next()).rejects.toMatchObject({ code: 'ERR_GPUNVME_RESIDENCE_CLOSED' })
  })
})

/** Creates an image file with the model, named 'draft'. */
async function packed(path: string, name: string): Promise<string> {
  const image = file(name)
  await createImageFile(image, 64 * MIB)
  const { transport, close } = await openTransport('sim', { image })
  const controller = await Controller.open(transport, { write: { serial: SERIAL } })
  await using model = await openModelFile(path)
  await pack(model, controller.namespace(1), { name: 'draft' })
  await controller.close()
  await close()
  return image
}
