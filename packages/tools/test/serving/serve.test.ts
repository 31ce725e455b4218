import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isBuilt, skipped } from '../../../cuda-native/test/native.js'
import { gpunvme, json, scratch, type Ended } from '../gpunvme.js'
import { gpunvmeProcess } from '../process.js'
import { problemsOf } from '../schema-check.js'
import { startServer, withServer } from './server.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const timeout = 120_000
const check = test.skipIf(!isBuilt)

/** Number of sockets used so far; each test has its own. */
let sockets = 0
const newSocket = () => at(`${++sockets}.sock`)

async function refused(args: readonly string[]): Promise<Ended & { readonly message: string; readonly next?: string }> {
  const ended = await gpunvme(['sim', 'serve', '--json', ...args], { cwd })
  const { error } = json(ended) as { error: { message: string; next?: string } }
  return { ...error, ...ended }
}

test('sim lists the profiles, and rejects invalid options', async () => {
  const { profiles } = json(await gpunvme(['sim', '--json'], { cwd })) as { profiles: { name: string }[] }
  expect(profiles.map(({ name }) => name)).toEqual(['ideal', 'sn740', 'sn530', '980pro', '990pro', 'p5800x', 'pm1753'])
  const { stdout } = await gpunvme(['sim'], { cwd })
  expect(stdout).toMatch(/^sn740 +WD PC SN740 512GB +Gen3 x4 +\d+$/m)
  expect(await gpunvme(['sim', '--image', 'x.img'], { cwd })).toMatchObject({ code: 2 })
  expect(await gpunvme(['sim', 'serve', '--serial', 'x'.repeat(21)], { cwd })).toMatchObject({ code: 2 })
  expect(await gpunvme(['sim', 'serve'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Try: use --socket') as string,
  })
})

check(
  `SIGINT ends a server with a summary and exit code 0, and removes its socket${skipped}`,
  { timeout },
  async () => {
    const socket = newSocket()
    const server = await startServer(
      ['--socket', socket, '--profile', '990pro', '--serial', 'S1', '--capacity', '64MiB'],
      cwd,
    )
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(server.said()).toContain('simulated Samsung 990 PRO 2TB, serial S1, 64 MiB, in memory')
    const { code, stdout } = await server.end('SIGINT')
    expect(code).toBe(0)
    const [what, line, other, title, ...summary] = stdout.split('\n')
    expect(what).toMatch(/^Start a guest with it \(QEMU 10\.1 or later; add /)
    expect(other).toMatch(/^Or, from another terminal: node \/\S*\/gpunvme\.js nvme identify --socket /)
    expect(other).toContain(socket)
    expect(line).toBe(
      '  qemu-system-x86_64 -machine q35,accel=kvm:tcg,memory-backend=ram -m 1G ' +
        '-object memory-backend-memfd,id=ram,size=1G,share=on ' +
        `-device '{"driver":"vfio-user-pci","socket":{"type":"unix","path":"${socket}"}}'`,
    )
    expect(title).toMatch(/^Served 990pro at .*\.sock for /)
    expect(summary[0]).toBe('  clients     none')
    expect(summary.join()).not.toContain('faults')
    expect(existsSync(socket)).toBe(false)
  },
)

check(
  `SIGTERM ends a server; --json prints a record at the start and one at the end${skipped}`,
  { timeout },
  async () => {
    const [socket, image] = [newSocket(), 'json.img']
    const args = ['--socket', socket, '--image', image, '--capacity', '16MiB', '--trace', 'json.jsonl', '--json']
    const server = await startServer(args, cwd)
    const { code, stdout, stderr } = await server.end('SIGTERM')
    expect(code).toBe(0)
    expect(stderr).toContain('Finishing in-flight I/O')
    const [start = '', summary = '', ...rest] = stdout.split('\n')
    expect(rest).toEqual([''])
    const { schema: startSchema, ...started } = JSON.parse(start) as { schema: string }
    const { schema, ...result } = JSON.parse(summary) as { schema: string; qemu: string[]; drive: object }
    expect(startSchema).toBe('gpunvme.sim-serve-start/1')
    expect(started).toEqual({ socket, qemu: result.qemu, drive: result.drive })
    expect(result.qemu[0]).toBe('qemu-system-x86_64')
    expect([schema, result]).toEqual([
      'gpunvme.sim-serve/1',
      expect.objectContaining({ socket, clients: 0, ioCommands: 0, diagnostics: [], trace: 'json.jsonl' }),
    ])
    expect(result).toMatchObject({ drive: { image, readOnly: false, capacityBytes: 16 * 1024 * 1024 } })
    for (const line of [start, summary]) expect(problemsOf(JSON.parse(line) as object)).toEqual([])
  },
)

check(`a second signal ends a server at once, and its socket is removed${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  const server = await startServer(['--socket', socket], cwd)
  const { code, stdout } = await server.end('SIGINT', 'SIGTERM')
  expect(code).toBe(130)
  expect(stdout).not.toContain('Served')
  expect(existsSync(socket)).toBe(false)
})

check(`sim serve rejects an invalid socket path, and creates no image${skipped}`, { timeout }, async () => {
  expect(await refused(['--socket', at('none/x.sock')])).toMatchObject({ code: 3 })
  expect(await refused(['--socket', at(`${'x'.repeat(120)}.sock`)])).toMatchObject({ code: 2 })
  writeFileSync(at('file'), 'kept')
  mkdirSync(at('folder'))
  expect(await refused(['--socket', at('file')])).toMatchObject({ code: 2 })
  expect(await refused(['--socket', at('folder')])).toMatchObject({ code: 2 })
  // No image file is left.
  const made = ['--image', 'made.img', '--capacity', '1MiB']
  expect(await refused(['--socket', at('file'), ...made])).toMatchObject({ code: 2 })
  expect(existsSync(at('made.img'))).toBe(false)
  expect(readFileSync(at('file'), 'utf8')).toBe('kept')
})

check(`sim serve rejects a socket in use, and replaces a stale one${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  await withServer(['--socket', socket], cwd, async () => {
    const { code, message } = await refused(['--socket', socket])
    expect([code, message]).toEqual([4, expect.stringContaining(socket)])
    expect(await gpunvme(['nvme', 'identify', '--socket', socket], { cwd })).toMatchObject({ code: 0 })
  })
  // The server was killed, so that its socket still exists.
  expect(existsSync(socket)).toBe(true)
  const { code } = await (await startServer(['--socket', socket], cwd)).end('SIGINT')
  expect(code).toBe(0)
})

check(`sim serve rejects a missing, small, resized or used image${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  expect(await refused(['--socket', socket, '--image', 'none.img'])).toMatchObject({
    code: 3,
    next: expect.stringContaining('--capacity') as string,
  })
  writeFileSync(at('small.img'), 'x')
  expect(await refused(['--socket', socket, '--image', 'small.img'])).toMatchObject({ code: 7 })
  writeFileSync(at('used.img'), new Uint8Array(1024 * 1024))
  expect(await refused(['--socket', socket, '--image', 'used.img', '--capacity', '2MiB'])).toMatchObject({
    code: 2,
    next: expect.stringContaining('omit the capacity') as string,
  })
  await withServer(['--socket', newSocket(), '--image', 'used.img'], cwd, async ({ child }) => {
    for (const more of [[], ['--read-only']]) {
      const { code, message } = await refused(['--socket', socket, '--image', 'used.img', ...more])
      expect([code, message]).toEqual([4, expect.stringContaining(`process ${child.pid!} `)])
    }
  })
  const readers = ['--image', 'used.img', '--read-only']
  await withServer(['--socket', newSocket(), ...readers], cwd, () =>
    withServer(['--socket', newSocket(), ...readers], cwd, ({ said }) => {
      expect(said()).toContain('used.img, read-only')
      return Promise.resolve()
    }),
  )
})

check(`sim serve rejects an invalid fault plan, and creates no image${skipped}`, { timeout }, async () => {
  const args = ['--socket', newSocket(), '--image', 'unmade.img', '--capacity', '1MiB']
  expect(await refused([...args, '--faults', 'none.json'])).toMatchObject({ code: 3 })
  writeFileSync(at('plan.json'), '{ "rules": [{ "match": { "opcode": 2 }, "action": { "kind": "explode" } }] }')
  const { code, message } = await refused([...args, '--faults', 'plan.json'])
  expect([code, message]).toEqual([2, expect.stringContaining('plan.json: fault plan, rule 0, action.kind')])
  expect(await refused([...args, '--trace', 'plan.json', '--faults', 'plan.json'])).toMatchObject({ code: 2 })
  expect(existsSync(at('unmade.img'))).toBe(false)
})

check(`sim serve runs a command, and ends with its exit code${skipped}`, { timeout }, async () => {
  const socket = newSocket()
  const script = `process.exit(require('fs').existsSync(${JSON.stringify(socket)}) ? 33 : 1)`
  const args = ['sim', 'serve', '--socket', socket]
  const { code, stdout, stderr } = await gpunvmeProcess([...args, '--', process.execPath, '-e', script], { cwd })
  expect([code, stdout]).toEqual([33, ''])
  expect(stderr).toContain('qemu-system-x86_64 -machine q35')
  expect(stderr).toContain('Served sn740 at')
  expect(existsSync(socket)).toBe(false)
  // The program is looked up before the server starts.
  const unknown = await gpunvme([...args, '--', 'no-such-program'], { cwd })
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringMatching(/^Cannot run no-such-program: /) as string })
  expect(await gpunvme([...args, '--json', '--', 'true'], { cwd })).toMatchObject({ code: 2 })
  expect(existsSync(socket)).toBe(false)
})

test('sim serve without the native addon suggests to build it, and creates no image', { timeout }, async () => {
  writeFileSync(
    at('no-addons.cjs'),
    "require('module')._extensions['.node'] = () => { throw Object.assign(new Error(), { code: 'MODULE_NOT_FOUND' }) }",
  )
  const args = ['sim', 'serve', '--socket', newSocket(), '--image', 'none.img', '--capacity', '1MiB']
  const { code, stderr } = await gpunvmeProcess(args, {
    cwd,
    env: { NODE_OPTIONS: `--require ${at('no-addons.cjs')}` },
  })
  expect([code, stderr]).toEqual([3, expect.stringMatching(/gpunvme_host could not be loaded[^]*Try: install g\+\+/)])
  expect(existsSync(at('none.img'))).toBe(false)
})
