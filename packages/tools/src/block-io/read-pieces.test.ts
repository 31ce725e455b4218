import { describe, expect, test } from 'vitest'
import { pattern, withSimulatedDrive } from '../../test/simulated-drive.js'
import { readPieces } from './read-pieces.js'

const CONTENTS = pattern(1_000_000)

describe('the pieces of a range', () => {
  test.each([
    ['whole blocks', { offsetBytes: 1024, lengthBytes: 40_960 }],
    ['a few bytes inside a block', { offsetBytes: 700, lengthBytes: 5 }],
    ['bytes of two blocks', { offsetBytes: 1023, lengthBytes: 2 }],
    ['from inside a block to inside another', { offsetBytes: 12_345, lengthBytes: 400_001 }],
    ['up to the end', { offsetBytes: 8_388_000, lengthBytes: 608 }],
  ])('are its bytes: %s', async (_, range) => {
    await withSimulatedDrive({}, async ({ media, namespace }) => {
      media.write(0, CONTENTS)
      const whole = new Uint8Array(range.lengthBytes).fill(0xa5)
      for await (const { offsetBytes, bytes } of readPieces(namespace, range, { pieceBytes: 8192 })) {
        whole.set(bytes, offsetBytes - range.offsetBytes)
      }
      const expected = new Uint8Array(range.lengthBytes)
      expected.set(CONTENTS.subarray(range.offsetBytes, range.offsetBytes + range.lengthBytes))
      expect(Buffer.from(whole).equals(expected)).toBe(true)
    })
  })

  test('need memory for two of them, however many there are, and give it back', async () => {
    await withSimulatedDrive({}, async ({ namespace }) => {
      let lent = 0
      const { dma } = namespace
      const alloc = dma.alloc.bind(dma)
      let most = 0
      dma.alloc = (lengthBytes, request) => {
        const memory = alloc(lengthBytes, request)
        lent += lengthBytes
        most = Math.max(most, lent)
        const free = memory.free.bind(memory)
        memory.free = () => {
          lent -= lengthBytes
          free()
        }
        return memory
      }
      let pieces = 0
      const range = { offsetBytes: 0, lengthBytes: 1_048_576 }
      for await (const { bytes } of readPieces(namespace, range, { pieceBytes: 4096 })) pieces += bytes.length / 4096
      expect([pieces, most, lent]).toEqual([256, 8192, 0])
    })
  })

  test('end with the failure of a block that cannot be read, after the pieces before it', async () => {
    const faults = {
      rules: [{ match: { opcode: 2, lba: [100, 100] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }],
    } as const
    await withSimulatedDrive({ faults }, async ({ namespace }) => {
      let read = 0
      const all = async () => {
        for await (const { bytes } of readPieces(
          namespace,
          { offsetBytes: 0, lengthBytes: 102_400 },
          { pieceBytes: 4096 },
        ))
          read += bytes.length
      }
      await expect(all()).rejects.toThrow('Read failed: Unrecovered Read Error (SCT 2h SC 81h, DNR, M)')
      expect(read).toBe(Math.floor(100 / 8) * 4096)
    })
  })

  test('end with the reason of the signal, and when whoever reads them stops', async () => {
    await withSimulatedDrive({}, async ({ namespace }) => {
      const controller = new AbortController()
      const all = async () => {
        for await (const { offsetBytes } of readPieces(
          namespace,
          { offsetBytes: 0, lengthBytes: 1_048_576 },
          { pieceBytes: 4096, signal: controller.signal },
        )) {
          if (offsetBytes >= 40_960) controller.abort('enough')
        }
      }
      await expect(all()).rejects.toBe('enough')
      for await (const { bytes } of readPieces(
        namespace,
        { offsetBytes: 0, lengthBytes: 1_048_576 },
        { pieceBytes: 512 },
      )) {
        expect(bytes.length).toBe(512)
        break
      }
    })
  })
})
