import { totalmem } from 'node:os'
import { expect, test } from 'vitest'
import { isBuilt, skipped } from '../../cuda-native/test/native.js'
import { openTransport } from '../src/open.js'

const MIB = 1024 * 1024

/** Three layers of a 70B model in Q6_K, and queues. */
const NEEDED_BYTES = (3 * 669 + 16) * MIB

test.skipIf(!isBuilt)(
  `a simulated drive in real time has memory for three slots of 669 MiB${skipped}`,
  async ({ skip }) => {
    skip(totalmem() < NEEDED_BYTES, `this machine has ${totalmem()} bytes of memory`)
    const { transport, close } = await openTransport('sim', { profile: 'ideal', realTime: true, capacityBytes: MIB })
    try {
      // The error states the free bytes: allocating them would touch all their pages.
      const refused = () => transport.dma.alloc(2 ** 40)
      expect(refused).toThrow(/; \d+ of \d+ bytes are free$/)
      expect(freeBytes(refused)).toBeGreaterThan(NEEDED_BYTES)
      const memory = transport.dma.alloc(16 * MIB)
      memory.view!.setUint8(16 * MIB - 1, 7)
      memory.free()
    } finally {
      await close()
    }
  },
)

function freeBytes(refused: () => unknown): number {
  try {
    refused()
  } catch (error) {
    return Number(/(\d+) of \d+ bytes are free$/.exec((error as Error).message)![1])
  }
  return 0
}
