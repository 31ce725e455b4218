import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Controller } from '@gpunvme/host-driver'
import { openVfioUser, VfioUserLostError, type VfioUserTransport } from '@gpunvme/host-driver/vfio-user'
import type { VfioUserServerOptions } from '@gpunvme/nvme-sim/vfio-user'
import type { DmaMemory, OutcomeSummary } from '@gpunvme/nvme-spec/transport'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { isBuilt, skipped, sockets } from '../native.js'

// Outcomes of commands when the target is killed, or stops responding, while they are in flight.

const BLOCKS = 8
const COMMANDS = 20_000
const TIMEOUT_NS = 5e9

let folder: string
let target: ChildProcess | undefined

beforeEach(() => {
  folder = scratch()
})
afterEach(kill)

const socket = () => join(folder, 'nvme.sock')

async function start(options: Partial<VfioUserServerOptions> = {}): Promise<void> {
  const child = fork(join(import.meta.dirname, 'serve-process.mjs'), { serialization: 'advanced', stdio: 'inherit' })
  target = child
  child.send({ socket: socket(), namespaces: [{ capacityBytes: 256 * 1024 * 1024 }], ...options })
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the target ended with ${String(code ?? signal)} before it listened`)
  })
  await Promise.race([once(child, 'message'), ended])
  ended.catch(() => undefined)
}

async function kill(): Promise<void> {
  if (target === undefined || target.exitCode !== null || target.signalCode !== null) return
  const ended = once(target, 'exit')
  if (target.kill('SIGKILL')) await ended
}

interface Load {
  readonly transport: VfioUserTransport
  readonly controller: Controller
  readonly memory: DmaMemory
  readonly running: Promise<OutcomeSummary[]>
}

/** Starts reads and writes that fill the queues. Resolves after the first commands have completed. */
async function underLoad(interrupts: number, answerTimeoutNs: number): Promise<Load> {
  const transport = await openVfioUser({ host: sockets, socket: socket(), interrupts, answerTimeoutNs })
  const controller = await Controller.open(transport, {
    queues: 2,
    interrupts: interrupts > 0,
    write: { serial: await serialOf(transport) },
  })
  const ns = controller.namespace(1)
  const memory = transport.dma.alloc(BLOCKS * 512 * 16)
  const transfers = Array.from({ length: COMMANDS }, (_, index) => ({
    slba: (index * BLOCKS) % 65_536,
    blocks: BLOCKS,
    offsetBytes: (index % 16) * BLOCKS * 512,
  }))
  const first = await ns.execute(ns.planReads(transfers.slice(0, 500)), memory, { timeoutNs: 60e9 })
  expect(first.succeeded).toBe(500)
  // Before the first write, the guard inspects the drive, which this test excludes.
  expect(await ns.execute(ns.planWrites(transfers.slice(0, 1)), memory)).toMatchObject({ succeeded: 1 })
  const plans = [ns.planReads(transfers), ns.planWrites(transfers)]
  const running = Promise.all(plans.map((plan) => ns.execute(plan, memory, { timeoutNs: TIMEOUT_NS })))
  await ns.execute(ns.planReads(transfers.slice(0, 64)), memory, { timeoutNs: 60e9 }).catch(() => undefined)
  return { transport, controller, memory, running }
}

async function serialOf(transport: VfioUserTransport): Promise<string> {
  const controller = await Controller.open(transport)
  const { serial } = controller.identity
  await controller.close()
  return serial
}

/** Expects one outcome per command, and an expected kind of failure for those that did not succeed. */
function checkEnds(summaries: readonly OutcomeSummary[]): void {
  for (const { commands, succeeded, failures } of summaries) {
    expect(commands).toBe(COMMANDS)
    expect(succeeded + failures.length).toBe(COMMANDS)
    expect(new Set(failures.map(({ command }) => command)).size).toBe(failures.length)
  }
  const kinds = new Set(summaries.flatMap(({ failures }) => failures.map(({ outcome }) => outcome.kind)))
  expect([...kinds].filter((kind) => !['device-lost', 'unknown', 'not-submitted'].includes(kind))).toEqual([])
  expect(kinds).toContain('device-lost')
}

/** Returns open descriptors of files that the transport has created. */
const sharedFiles = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    const link = `/proc/self/fd/${fd}`
    return existsSync(link) && readlinkSync(link).includes('/gpunvme-')
  })

describe.skipIf(!isBuilt)(`a lost vfio-user target${skipped}`, () => {
  test.each([
    ['polled', 0, {}],
    ['by interrupts', 1, {}],
    ['with mapped doorbells', 0, { mappedDoorbells: true }],
  ] as const)('killed under load, %s: every command has exactly one outcome', async (_, interrupts, options) => {
    await start(options)
    const { transport, controller, memory, running } = await underLoad(interrupts, 20e9)
    await kill()
    checkEnds(await running)
    expect(transport.bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(transport.departure).toBeInstanceOf(VfioUserLostError)
    expect(transport.departure).toMatchObject({ reason: 'closed' })
    memory.free()
    await controller.close().catch((error: unknown) => {
      expect(error).toMatchObject({ category: 'device' })
    })
    await transport.close()
    expect(sharedFiles()).toEqual([])

    // The next target can replace the socket that the killed one has left.
    await start()
    const next = await openVfioUser({ host: sockets, socket: socket() })
    expect(await serialOf(next)).not.toBe('')
    await next.close()
  })

  test('an unresponsive target is lost after the answer timeout, and all commands end', async () => {
    await start()
    const { transport, controller, running } = await underLoad(0, 1e9)
    target!.kill('SIGSTOP')
    checkEnds(await running)
    expect(transport.departure).toMatchObject({ reason: 'silent' })
    await controller.close().catch((error: unknown) => {
      expect(error).toMatchObject({ category: 'device' })
    })
    await transport.close()
  })
})
