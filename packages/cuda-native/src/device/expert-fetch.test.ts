import { describe, expect, test } from 'vitest'
import { openDrive, openQueues } from '../../test/device-rig.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { deviceOutcome } from './device-outcome.js'

const standin = useStandin()

/** A table without experts: its first word is the version. */
const table = { bytes: new Uint8Array(64).fill(1, 0, 1), layers: ['layer 0'], maxBytes: 1024, maxExtents: 2 }

describe.skipIf(!hasStandin)(`a fetch of experts${skippedWithoutStandin}`, () => {
  test('has memory for every position, and results that are pending before the first fetch', async () => {
    const { queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([{ engine: drive.engine, namespace: drive.namespace }])
    const buffer = drive.engine.buffer(drive.namespace.dma.alloc(4096))
    const fetch = device.expertFetch({ table, positions: 4, buffer })
    const words = new DataView(fetch.argument('layer 0').buffer)
    // `ids` and `count` of gnv_fetch.
    expect([words.getBigUint64(8, true), words.getUint32(84, true)]).toEqual([fetch.ids, 4])
    expect(fetch.results().map(({ ending }) => ending)).toEqual(Array(4).fill('pending'))
    fetch.free()
  })

  test('rejects invalid arguments with the expected values', async () => {
    const { queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([{ engine: drive.engine, namespace: drive.namespace }])
    const buffer = drive.engine.buffer(drive.namespace.dma.alloc(4096))
    const fetch = (changes: object) => device.expertFetch({ table, positions: 4, buffer, ...changes })
    const wrong: readonly [object, string][] = [
      [{ table: {} }, 'table: expected a table of expertTable() of @gpunvme/layer-loader, got Object'],
      [{ table: { ...table, bytes: new Uint8Array(64) } }, 'table: expected version 1, got 0'],
      [{ positions: 0 }, 'positions: expected a whole number from 1 to 512, got 0'],
      [{ positions: 513 }, 'positions: expected a whole number from 1 to 512, got 513'],
      [{ positions: 5 }, 'buffer: expected at least 5120 bytes, 1024 for each position, got 4096'],
      [{ buffer: {} }, 'buffer: expected a buffer that the GPU can access, from engine.buffer(), got Object'],
      [{ maxReadBytes: 0 }, 'maxReadBytes: expected a whole number of 1 or more, got 0'],
    ]
    for (const [changes, message] of wrong) expect(() => fetch(changes)).toThrow(message)
    const valid = fetch({})
    expect(() => valid.argument('layer 7')).toThrow("layer: expected one of layer 0, got 'layer 7'")
    valid.free()
  })
})

test('deviceOutcome decodes a word that a kernel has stored', () => {
  expect(deviceOutcome(0x1_0007_0000n)).toEqual({ ending: 'success', status: 0, reason: 0 })
  expect(deviceOutcome(0x2_0007_0281n)).toEqual({ ending: 'status', status: 0x281, reason: 0 })
  expect(deviceOutcome(0x7_0000_0003n)).toEqual({ ending: 'invalid', status: 0, reason: 3 })
  expect(() => deviceOutcome(0x8_0000_0000n)).toThrow('word: expected an outcome of gnv::Device, got 0x800000000')
})
