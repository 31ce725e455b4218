import { setImmediate as turn } from 'node:timers/promises'
import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { openImage, openLoader, zlibChecksummer } from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { layeredModel } from './models.js'

const MIB = 1024 * 1024

/** Returns a slow checksummer, and the maximum number of its concurrent calls. */
function watched(blocks: boolean): { checksummer: Checksummer; peak: () => number } {
  let running = 0
  let peak = 0
  const checksummer: Checksummer = {
    name: 'watched',
    blocks,
    async checksum(...call) {
      peak = Math.max(peak, ++running)
      for (let turns = 0; turns < 20; turns++) await turn()
      await zlibChecksummer.checksum(...call)
      running--
    },
  }
  return { checksummer, peak: () => peak }
}

test.each([
  { blocks: true, what: 'one at a time if they block the event loop' },
  { blocks: false, what: 'concurrently if they do not block the event loop' },
])(
  'checksums run $what',
  async ({ blocks }) => {
    const { namespace } = new MemoryNamespace({ capacityBytes: 64 * MIB })
    await pack(await layeredModel(2, 16 * MIB), namespace)
    const model = (await openImage(namespace)).model()
    const { checksummer, peak } = watched(blocks)
    await using loader = openLoader(model, { slots: 1, checksummer })
    for (const name of model.layers) {
      const lease = await loader.request(model.layer(name)).lease()
      expect(lease.verified).toBe(true)
      lease.release()
    }
    if (blocks) expect(peak()).toBe(1)
    else expect(peak()).toBeGreaterThan(1)
  },
  60_000,
)
