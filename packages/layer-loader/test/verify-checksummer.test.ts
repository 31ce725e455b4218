import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { workerChecksummer } from '../src/index.js'
import { openFileStore, openWritableFileStore } from '../src/store/index.js'
import { pack, verifyImage } from '../src/image/index.js'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { scratch } from '../../../test/scratch.js'
import { layeredModel } from './models.js'

const MIB = 1 << 20

test('verifyImage uses the given checksummer concurrently, and finds corruption', async () => {
  const path = join(scratch(), 'image')
  const writable = await openWritableFileStore(path, { sizeBytes: 24 * MIB })
  const { manifest } = await pack(await layeredModel(4, 4 * MIB), writable)
  await writable.close()
  const file = await open(path, 'r+')
  await file.write(Uint8Array.of(0x5a), 0, 1, manifest.layers[2]!.offsetBytes + MIB + 7)
  await file.close()

  let [calls, inFlight, max] = [0, 0, 0]
  const checksummer: Checksummer = {
    name: 'counting',
    async checksum(...call) {
      calls++
      max = Math.max(max, ++inFlight)
      await workerChecksummer.checksum(...call)
      inFlight--
    },
  }
  await using store = await openFileStore(path)
  const { problems, chunks } = await verifyImage(store, { checksummer })
  expect(problems).toMatchObject([{ code: 'ERR_GPUNVME_VERIFICATION', extent: 'layer 2' }])
  expect([chunks, calls]).toEqual([16, 16])
  expect(max).toBeGreaterThan(1)
})
