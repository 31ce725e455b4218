import type { VfioUserServer } from '@gpunvme/nvme-sim/vfio-user'
import { startVfioUserServer, VfioUserServerError } from '@gpunvme/nvme-sim/vfio-user'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { runCommand } from '../binding/run-command.js'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { formatOf, serve } from './serve.js'

vi.mock('../binding/run-command.js', () => ({ runCommand: vi.fn() }))
vi.mock('@gpunvme/nvme-sim/vfio-user', async (original) => ({
  ...(await original<typeof import('@gpunvme/nvme-sim/vfio-user')>()),
  startVfioUserServer: vi.fn(),
}))

const never = new AbortController().signal
const output = new Output({ quiet: true, json: true }, testIo())
const record = vi.spyOn(output, 'record').mockImplementation(() => undefined)
const counters = {
  ...{ clients: 0, connected: false, messages: 0, adminCommands: {}, ioCommands: {}, errors: 0 },
  ...{ bytesRead: 0, bytesWritten: 0, queueDepth: 0, faultsStruck: 0, doorbellWrites: 0 },
  ...{ interrupts: { fired: [], masked: [] }, upstreamBusyNs: 0, downstreamBusyNs: 0 },
}

/** A server in place of the real one. */
function standIn(changes: Partial<VfioUserServer>): { readonly isClosed: () => boolean } {
  let isClosed = false
  vi.mocked(startVfioUserServer).mockResolvedValue({
    socket: '/nowhere/x.sock',
    statistics: () => Promise.resolve(counters),
    diagnostics: () => Promise.resolve([]),
    closed: new Promise(() => undefined),
    close() {
      isClosed = true
      return Promise.resolve()
    },
    ...changes,
  })
  return { isClosed: () => isClosed }
}

beforeEach(() => record.mockClear())

test('a server that ends by itself is an error, and is closed', async () => {
  const { isClosed } = standIn({ closed: Promise.reject(new Error('the thread crashed')) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toThrow('the thread crashed')
  expect(isClosed()).toBe(true)
  expect(record).not.toHaveBeenCalledWith('gpunvme.sim-serve/1', expect.anything())
})

test('what the system refused to the thread of a server is said with its file', async () => {
  const cause = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write', path: 'trace.json' })
  standIn({ closed: Promise.reject(new VfioUserServerError('crashed', cause)) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toMatchObject({
    category: 'infeasible',
    message: expect.stringContaining('Cannot continue serving /nowhere/x.sock, write, trace.json: no space') as string,
  })
})

test('a process that ends at once does not take a socket away that another has put there since', async () => {
  const folder = scratch()
  const socket = join(folder, 'x.sock')
  const other = join(folder, 'other')
  writeFileSync(socket, 'ours')
  writeFileSync(other, 'theirs')
  const over = new AbortController()
  standIn({
    socket,
    statistics() {
      // The last listener is that of this server: as at the second signal, in the middle of it.
      const atExit = process.listeners('exit').at(-1)!
      if (existsSync(other)) renameSync(other, socket)
      atExit(0)
      over.abort()
      return Promise.resolve(counters)
    },
  })
  await serve({ socket }, output, over.signal)
  expect(readFileSync(socket, 'utf8')).toBe('theirs')
})

test('one that is late with an answer is served on', async () => {
  const late = new VfioUserServerError('late', undefined)
  const over = new AbortController()
  let asked = 0
  standIn({
    statistics() {
      asked++
      if (asked === 3) over.abort()
      return asked === 2 ? Promise.reject(late) : Promise.resolve(counters)
    },
  })
  expect(await serve({ socket: '/nowhere/x.sock' }, output, over.signal)).toBe(0)
  expect(asked).toBeGreaterThan(3)
})

test('one that answers no more is an error, and is closed', async () => {
  const { isClosed } = standIn({ statistics: () => Promise.reject(new Error('did not answer')) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toThrow('did not answer')
  expect(isClosed()).toBe(true)
})

test('a command is ended where the server ends by itself, as nobody answers it any more', async () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  let crash: (error: Error) => void = () => undefined
  const { isClosed } = standIn({ closed: new Promise((_, reject) => (crash = reject)) })
  vi.mocked(runCommand).mockImplementation((_words, onStarted) => {
    onStarted(4242)
    crash(new Error('the thread crashed'))
    return new Promise(() => undefined)
  })
  const ended = serve({ socket: '/nowhere/x.sock', command: ['program'] }, output, never)
  await expect(ended).rejects.toThrow('the thread crashed')
  expect(kill.mock.calls).toEqual([[4242, 'SIGTERM']])
  expect(isClosed()).toBe(true)
  kill.mockRestore()
})

test('the exit code is that of the command that it was served to', async () => {
  standIn({})
  vi.mocked(runCommand).mockResolvedValue(33)
  expect(await serve({ socket: '/nowhere/x.sock', command: ['program', 'word'] }, output, never)).toBe(33)
  expect(runCommand).toHaveBeenLastCalledWith(['program', 'word'], expect.any(Function))
})

test('the signal ends it with a summary', async () => {
  const { isClosed } = standIn({})
  const stop = new AbortController()
  const ended = serve({ socket: '/nowhere/x.sock' }, output, stop.signal)
  setImmediate(() => stop.abort(new Error('SIGINT')))
  expect(await ended).toBe(0)
  expect(isClosed()).toBe(true)
  expect(record).toHaveBeenLastCalledWith('gpunvme.sim-serve/1', expect.objectContaining({ clients: 0 }))
})

test('what the options ask for is what the server is started with', async () => {
  standIn({})
  const stop = new AbortController()
  const ended = serve(
    { socket: 's', profile: 'p5800x', seed: 7, trace: '/tmp/t.jsonl', mappedDoorbells: true, capacity: 8192 },
    output,
    stop.signal,
  )
  setImmediate(() => stop.abort(new Error('SIGINT')))
  await ended
  expect(startVfioUserServer).toHaveBeenLastCalledWith(
    expect.objectContaining({
      socket: 's',
      seed: 7,
      trace: { path: '/tmp/t.jsonl', format: 'jsonl' },
      mappedDoorbells: true,
      namespaces: [{ blockBytes: 512, capacityBytes: 8192 }],
    }),
  )
})

test('the format of a trace is that of its name', () => {
  expect(['t.json', 't.jsonl', 't.txt', 't'].map(formatOf)).toEqual(['perfetto', 'jsonl', 'text', 'text'])
})
