import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isBuilt, skipped } from '../../../cuda-native/test/native.js'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { pattern } from '../simulated-drive.js'
import { startServer, withServer } from './server.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const timeout = 300_000
const check = test.skipIf(!isBuilt)
/** Confirmation of the default drive. */
const CONFIRMED = ['--serial', 'GPUNVME-SIM-SN740', '--yes']

let sockets = 0
const newSocket = () => at(`${++sockets}.sock`)

/** Returns the last line, which is the summary of a server. */
const lastLine = (stdout: string) => stdout.trimEnd().split('\n').at(-1)!

/** Runs a verb that must succeed, and returns its result. */
async function done<T = unknown>(...args: string[]): Promise<T> {
  const ended = await gpunvme([...args, '--json'], { cwd })
  expect({ args, code: ended.code, stderr: ended.code === 0 ? '' : ended.stderr }).toEqual({
    args,
    code: 0,
    stderr: '',
  })
  return json(ended) as T
}

check(`pack writes to a set of served drives after confirmation of each drive${skipped}`, { timeout }, async () => {
  const sockets = [newSocket(), newSocket()] as const
  const by = sockets.flatMap((socket) => ['--socket', socket])
  const [, serial, yes] = CONFIRMED as [string, string, string]
  await writeDemoModel(at('set.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  const serve = (socket: string, use: () => Promise<void>) =>
    withServer(['--socket', socket, '--capacity', '32MiB', '--json'], cwd, use)
  const pack = ['pack', 'set.gguf', ...by, '--mirror', yes]
  await serve(sockets[0], () =>
    serve(sockets[1], async () => {
      for (const serials of [[], ['--serial', serial, '--serial', 'S2']]) {
        const refused = await gpunvme([...pack, ...serials], { cwd })
        expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('Refused to write to') as string])
        for (const socket of sockets) {
          const unwritten = await gpunvme(['models', 'ls', '--socket', socket], { cwd })
          expect(unwritten.stderr).toContain('No model image on')
        }
      }
      const confirmed = ['--serial', serial, '--serial', serial]
      expect(await done(...pack, ...confirmed)).toMatchObject({ set: { kind: 'mirror' }, created: true })
      expect(await done('models', 'verify', ...by)).toMatchObject({ ok: true })
    }),
  )
})

check(`every verb supports a drive served by another process${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  const [by, long] = [
    ['--socket', socket],
    ['--transport', 'vfio-user', '--socket', socket],
  ]
  writeFileSync(at('data.bin'), pattern(256 * 1024))
  await writeDemoModel(at('model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  const server = await startServer([...by, '--capacity', '64MiB', '--trace', 'served.json', '--json'], cwd)
  expect(await done('nvme', 'identify', ...long)).toMatchObject({ controller: { serial: 'GPUNVME-SIM-SN740' } })
  await done('nvme', 'smart', ...by)
  await done('nvme', 'regs', ...by)
  await done('nvme', 'log', 'firmware', ...by)
  await done('nvme', 'features', ...by)
  await done('nvme', 'write', 'data.bin', '--lba', '8', '--verify', ...by, ...CONFIRMED)
  await done('nvme', 'read', '--lba', '8', '--blocks', '512', '-o', 'back.bin', ...by)
  expect(readFileSync(at('back.bin')).equals(readFileSync(at('data.bin')))).toBe(true)
  expect(await done('pack', 'model.gguf', '--overwrite', 'unknown data', ...by, ...CONFIRMED)).toMatchObject({
    place: socket,
  })
  expect(await done('models', 'ls', ...by)).toMatchObject({ models: [{ layers: 4 }] })
  expect(await done('load', ...by)).toMatchObject({ drive: { transport: 'vfio-user', place: socket }, time: 'wall' })
  await done('models', 'verify', ...by)
  await done('bench', '--bs', '4KiB', '--qd', '4', '--time', '0.2', '--repeats', '1', '--warm-up', '0', ...by)
  const traced = await gpunvme(['nvme', 'trace', '--only', 'commands', 'nvme', 'identify', ...by], { cwd })
  expect(traced).toMatchObject({ code: 0, stderr: expect.stringContaining('Identify') as string })

  const { code, stdout, stderr } = await server.end('SIGINT')
  expect(code).toBe(0)
  expect(stderr).toMatch(/Clients? 1 /)
  const served = JSON.parse(lastLine(stdout)) as {
    clients: number
    diagnostics: unknown[]
    ioCommands: number
    writtenBytes: number
  }
  expect(served.diagnostics).toEqual([])
  expect(served.clients).toBeGreaterThanOrEqual(13)
  expect(served.ioCommands).toBeGreaterThan(0)
  expect(served.writtenBytes).toBeGreaterThan(256 * 1024)
  const trace = JSON.parse(readFileSync(at('served.json'), 'utf8')) as { traceEvents?: unknown[] } | unknown[]
  expect((Array.isArray(trace) ? trace : trace.traceEvents)?.length).toBeGreaterThan(served.ioCommands)
})

check(`write to a served drive requires its serial number${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  writeFileSync(at('block.bin'), pattern(512))
  await withServer(['--socket', socket, '--capacity', '16MiB'], cwd, async () => {
    const write = ['nvme', 'write', 'block.bin', '--lba', '0', '--socket', socket]
    for (const words of [write, [...write, '--serial', 'ANOTHER', '--yes']]) {
      const { code, stderr } = await gpunvme(words, { cwd })
      expect([code, stderr]).toEqual([4, expect.stringContaining('then pass --serial SERIAL --yes')])
      expect(stderr).not.toContain('GPUNVME-SIM-SN740')
    }
    await done(...write, ...CONFIRMED)
  })
})

check(`flushed bytes are in the image after the server is killed${skipped}`, { timeout }, async () => {
  const [socket, image] = [newSocket(), 'killed.img']
  const bytes = pattern(1024 * 1024, 7)
  writeFileSync(at('flushed.bin'), bytes)
  await withServer(['--socket', socket, '--image', image, '--capacity', '16MiB'], cwd, () =>
    done('nvme', 'write', 'flushed.bin', '--offset', '1MiB', '--socket', socket, ...CONFIRMED),
  )
  expect(
    readFileSync(at(image))
      .subarray(1024 * 1024, 2 * 1024 * 1024)
      .equals(bytes),
  ).toBe(true)
  // The next server serves the same bytes.
  await withServer(['--socket', socket, '--image', image], cwd, () =>
    done('nvme', 'read', '--offset', '1MiB', '--length', '1MiB', '-o', 'found.bin', '--socket', socket),
  )
  expect(readFileSync(at('found.bin')).equals(bytes)).toBe(true)
})

check(`a fault of the plan affects the client, and is counted${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  const unreadable = { match: { opcode: 2, lba: [64, 64] }, action: { kind: 'status', sct: 2, sc: 0x81, dnr: true } }
  writeFileSync(at('plan.json'), JSON.stringify({ rules: [unreadable] }))
  const server = await startServer(['--socket', socket, '--faults', 'plan.json', '--json'], cwd)
  await done('nvme', 'read', '--lba', '63', '--socket', socket)
  const { code, stderr } = await gpunvme(['nvme', 'read', '--lba', '64', '--socket', socket], { cwd })
  expect([code, stderr]).toEqual([5, expect.stringContaining('Unrecovered Read Error (SCT 2h SC 81h')])
  const ended = await server.end('SIGINT')
  expect(ended.stderr).toContain('Faults injected: 1')
  expect(JSON.parse(lastLine(ended.stdout))).toMatchObject({ faultsInjected: 1, errors: 1 })
})

check(`a server that is killed during a pass ends load with exit code 5${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  await writeDemoModel(at('lost.gguf'), { layers: 4, targetBytes: 4 * 1024 * 1024 })
  await gpunvme(['pack', 'lost.gguf', '--image', 'lost.img'], { cwd })
  const server = await startServer(['--socket', socket, '--image', 'lost.img', '--json'], cwd)
  let ending: Promise<unknown> | undefined
  const { code, stdout, stderr } = await gpunvme(
    ['load', '--socket', socket, '--to', 'host', '--ram', '3MiB', '--passes', '1000000'],
    {
      cwd,
      onStderr(text) {
        if (text.includes('Each pass')) ending ??= server.end('SIGKILL')
      },
    },
  )
  await ending
  expect([code, stderr]).toEqual([5, expect.stringContaining('Try: ')])
  expect(stdout).not.toContain('verified')
})

check(`a drive served with --read-only is write-protected${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  writeFileSync(at('readonly.img'), new Uint8Array(1024 * 1024))
  writeFileSync(at('block.bin'), pattern(512))
  await withServer(['--socket', socket, '--image', 'readonly.img', '--read-only'], cwd, async () => {
    const ended = await gpunvme(['nvme', 'write', 'block.bin', '--lba', '0', '--socket', socket, ...CONFIRMED], { cwd })
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toContain('Write Protected')
  })
  expect(readFileSync(at('readonly.img')).every((byte) => byte === 0)).toBe(true)
})

test('--socket rejects contradictory options', async () => {
  const refusals = [
    [['nvme', 'identify', '--transport', 'vfio-user'], 'requires --socket'],
    [
      ['nvme', 'identify', '--transport', 'sim', '--socket', 'x.sock'],
      '--socket and --transport sim are mutually exclusive',
    ],
    [['nvme', 'identify', '--socket', 'x.sock', '--profile', 'sn740'], '--profile and --socket are mutually exclusive'],
    [['nvme', 'read', '--socket', 'x.sock', '--image', 'x.img'], '--image and --socket are mutually exclusive'],
    [
      ['nvme', 'identify', '--transport', 'vfio-user', '--socket', 'x.sock', '--seed', '1'],
      '--seed and --transport vfio-user are mutually exclusive',
    ],
    [['nvme', 'identify', '--socket', 'x.sock', '--drive', '0b:00.0'], '--socket and --drive are mutually exclusive'],
    [['bench', 'p2p', '--probe', '--socket', 'x.sock'], 'A GPU cannot reach a drive served over a socket'],
  ] as const
  for (const [args, words] of refusals) {
    const { code, stderr } = await gpunvme(args, { cwd })
    expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(words) as string })
  }
})

check(`identify rejects a missing socket and a plain file${skipped}`, { timeout }, async () => {
  expect(await gpunvme(['nvme', 'identify', '--socket', 'none.sock'], { cwd })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('none.sock') as string,
  })
  writeFileSync(at('plain'), '')
  expect(await gpunvme(['nvme', 'identify', '--socket', 'plain'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Cannot connect to plain: not a socket (ECONNREFUSED)') as string,
  })
})
