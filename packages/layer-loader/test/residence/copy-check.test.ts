import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checksummer, CopyEngine } from '@gpunvme/nvme-spec/transport'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openModelInFiles, zlibChecksummer } from '../../src/index.js'
import {
  CopyMismatchError,
  hostCopies,
  layerSizes,
  openResidence,
  planResidence,
  type LayerSize,
} from '../../src/residence/index.js'
import { scratch } from '../../../../test/scratch.js'
import { safetensorsFile, smallModel, tensorBytes, type TensorSize } from '../models.js'
import { cost, LAYER_BYTES, LAYERS, machine, onGpu } from './machine.js'

const SLOW_MS = 120_000
const slots = { copies: 2, drive: 2 }

/** Two layers in GPU memory, two in host memory, the others on the drive. */
const budget = { vramBytes: 4 * LAYER_BYTES, ramBytes: 4 * LAYER_BYTES }

const planOf = (layers: readonly LayerSize[]) =>
  planResidence(layers, { budget, tier: 1, slots, cost, costFrom: 'measured' })

/** Wraps a checksummer and counts its bytes. */
function counting(inner: Checksummer): Checksummer & { bytes: number } {
  const counted = {
    name: inner.name,
    bytes: 0,
    checksum(...call: Parameters<Checksummer['checksum']>) {
      counted.bytes += call[2]
      return inner.checksum(...call)
    },
  }
  return counted
}

describe('verification of copies in GPU memory', () => {
  test(
    'each copied layer is checked against the checksums of the image',
    async () => {
      const { open, layers } = await machine()
      const checksummer = counting(onGpu)
      await using model = await open(planOf(layers), { onGpu: { checksummer } })
      expect(checksummer.bytes).toBe(2 * LAYER_BYTES)
      for await (using layer of model.pass({ isLast: true })) expect(layer.verifiedOnGpu).toBe(true)
      expect(checksummer.bytes).toBe(LAYERS * LAYER_BYTES)
    },
    SLOW_MS,
  )

  test(
    'a byte changed by a copy fails the pass, and the error names layer, range and tensors',
    async () => {
      const { open, layers, host } = await machine()
      const engine: CopyEngine = host.gpu!.copies
      let isCorrupting = false
      const copies: CopyEngine = {
        alloc: (lengthBytes) => engine.alloc(lengthBytes),
        async copy(from, fromBytes, to, toBytes, lengthBytes) {
          const bytes = new Uint8Array(from.view!.buffer, from.view!.byteOffset + fromBytes, lengthBytes)
          if (isCorrupting) bytes[4097]! ^= 1
          await engine.copy(from, fromBytes, to, toBytes, lengthBytes)
          if (isCorrupting) bytes[4097]! ^= 1
        },
      }
      await using model = await open(planOf(layers), { copies })
      isCorrupting = true
      const failed = await model
        .pass()
        .next()
        .then(async () => {
          for await (const layer of model.pass()) layer.release()
        })
        .catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(CopyMismatchError)
      expect(failed).toMatchObject({
        code: 'ERR_GPUNVME_COPY_MISMATCH',
        category: 'verification',
        offsetBytes: 0,
        lengthBytes: LAYER_BYTES,
      })
      expect(String(failed)).toMatch(/GPU memory differs from host memory: "layer \d"[^]*CRC-32 expected [^]*tensors/)
      isCorrupting = false
      for await (using layer of model.pass()) expect(layer.verifiedOnGpu).toBe(true)
    },
    SLOW_MS,
  )

  test(
    'a model without checksums is checked against host memory, and verified is false',
    async () => {
      const folder = scratch()
      // With an odd length, all tensors but the first must be moved to be aligned.
      const sizes = Array.from({ length: LAYERS }, (_, layer): TensorSize => [`model.layers.${layer}.weight`, 700_001])
      const written = await smallModel(sizes)
      const path = join(folder, 'model.safetensors')
      await writeFile(path, safetensorsFile(sizes))
      const files = await openModelInFiles(path)
      onTestFinished(() => files.close())
      const checksummer = counting(zlibChecksummer)
      const layers = layerSizes(files, { verify: 'off' })
      const options = { verify: 'off', copies: hostCopies(), onGpu: { checksummer } } as const
      await using model = await openResidence(files, planOf(layers), options)
      for await (using layer of model.pass({ isLast: true })) {
        expect([layer.verified, layer.verifiedOnGpu]).toEqual([false, true])
        for (const { name, offsetBytes, lengthBytes } of layer.tensors) {
          const memory = layer.memory as ReturnType<ReturnType<typeof hostCopies>['alloc']>
          const got = memory.range(offsetBytes, lengthBytes)
          expect(Buffer.compare(got, await tensorBytes(written, name))).toBe(0)
        }
      }
      expect(checksummer.bytes).toBeGreaterThanOrEqual(LAYERS * 700_001)
    },
    SLOW_MS,
  )
})
