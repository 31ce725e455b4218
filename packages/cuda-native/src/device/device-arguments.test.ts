import { ForeignDataError } from '@gpunvme/host-driver'
import type { DmaMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { simulate } from '@gpunvme/nvme-sim'
import { describe, expect, onTestFinished, test } from 'vitest'
import { expectReads, openDrive, openQueues, SHAPE } from '../../test/device-rig.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { sharedMemory } from '../../test/real-time-drives.js'
import { AliasedGpu } from '../../test/vram/aliased-gpu.js'
import { loadCudaAddon } from '../cuda/addon.js'
import { sessionOf } from '../cuda/cuda.js'
import { deviceQueues, openCuda, WritableTooLateError, type DeviceDrive } from '../cuda/index.js'
import { EngineUnsuitableError } from '../index.js'
import { withVram } from '../vram/index.js'
import { maxBlocksOf } from './checks.js'

const standin = useStandin()
const bad = (value: unknown) => value as never

describe('limits the blocks of a command', () => {
  const facts = { nsid: 1, blocks: 1000, blockBytes: 512, maxTransferBytes: 2 ** 20 }
  const QUEUE = { prpListBytes: 4096, pageBytes: 4096 } as QueuePairMemory
  test.each([
    ['to the maximum transfer of the controller', { maxTransferBytes: 65_536 }, 4096, 128],
    // One list page of 4096 bytes has 512 entries, of which the last may point to another list page; PRP1 is one more.
    ['to the reach of the PRP list, at any offset', { maxTransferBytes: 2 ** 30 }, 4096, 4096],
    ['to the range of NLB', { maxTransferBytes: 2 ** 30 }, 2 ** 20, 65_536],
  ])('%s', (_, given, prpListBytes, expected) => {
    const queue = { ...QUEUE, prpListBytes }
    expect(maxBlocksOf('drives[0].namespace', { ...facts, ...given }, [queue])).toBe(expected)
  })

  test.each([
    [{ nsid: 0 }, 'nsid: expected an integer from 1 to 4294967294, got 0'],
    [{ nsid: 2 ** 32 - 1 }, 'nsid: expected an integer from 1 to 4294967294, got 4294967295'],
    [{ blocks: 0 }, 'blocks: expected a whole number of 1 or more, got 0'],
    [
      { blockBytes: 520 },
      'blockBytes: expected a power of two of 512 or more: format the namespace without metadata in its blocks, got 520',
    ],
    [
      { blockBytes: 4096, maxTransferBytes: 2048 },
      'maxTransferBytes: expected at least one block of 4096 bytes: raise maxTransferBytes in Controller.open, got 2048',
    ],
  ])('%o is rejected', (given, message) => {
    const expected = new RangeError(`drives[0].namespace.${message}`)
    expect(() => maxBlocksOf('drives[0].namespace', { ...facts, ...given }, [QUEUE])).toThrow(expected)
  })
})

describe.skipIf(!hasStandin)(`arguments for queues of kernels${skippedWithoutStandin}`, () => {
  test.each([0, 1.5, NaN, 'x', null])('maxQueues %s is rejected', async (maxQueues) => {
    const cuda = openCuda()
    expect(() => deviceQueues(cuda, { maxQueues: bad(maxQueues) })).toThrow(
      /^maxQueues: expected a whole number of 1 or more, got /,
    )
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('invalid lists of doorbells to forward are rejected', () => {
    const addon = loadCudaAddon()
    const expected = 'expected a BigUint64Array of three elements per doorbell'
    expect(() => addon.startDoorbells(bad([]), new BigUint64Array(3))).toThrow(`tails: ${expected}`)
    expect(() => addon.startDoorbells(new BigUint64Array(), new BigUint64Array(3))).toThrow(`tails: ${expected}`)
    expect(() => addon.startDoorbells(new BigUint64Array(3), new BigUint64Array(4))).toThrow(`heads: ${expected}`)
    expect(() => addon.stopDoorbells(bad({}))).toThrow('doorbells: expected a handle of startDoorbells')
  })

  test('memory is found only if the GPU can access all of its pages', () => {
    const { cuda } = openQueues(standin)
    const { addon, handle } = sessionOf(cuda)
    const pinned = cuda.allocPinned(8192)
    expect(addon.reachable(handle, pinned.address + 4n, 8000)).toBe(pinned.gpuPointer + 4n)
    const memory = sharedMemory(16_384)
    onTestFinished(() => memory.unmap())
    expect(addon.reachable(handle, memory.address, 8192)).toBe(0n)
    const registration = cuda.register(memory.address, 8192)
    expect(addon.reachable(handle, memory.address + 4096n, 4096)).toBe(registration.gpuPointer + 4096n)
    expect(addon.reachable(handle, memory.address, 16_384)).toBe(0n)
    registration.unregister()
    expect(() => addon.reachable(handle, 0n, 0)).toThrow(/^lengthBytes: expected /)
    expect(() => addon.reachable(0, 0n, 4096)).toThrow(/^cuda: expected /)
  })

  test('a transport whose registers are not memory is rejected', () => {
    const { queues } = openQueues(standin)
    expect(() => queues.engine(simulate().transport)).toThrow(EngineUnsuitableError)
  })

  test('a number of queue entries that is not a power of two is rejected, the default is accepted', async () => {
    const { queues } = openQueues(standin)
    await expect(openDrive(queues, { options: { queueEntries: 33 } })).rejects.toThrow(
      /expected a power of two as the number of entries, got 33; omit queueEntries/,
    )
    await openDrive(queues, { options: { queues: 2 } })
  })

  test('queues that share a completion queue are rejected', async () => {
    const { queues } = openQueues(standin)
    await expect(openDrive(queues, { options: { queues: 2, completionQueues: 1 } })).rejects.toThrow(
      /expected a completion queue of its own, got a shared one; omit completionQueues/,
    )
  })

  test('more queues than maxQueues are rejected', async () => {
    const cuda = openCuda()
    const queues = deviceQueues(cuda, { maxQueues: 1 })
    const drive = await openDrive(queues)
    await expect(queues.device([drive].map(({ engine, namespace }) => ({ engine, namespace })))).rejects.toThrow(
      new RangeError(
        'maxQueues: expected room for 2 more queues, got 1 with 0 reserved; ' +
          'raise it in deviceQueues, or free() the engines of closed controllers',
      ),
    )
    // The host still has the queues.
    const bytes = await drive.namespace.readBytes(0, 4096)
    expect(Buffer.compare(bytes, drive.content.subarray(0, 4096))).toBe(0)
    await drive.controller.close()
    await cuda.close()
  })

  test('invalid drives of a device are rejected', async () => {
    const { cuda, queues } = openQueues(standin)
    const { engine, namespace, drive } = await openDrive(queues)
    const unattached = queues.engine(drive.simulator.transport)
    const foreign = deviceQueues(cuda).engine(drive.simulator.transport)
    const rejected: readonly [unknown, RegExp][] = [
      [[], /^drives: expected an array of one or more, got an array/],
      ['x', /^drives: expected an array of one or more, got 'x'/],
      [[{ namespace }], /^drives\[0\]\.engine: expected an engine of these queues, from engine\(\), got undefined/],
      [
        [{ engine: foreign, namespace }],
        /^drives\[0\]\.engine: expected an engine of these queues, from engine\(\), got Object/,
      ],
      [[{ engine }], /^drives\[0\]\.namespace: expected a namespace of host-driver, got undefined/],
      [[{ engine: unattached, namespace }], /^engine: expected one with queues; pass it to Controller\.open first/],
      [[{ engine, namespace, writable: 1 }], /^drives\[0\]\.writable: expected true or false, got 1/],
    ]
    for (const [drives, message] of rejected) {
      await expect(queues.device(drives as DeviceDrive[])).rejects.toThrow(message)
    }
    await expect(queues.device([{ engine, namespace }], { timeoutNs: 0 })).rejects.toThrow(
      'timeoutNs: expected a whole number of 1 or more, got 0',
    )
    const { nsid, blocks, blockBytes, maxTransferBytes } = namespace
    const readOnly = { engine, namespace: { nsid, blocks, blockBytes, maxTransferBytes }, writable: true }
    await expect(queues.device([readOnly])).rejects.toThrow(
      'drives[0].writable: expected false for a controller opened for reading, got true; ' +
        'pass { write: { serial } } to Controller.open',
    )
    expect(engine.hasQueues).toBe(false)
  })

  test('a buffer that PRPs cannot describe is rejected', async () => {
    const { queues } = openQueues(standin)
    const { engine } = await openDrive(queues)
    const memory = (lengthBytes: number, ...iovas: readonly number[]) => {
      const bytes = lengthBytes / iovas.length
      const segments = iovas.map((iova, index) => ({ iova, offsetBytes: index * bytes, lengthBytes: bytes }))
      return { lengthBytes, segments } as unknown as DmaMemory
    }
    expect(() => engine.buffer(memory(4096, 0x1002))).toThrow(/expected addresses that are multiples of 4, got 0x1002/)
    expect(() => engine.buffer(memory(8192, 0x1000, 0x5200))).toThrow(/multiples of 4096, got 0x5200/)
    expect(() => engine.buffer(memory(1024, 0x1000, 0x2000))).toThrow(/segments that begin at multiples of 4096 bytes/)
    const buffer = engine.buffer(memory(8192, 0x1000, 0x5000))
    expect(buffer.gpuPointer).toBeUndefined()
    buffer.free()
  })

  test('a writable drive with foreign data is rejected', async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues, { first: Buffer.from('LUKS\xba\xbe', 'latin1') })
    await expect(queues.device([{ engine, namespace, writable: true }])).rejects.toThrow(ForeignDataError)
    expect(engine.hasQueues).toBe(false)
  })

  test('kernels may not write a drive that was first lent for reading', async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    const device = await queues.device([{ engine, namespace }])
    const writable = queues.device([{ engine, namespace, writable: true }])
    await expect(writable).rejects.toThrow(WritableTooLateError)
    await expect(writable).rejects.toThrow(/Try: pass all writable namespaces of a controller in its first device\(\)/)
    device.free()
  })

  test('kernels may write a drive that an earlier device could write', async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    for (let round = 0; round < 2; round++) (await queues.device([{ engine, namespace, writable: true }])).free()
  })

  test('engines that are freed return their part of maxQueues', async () => {
    const cuda = openCuda()
    const queues = deviceQueues(cuda, { maxQueues: 2 })
    for (let round = 0; round < 3; round++) {
      const { engine, namespace, controller } = await openDrive(queues)
      const device = await queues.device([{ engine, namespace }])
      expect(() => engine.free()).toThrow('this engine has queues: close its controller first')
      await controller.close()
      expect(() => engine.free()).toThrow('1 devices refer to this engine: free() them first')
      device.free()
      engine.free()
      engine.free()
      expect(() => engine.attach([])).toThrow('this engine was freed: create another one')
    }
    queues.free()
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('kernels read with queues in GPU memory', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues, {
      options: { ...SHAPE, queueMemory: 'gpu' },
      wrap: (transport) => {
        const gpu = new AliasedGpu(cuda, transport.dma)
        return { ...transport, dma: withVram(transport.dma, gpu.provider, gpu) }
      },
    })
    const { engine, namespace, controller } = drive
    const device = await queues.device([{ engine, namespace, writable: true }])
    for (let round = 0; round < 3; round++) await expectReads(cuda, device, drive)
    await controller.reset()
    await expectReads(cuda, device, drive)
  })
})
