import { openModelFile } from '@gpunvme/layer-loader/formats'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { safetensorsFile, type TensorSize } from '../../../layer-loader/test/models.js'
import { scratch, testIo } from '../../test/gpunvme.js'
import { openRig } from '../rig/open-rig.js'
import { Output } from '../terminal/output.js'
import { compareTensors } from './compare-tensors.js'

const MIB = 1024 * 1024
const TENSORS = [0, 1, 2].map((layer): TensorSize => [`model.layers.${layer}.weight`, 2 * MIB + 8])

const folder = scratch()
const { signal } = new AbortController()

/** Loads a model into host memory, with every layer on the drive, and compares it with another file. */
async function compareWith(bytes: Uint8Array): Promise<{ readonly tensors: number }> {
  const [packed, other] = ['packed.safetensors', 'other.safetensors'].map((name) => join(folder, name))
  writeFileSync(packed!, safetensorsFile(TENSORS))
  writeFileSync(other!, bytes)
  await using rig = await openRig({ model: packed!, sim: {}, gpu: 'none', ram: 5 * MIB })
  await using file = await openModelFile(other!)
  return await compareTensors(rig, file, new Output({}, testIo()), signal)
}

test('compareTensors accepts the file that a model was packed from', async () => {
  expect(await compareWith(safetensorsFile(TENSORS))).toMatchObject({ tensors: 3 })
})

test('compareTensors rejects a file that differs in its last byte, and names the tensor', async () => {
  const bytes = Uint8Array.from(safetensorsFile(TENSORS))
  bytes[bytes.length - 1]! ^= 1
  await expect(compareWith(bytes)).rejects.toThrow('Loaded tensor model.layers.2.weight differs')
})

test.each<[string, TensorSize[], string]>([
  ['a tensor that was not packed', [...TENSORS, ['model.layers.3.weight', 8]], 'model.layers.3.weight'],
  ['a missing tensor', TENSORS.slice(1), 'model.layers.0.weight'],
  ['a tensor of another length', [...TENSORS.slice(0, 2), ['model.layers.2.weight', 2 * MIB]], 'model.layers.2.weight'],
])('compareTensors rejects a file with %s', async (_, tensors, name) => {
  await expect(compareWith(safetensorsFile(tensors))).rejects.toThrow(`Loaded tensor ${name} differs`)
})
