import { Controller } from '@gpunvme/host-driver'
import type { CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { isBuilt } from '../../test/native.js'
import { startDrive } from '../../test/real-time-drives.js'
import { scratchFile } from '../../test/scratch-file.js'
import { hasStandin, NOTHING, skippedWithoutStandin, until, useStandin } from '../../test/standin/standin.js'
import { cudaEngine, openCuda, readThrough } from './index.js'

const MIB = 1024 * 1024
const PIECE = 256 * 1024
const standin = useStandin()

test.skipIf(!hasStandin || !isBuilt)(
  `with two slots, reads by the engine cuda overlap with copies, and every byte arrives${skippedWithoutStandin}`,
  async () => {
    const content = Uint8Array.from({ length: 2 * MIB }, (_, index) => (index >>> 9) ^ (index * 13))
    using file = scratchFile(content)
    const drive = await startDrive({ namespaces: [{ file: { path: file.path, readOnly: true } }] })
    const { transport } = drive.simulator
    const cuda = openCuda()
    {
      const engine = cudaEngine(transport, cuda)
      await using ctrl = await Controller.open(transport, { engine, maxTransferBytes: 65_536 })
      const ns = ctrl.namespace(1)
      const copies = cuda.copyEngine()
      const to = copies.alloc(MIB + 5 * 512)
      const slots = [ns.dma.alloc(PIECE), ns.dma.alloc(PIECE)]
      const begun: number[] = []
      const held = () => standin.copies().started - standin.copies().done
      // Not the engine's own copies, which are shorter.
      standin.holdCopies(true, PIECE)
      const reading = readThrough({
        ...{ slots, copies, to, toBytes: 512, lengthBytes: MIB + 4 * 512 },
        async read(slot, fromBytes, lengthBytes) {
          begun.push(fromBytes)
          // The first copy has started, and does not end: this read overlaps with it.
          if (begun.length === 2) await until(() => held() === 1)
          await ns.read((fromBytes + 512) / 512, lengthBytes / 512, slot)
          if (begun.length !== 2) return
          expect(held()).toBe(1)
          // The third read has to wait for that copy: its slot is the first again.
          setTimeout(() => {
            expect(begun).toHaveLength(2)
            standin.holdCopies(false)
          }, 20)
        },
      })
      await reading
      expect(begun).toEqual([0, 262_144, 524_288, 786_432, 1_048_576])
      const arrived = await to.read(512)
      expect(Buffer.compare(arrived, content.subarray(512, 512 + MIB + 4 * 512))).toBe(0)
      for (const slot of slots) copies.forget(slot)
      copies.close()
      to.free()
    }
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
    await drive.close()
  },
)

describe('a failure of readThrough', () => {
  const memoryOf = (lengthBytes: number) => ({ lengthBytes }) as DmaMemory
  const to = { lengthBytes: 100 } as DeviceMemory

  test('in a read is reported once no copy is in progress', async () => {
    const open: (() => void)[] = []
    const copies: CopyEngine = { alloc: () => to, copy: () => new Promise((done) => open.push(done)) }
    let ended = false
    const reading = readThrough({
      ...{ slots: [memoryOf(10), memoryOf(10)], copies, to, lengthBytes: 100 },
      read: (_, from) => (from === 10 ? Promise.reject(new Error('no answer')) : Promise.resolve()),
    }).finally(() => (ended = true))
    const told = expect(reading).rejects.toThrow('no answer')
    await until(() => open.length === 1)
    await new Promise(setImmediate)
    expect(ended).toBe(false)
    open[0]!()
    await told
  })

  test('in a copy stops further reads, and is reported', async () => {
    const begun: number[] = []
    const copies: CopyEngine = { alloc: () => to, copy: () => Promise.reject(new Error('the GPU is gone')) }
    const reading = readThrough({
      ...{ slots: [memoryOf(10), memoryOf(20)], copies, to, lengthBytes: 100 },
      read: (_, from) => Promise.resolve(void begun.push(from)),
    })
    await expect(reading).rejects.toThrow('the GPU is gone')
    expect(begun).toEqual([0, 10])
  })

  test('is a TypeError if there are no slots', async () => {
    const copies: CopyEngine = { alloc: () => to, copy: () => Promise.resolve() }
    await expect(readThrough({ slots: [], copies, to, lengthBytes: 1, read: () => Promise.resolve() })).rejects.toThrow(
      new TypeError('slots: expected host memory, got none'),
    )
  })
})
