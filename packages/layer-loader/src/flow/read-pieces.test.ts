import { createCipheriv } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { MemoryNamespace } from '../../test/memory-namespace.js'
import { readPieces } from './read-pieces.js'

/** The key stream of AES: bytes without a pattern, the same each time. */
const CONTENT = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(1 << 20))
const all = { offsetBytes: 0, lengthBytes: CONTENT.length }

function drive() {
  return new MemoryNamespace({ media: Uint8Array.from(CONTENT) })
}

describe('readPieces', () => {
  test.each([
    ['whole blocks', { offsetBytes: 1024, lengthBytes: 40_960 }],
    ['a few bytes inside a block', { offsetBytes: 700, lengthBytes: 5 }],
    ['bytes of two blocks', { offsetBytes: 1023, lengthBytes: 2 }],
    ['from inside a block to inside another', { offsetBytes: 12_345, lengthBytes: 400_001 }],
    ['up to the end', { offsetBytes: (1 << 20) - 608, lengthBytes: 608 }],
    ['no bytes', { offsetBytes: 700, lengthBytes: 0 }],
  ])('the pieces contain the bytes of the range: %s', async (_, range) => {
    const { namespace } = drive()
    const whole = new Uint8Array(range.lengthBytes).fill(0xa5)
    for await (const { offsetBytes, bytes } of readPieces(namespace, range, { pieceBytes: 8192 })) {
      whole.set(bytes, offsetBytes - range.offsetBytes)
    }
    const expected = CONTENT.subarray(range.offsetBytes, range.offsetBytes + range.lengthBytes)
    expect(Buffer.compare(whole, expected)).toBe(0)
  })

  test('reading allocates memory for two pieces, and frees it at the end', async () => {
    const memory = drive()
    let pieces = 0
    for await (const { bytes } of readPieces(memory.namespace, all, { pieceBytes: 4096 })) pieces += bytes.length / 4096
    expect([pieces, memory.peakBytes, memory.allocatedBytes]).toEqual([256, 8192, 0])
  })

  test('an unreadable block ends the read after the pieces before that block', async () => {
    const memory = drive()
    memory.outcome = ({ slba, blocks }, command) => {
      const isBad = slba[command]! <= 100 && 100 < slba[command]! + blocks[command]!
      return isBad ? { kind: 'status', sct: 2, sc: 0x81, dnr: true, more: false, crd: 0 } : { kind: 'success' }
    }
    let readBytes = 0
    const read = async () => {
      for await (const { bytes } of readPieces(memory.namespace, all, { pieceBytes: 4096 })) readBytes += bytes.length
    }
    await expect(read()).rejects.toThrow('Read failed: Unrecovered Read Error (SCT 2h SC 81h, DNR')
    expect(readBytes).toBe(Math.floor(100 / 8) * 4096)
    expect(memory.allocatedBytes).toBe(0)
  })

  test('an abort rejects the read with the reason of the signal', async () => {
    const { namespace } = drive()
    const controller = new AbortController()
    const { signal } = controller
    const read = async () => {
      for await (const { offsetBytes } of readPieces(namespace, all, { pieceBytes: 4096, signal })) {
        if (offsetBytes >= 40_960) controller.abort('enough')
      }
    }
    await expect(read()).rejects.toBe('enough')
  })

  test('after an early exit, memory is freed only when no read is in flight', async () => {
    const memory = drive()
    for await (const { bytes } of readPieces(memory.namespace, all, { pieceBytes: 512 })) {
      expect(bytes.length).toBe(512)
      // The next piece is being read.
      expect(memory.plans).toHaveLength(2)
      break
    }
    expect([memory.inFlight, memory.allocatedBytes]).toEqual([0, 0])
  })
})
