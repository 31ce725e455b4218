import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { scratch } from '../../../../test/scratch.js'
import { Controller } from '../../src/index.js'
import { startQemu, type Qemu, type QemuOptions } from '../../src/transport/qtest/index.js'
import { qemuMissing, skippedNote } from '../qemu.js'

const MIB = 1024 * 1024
let folder: string

beforeEach(() => {
  folder = scratch()
})

afterEach(() => {
  const open = readdirSync('/proc/self/fd').map((fd) => `/proc/self/fd/${fd}`)
  const left = open.filter((path) => existsSync(path) && readlinkSync(path).includes('gpunvme-qemu-'))
  expect(left, 'files of a QEMU that this process still has open').toEqual([])
})

/** Creates a program that records its arguments and then runs the script. */
function program(script: string): { path: string; files: () => string[] } {
  const path = join(folder, 'qemu')
  const log = join(folder, 'arguments')
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" > '${log}'\n${script}\n`, { mode: 0o755 })
  return { path, files: () => foldersIn(readFileSync(log, 'utf8')) }
}

/** Returns the folders in a command line of QEMU. */
function foldersIn(commandLine: string): string[] {
  return [...new Set([...commandLine.matchAll(/\/[^"\s\0]*gpunvme-qemu-[^/"\s\0]*/g)].map(([path]) => path))]
}

/** Waits up to 10 s until the process has ended and the files are removed. Returns those that remain. */
async function whatIsLeft(pid: number, files: readonly string[]): Promise<unknown[]> {
  const left = () => [...(runs(pid) ? [pid] : []), ...files.filter((path) => existsSync(path))]
  for (let tries = 0; tries < 400 && left().length > 0; tries++) await sleep(25)
  return left()
}

/** Returns whether a process runs. A zombie, which the parent of an orphan may never reap, has ended. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function failure(options: QemuOptions): Promise<unknown> {
  return startQemu(options).then(
    (qemu) => qemu.close(),
    (error: unknown) => error,
  )
}

describe('a QEMU that does not start leaves nothing behind', () => {
  test('a missing program: the error suggests GPUNVME_QEMU', async () => {
    const error = await failure({ program: join(folder, 'none') })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_MISSING' })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_MISSING', category: 'not-found' })
    expect((error as Error).message).toContain('GPUNVME_QEMU')
  })

  test('a version before 7.2 is rejected, and the error names it', async () => {
    const greeting =
      '{"QMP": {"version": {"qemu": {"micro": 0, "minor": 2, "major": 5}, "package": ""}, "capabilities": []}}'
    const old = program(`echo '${greeting}'; exec sleep 60`)
    const error = await failure({ program: old.path })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_VERSION' })
    expect((error as Error).message).toContain('is version 5.2.0')
    expect((error as Error).message).toContain('install QEMU 7.2 or newer')
    expect(old.files().map((path) => existsSync(path))).toEqual(old.files().map(() => false))
    expect(old.files().length).toBeGreaterThan(0)
  })

  test('the error contains its stderr', async () => {
    const broken = program('echo "qemu: Device nvme is not for today" >&2; exit 3')
    const error = await failure({ program: broken.path })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_START' })
    expect((error as Error).message).toContain('it exited with status 3')
    expect((error as Error).message).toContain('Device nvme is not for today')
    expect(broken.files().map((path) => existsSync(path))).toEqual(broken.files().map(() => false))
  })

  test.each(['warning: not for today', '"QMP"', '{"QMP": {}}', '{"id": 1, "error": null}'])(
    'a program whose output is not QMP is ended, and the error contains the output: %s',
    async (line) => {
      const other = program(`echo '${line}'; exec sleep 60`)
      const error = await failure({ program: other.path })
      expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_START' })
      expect((error as Error).message).toContain(`it sent a line that is not QMP: ${line}`)
      expect(other.files().map((path) => existsSync(path))).toEqual(other.files().map(() => false))
    },
  )

  // The watcher uses grep to find a QEMU that was not reported, by its command line.
  const grepMissing = spawnSync('grep', ['--version']).error !== undefined
  const grepNote = grepMissing ? ' (skipped: [qemu] grep is not installed)' : ''

  test.skipIf(grepMissing)(
    `the QEMU and the files of a process that is killed during startup are removed${grepNote}`,
    async () => {
      const young = program(`echo $$ > '${folder}/pid'; kill -9 $PPID; while :; do sleep 0.05; done`)
      const entry = new URL('../../dist/src/transport/qtest/index.js', import.meta.url).href
      const script = `const { startQemu } = await import('${entry}'); await startQemu({ program: '${young.path}' })`
      const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
      await new Promise((resolve) => host.once('exit', resolve))
      const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'))
      expect(young.files().length).toBeGreaterThan(0)
      expect(await whatIsLeft(pid, young.files())).toEqual([])
    },
  )

  test.skipIf(grepMissing)(
    `ends a QEMU whose starter was killed before it reported the process${grepNote}`,
    async () => {
      const entry = new URL('../../dist/src/transport/qtest/watcher.js', import.meta.url).href
      const files = join(folder, 'files')
      const script = `
      const { spawn } = await import('node:child_process')
      const { mkdirSync, writeSync } = await import('node:fs')
      const { Watcher } = await import('${entry}')
      new Watcher(['${files}'], '${files}/qtest')
      mkdirSync('${files}')
      const loop = 'while :; do sleep 0.05; done'
      const child = spawn('sh', ['-c', loop, 'qemu', '-qtest', 'pipe:${files}/qtest'], { stdio: 'ignore' })
      writeSync(1, String(child.pid))
      process.kill(process.pid, 'SIGKILL')`
      const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const pid = await new Promise<number>((resolve) => host.stdout.once('data', (text) => resolve(Number(text))))
      expect(await whatIsLeft(pid, [files])).toEqual([])
    },
  )

  test.each<[string, QemuOptions]>([
    ['controllers', { controllers: [] }],
    ['memoryBytes', { memoryBytes: 1000 }],
    ['vramBytes', { vramBytes: 3 * MIB }],
    ['serial', { controllers: [{ serial: '' }] }],
  ])('options that no machine can have are a RangeError: %s', async (name, options) => {
    const error = await failure(options)
    expect(error).toBeInstanceOf(RangeError)
    expect((error as Error).message).toContain(name)
  })
})

describe.skipIf(qemuMissing)(`life cycle of QEMU${skippedNote}`, () => {
  async function start(options?: QemuOptions): Promise<Qemu & { folders: string[] }> {
    const qemu = await startQemu(options)
    onTestFinished(() => qemu.close())
    return Object.assign(Object.create(qemu) as Qemu, {
      folders: foldersIn(readFileSync(`/proc/${qemu.pid}/cmdline`, 'utf8')),
    })
  }

  test('the error for an invalid option contains QEMU’s message', async () => {
    const error = await failure({ controllers: [{ properties: { colour: 'blue' } }] })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_QEMU_START' })
    expect((error as Error).message).toContain('colour')
  })

  test('close ends the process and removes its files; then registers read all ones', async () => {
    const qemu = await start({ vramBytes: MIB })
    const { transport, namespaces } = qemu.controllers[0]!
    expect(qemu.folders).toContain(dirname(namespaces[0]!.image))
    expect(transport.bar.read32(0x08)).toBe(0x0001_0400)
    await qemu.close()
    await qemu.close()
    expect(qemu.folders.filter((path) => existsSync(path))).toEqual([])
    expect(existsSync(`/proc/${qemu.pid}`)).toBe(false)
    expect(qemu.exit).toMatchObject({ code: 0, reason: 'it exited with status 0' })
    expect(transport.bar.read32(0x08)).toBe(0xffff_ffff)
    expect(transport.bar.read64(0x00)).toBe(0xffff_ffff_ffff_ffffn)
    expect(qemu.misuse).toBe('')
  })

  test('after SIGKILL registers and configuration space read all ones, and writes are dropped', async () => {
    const qemu = await start()
    const { bar, config, clock, interrupts, dma } = qemu.controllers[0]!.transport
    const memory = dma.alloc(4096)
    process.kill(qemu.pid, 'SIGKILL')
    expect(bar.read32(0x1c)).toBe(0xffff_ffff)
    expect(bar.read64(0x00)).toBe(0xffff_ffff_ffff_ffffn)
    expect(config!.read(0, 2)).toBe(0xffff)
    for (let i = 0; i < 100_000; i++) bar.write32(0x14, 0)
    config!.write(4, 2, 0)
    memory.forDevice(0, 4096)
    expect(await interrupts!.wait(0, clock.now() + 5_000_000)).toBe('deadline')
    await expect(qemu.qmp('query-status')).rejects.toMatchObject({ code: 'ERR_GPUNVME_QEMU_MONITOR' })
    await qemu.close()
    expect(qemu.exit).toMatchObject({ signal: 'SIGKILL', code: null })
    expect(qemu.folders.filter((path) => existsSync(path))).toEqual([])
  })

  test('the driver reports a typed error if QEMU dies during a transfer', async () => {
    const slow = { driver: 'null-co', size: 64 * MIB, 'latency-ns': 2_000_000_000 }
    const qemu = await start({ controllers: [{ namespaces: [{ drive: () => slow }] }] })
    const ctrl = await Controller.open(qemu.controllers[0]!.transport)
    const ns = ctrl.namespace(1)
    const reading = ns.read(0, 8, ns.dma.alloc(4096)).catch((error: unknown) => error)
    await sleep(20)
    process.kill(qemu.pid, 'SIGKILL')
    expect(await reading).toBeInstanceOf(GpuNvmeError)
    const closed = await ctrl.close().catch((error: unknown) => error)
    expect(closed === undefined || closed instanceof GpuNvmeError).toBe(true)
    await qemu.close()
  })

  test('QEMU is lost and killed if it does not answer within 10 s', async () => {
    const qemu = await start()
    process.kill(qemu.pid, 'SIGSTOP')
    expect(qemu.controllers[0]!.transport.bar.read32(0x08)).toBe(0xffff_ffff)
    expect(qemu.exit).toMatchObject({ reason: 'it gave no answer in 10 s' })
    await qemu.close()
    expect(qemu.exit).toMatchObject({ signal: 'SIGKILL', reason: 'it gave no answer in 10 s' })
  })

  test('QEMU ends and its files are removed when the process is killed', async () => {
    const entry = new URL('../../dist/src/transport/qtest/index.js', import.meta.url).href
    const script = `const { startQemu } = await import('${entry}'); console.log((await startQemu()).pid); setInterval(() => {}, 1e6)`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const pid = await new Promise<number>((resolve) => host.stdout.once('data', (line) => resolve(Number(line))))
    const folders = foldersIn(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(folders.length).toBeGreaterThan(0)
    host.kill('SIGKILL')
    expect(await whatIsLeft(pid, folders)).toEqual([])
  })

  test('QEMU does not keep the process alive', async () => {
    const entry = new URL('../../dist/src/transport/qtest/index.js', import.meta.url).href
    const script = `const { startQemu } = await import('${entry}'); await startQemu()`
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    expect(await new Promise((resolve) => host.once('exit', resolve))).toBe(0)
  })
})
