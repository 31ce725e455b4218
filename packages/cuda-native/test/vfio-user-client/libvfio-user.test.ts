import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { Controller } from '@gpunvme/host-driver'
import { openVfioUser } from '@gpunvme/host-driver/vfio-user'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isBuilt, skipped, sockets } from '../native.js'

// Interoperability with an independent server: libvfio-user, on which SPDK's target is based, built from source.

/** Checkout of libvfio-user, which requires gcc and json-c. */
const source = process.env['GPUNVME_LIBVFIO_USER']
const note =
  source === undefined ? ' (skipped: GPUNVME_LIBVFIO_USER is not set to a checkout of libvfio-user)' : skipped

const MIB = 1024 * 1024

let folder: string
let target: ChildProcess | undefined
let said: Interface

beforeAll(async () => {
  if (source === undefined || !isBuilt) return
  folder = mkdtempSync(join(tmpdir(), 'gpunvme-lvu-'))
  const library = join(source, 'lib')
  const files = readdirSync(library).filter((name) => name.endsWith('.c') && name !== 'tran_pipe.c')
  const parts = files.map((name) => join(library, name))
  const program = join(folder, 'target')
  const own = join(import.meta.dirname, 'libvfio-user/target.c')
  const json = execFileSync('pkg-config', ['--cflags', '--libs', 'json-c'], { encoding: 'utf8' }).trim().split(/\s+/)
  const options = ['-O1', '-D_GNU_SOURCE', `-I${join(source, 'include')}`, `-I${library}`]
  execFileSync('gcc', [...options, own, ...parts, ...json, '-o', program], { stdio: 'inherit' })
  const child = spawn(program, [join(folder, 'socket')], { stdio: ['ignore', 'pipe', 'inherit'] })
  target = child
  said = createInterface({ input: child.stdout })
  while (!existsSync(join(folder, 'socket')) && child.exitCode === null) await wait(20)
}, 120_000)

afterAll(async () => {
  if (target?.exitCode === null) {
    const ended = once(target, 'exit')
    if (target.kill('SIGKILL')) await ended
  }
  if (source !== undefined && isBuilt) rmSync(folder, { recursive: true })
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe.skipIf(source === undefined || !isBuilt)(`a target on libvfio-user${note}`, () => {
  test.each([
    ['polled', 0],
    ['by interrupts', 3],
  ] as const)('works, %s, also after a device reset, and all memory is unmapped at the end', async (_, interrupts) => {
    const transport = await openVfioUser({ host: sockets, socket: join(folder, 'socket'), interrupts })
    const options = { interrupts: interrupts > 0, queues: 2 }
    const controller = await Controller.open(transport, { ...options, write: { serial: 'LIBVFIOUSER1' } })
    expect(controller.identity.model).toBe('libvfio-user target')
    const ns = controller.namespace(1)
    const [from, to] = [transport.dma.alloc(8 * MIB), transport.dma.alloc(8 * MIB)]
    const bytes = randomBytes(8 * MIB)
    new Uint8Array(from.view!.buffer, from.view!.byteOffset, from.lengthBytes).set(bytes)
    await ns.write(0, (8 * MIB) / 512, from)
    await ns.read(0, (8 * MIB) / 512, to)
    expect(sha256(new Uint8Array(to.view!.buffer, to.view!.byteOffset, to.lengthBytes))).toBe(sha256(bytes))
    const transfers = Array.from({ length: 5000 }, (_, index) => ({
      slba: (index * 8) % 16_384,
      blocks: 8,
      offsetBytes: (index % 2048) * 4096,
    }))
    expect(await ns.execute(ns.planReads(transfers), to)).toMatchObject({ succeeded: 5000, failures: [] })
    await controller.close()

    await transport.reset!('function')
    const again = await Controller.open(transport, options)
    await again.namespace(1).read(8, 8, to)
    expect(sha256(new Uint8Array(to.view!.buffer, to.view!.byteOffset, 4096))).toBe(sha256(bytes.subarray(4096, 8192)))
    await again.close()
    from.free()
    to.free()
    expect(transport.departure).toBeUndefined()
    const report = once(said, 'line')
    await transport.close()
    const counted = JSON.parse(((await report) as [string])[0]) as Record<string, number>
    expect(counted).toMatchObject({ mapped: 0 })
    expect(counted['unmaps']).toBe(counted['maps'])
    expect(counted['resets']).toBeGreaterThan(0)
  })
})
