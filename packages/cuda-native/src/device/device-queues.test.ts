import { describe, expect, test } from 'vitest'
import {
  expectReads,
  openDrive,
  openQueues,
  READ,
  startReads,
  THREADS,
  type LendingDrive,
} from '../../test/device-rig.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { argumentOf, BUFFER } from './layout.js'
import { deviceOutcome, QueuesLentError, type LendingEngine } from '../cuda/index.js'

const standin = useStandin()

/** The read of thread 3 gets no completion. */
const UNANSWERED = { match: { lba: [3, 3] }, action: { kind: 'drop-completion' } } as const
const of = ({ engine, namespace }: LendingDrive) => ({ engine, namespace })
const states = (engine: LendingEngine) => engine.queueStates().map(({ state }) => state)

describe.skipIf(!hasStandin)(`queues that kernels use${skippedWithoutStandin}`, () => {
  test('a device over two drives with two queues each reads the blocks of both', async () => {
    const { cuda, queues } = openQueues(standin)
    const drives = [await openDrive(queues), await openDrive(queues, { seed: 5 })]
    const device = await queues.device(drives.map(of))
    for (let round = 0; round < 3; round++) {
      for (const [index, drive] of drives.entries()) await expectReads(cuda, device, drive, index)
    }
    for (const { drive, engine } of drives) {
      const counted = engine.queueStates()
      expect(counted.map(({ qid, state, staleCompletions }) => [qid, state, staleCompletions])).toEqual([
        [1, 'running', 0],
        [2, 'running', 0],
      ])
      for (const { tailDoorbellWrites } of counted) expect(tailDoorbellWrites).toBeGreaterThan(0)
      expect(await drive.simulator.diagnostics()).toEqual([])
    }
    for (const { controller } of drives) await controller.close()
    device.free()
    queues.free()
  })

  test('kernels read if a host thread rings the doorbells', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues, { engineOptions: { doorbells: 'cpu' } })
    const device = await queues.device([of(drive)])
    for (let round = 0; round < 3; round++) await expectReads(cuda, device, drive)
    await drive.controller.reset()
    await expectReads(cuda, device, drive)
    expect(await drive.drive.simulator.diagnostics()).toEqual([])
  })

  test('a time-out halts a queue, and a reset of the controller makes the same device usable again', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues, { fault: UNANSWERED })
    const device = await queues.device([of(drive)], { timeoutNs: 100_000_000 })
    const { endings } = await startReads(cuda, device, drive).finish()
    expect(endings[3]).toBe('timeout')
    expect(states(drive.engine)).toEqual(['halted', 'running'])
    const again = await startReads(cuda, device, drive).finish()
    expect(new Set(again.endings.slice(0, 32))).toEqual(new Set(['halted']))
    expect(new Set(again.endings.slice(32))).toEqual(new Set(['success']))
    await drive.controller.reset()
    expect(states(drive.engine)).toEqual(['running', 'running'])
    for (let round = 0; round < 3; round++) await expectReads(cuda, device, drive)
  })

  test('a reset of the controller ends the waits of a running kernel as lost', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues, { fault: UNANSWERED })
    const device = await queues.device([of(drive)], { timeoutNs: 3_600_000_000_000 })
    const reads = startReads(cuda, device, drive)
    // Until the drive has received all reads that it answers.
    while (((await drive.drive.simulator.statistics()).ioCommands[READ] ?? 0) < THREADS - 1)
      await new Promise(setImmediate)
    await drive.controller.reset()
    const { endings } = await reads.finish()
    expect(endings[3]).toBe('lost')
    await expectReads(cuda, device, drive)
  })

  test('halt() ends further commands as halted', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([of(drive)])
    drive.engine.halt()
    const { endings } = await startReads(cuda, device, drive).finish()
    expect(new Set(endings)).toEqual(new Set(['halted']))
    await drive.controller.reset()
    await expectReads(cuda, device, drive)
  })

  test('a kernel that is started after the controller was closed gets GNV_HALTED', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([of(drive)], { timeoutNs: 100_000_000 })
    await drive.controller.close()
    const outcomes = cuda.allocPinned(8 * THREADS)
    // Long enough for all blocks, and never accessed.
    const buffer = argumentOf(BUFFER, { bytes: THREADS * 512 })
    const stream = cuda.stream()
    cuda.launch('standin_read_blocks', 1, THREADS, [device.argument, buffer, outcomes.gpuPointer, 0], stream)
    await stream.finished()
    const endings = Array.from(new BigUint64Array(outcomes.buffer, 0, THREADS), (word) => deviceOutcome(word).ending)
    expect(endings).toEqual(Array(THREADS).fill('halted'))
  })

  test('continue at their ring positions if they are attached again without a reset', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const device = await queues.device([of(drive)])
    // Rings of 64 entries, 32 reads per round: every position, in both phases.
    for (let round = 0; round < 7; round++) {
      await expectReads(cuda, device, drive)
      expect(drive.engine.queueStates().map(({ staleCompletions }) => staleCompletions)).toEqual([0, 0])
      const attached = drive.engine.queues
      drive.engine.detach()
      // Identifiers continue: each use of a slot counts.
      for (const { generations } of attached) {
        expect(generations.reduce((sum, uses) => sum + uses)).toBe((THREADS / 2) * (round + 1))
      }
      drive.engine.attach(attached)
      expect(states(drive.engine)).toEqual(['running', 'running'])
    }
    expect(await drive.drive.simulator.diagnostics()).toEqual([])
  })

  test('are halted if they are attached again with commands in flight, until a reset', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues, { fault: UNANSWERED })
    const device = await queues.device([of(drive)], { timeoutNs: 100_000_000 })
    await startReads(cuda, device, drive).finish()
    const attached = drive.engine.queues
    drive.engine.detach()
    drive.engine.attach(attached)
    expect(states(drive.engine)).toEqual(['halted', 'running'])
    await drive.controller.reset()
    await expectReads(cuda, device, drive)
  })

  test('the host can read before they are lent; afterwards, its plans end with QueuesLentError', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    const { namespace, content } = drive
    expect(Buffer.compare(await namespace.readBytes(512, 4096), content.subarray(512, 4608))).toBe(0)
    const device = await queues.device([of(drive)])
    await expect(namespace.readBytes(0, 512)).rejects.toThrow(QueuesLentError)
    await expect(namespace.readBytes(0, 512)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_QUEUES_LENT',
      category: 'usage',
    })
    await expectReads(cuda, device, drive)
  })

  test('detach fails while a kernel does not end, and keeps the memory of the queues', async () => {
    const { cuda, queues } = openQueues(standin)
    const drive = await openDrive(queues)
    await queues.device([of(drive)])
    const go = cuda.allocPinned(4)
    cuda.launch('standin_wait', 1, 1, [go.gpuPointer])
    try {
      expect(() => drive.engine.detach()).toThrow(/kernels still ran 5 s after their queues were declared lost/)
      expect(drive.engine.hasQueues).toBe(true)
      expect(states(drive.engine)).toEqual(['lost', 'lost'])
      drive.engine.halt()
      expect(states(drive.engine)).toEqual(['lost', 'lost'])
    } finally {
      new Uint32Array(go.buffer)[0] = 1
    }
  })
})
