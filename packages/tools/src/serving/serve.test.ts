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
  ...{ bytesRead: 0, bytesWritten: 0, queueDepth: 0, faultsInjected: 0, doorbellWrites: 0 },
  ...{ interrupts: { fired: [], masked: [] }, upstreamBusyNs: 0, downstreamBusyNs: 0 },
}

/** Replaces the server by a fake with these changes. */
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

test('serve fails and closes the server if it crashes', async () => {
  const { isClosed } = standIn({ closed: Promise.reject(new Error('the thread crashed')) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toThrow('the thread crashed')
  expect(isClosed()).toBe(true)
  expect(record).not.toHaveBeenCalledWith('gpunvme.sim-serve/1', expect.anything())
})

test('serve reports a system error of the server thread with its file', async () => {
  const cause = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write', path: 'trace.json' })
  standIn({ closed: Promise.reject(new VfioUserServerError('crashed', cause)) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toMatchObject({
    category: 'infeasible',
    message: expect.stringContaining('Cannot continue serving /nowhere/x.sock, write, trace.json: no space') as string,
  })
})

test('an exiting process does not remove a socket that another process has replaced', async () => {
  const folder = scratch()
  const socket = join(folder, 'x.sock')
  const other = join(folder, 'other')
  writeFileSync(socket, 'ours')
  writeFileSync(other, 'theirs')
  const over = new AbortController()
  standIn({
    socket,
    statistics() {
      // The last listener is that of this server. Call it as at a second signal.
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

test('serve continues after a late answer of the server', async () => {
  const late = new VfioUserServerError('late', undefined)
  const over = new AbortController()
  let calls = 0
  standIn({
    statistics() {
      calls++
      if (calls === 3) over.abort()
      return calls === 2 ? Promise.reject(late) : Promise.resolve(counters)
    },
  })
  expect(await serve({ socket: '/nowhere/x.sock' }, output, over.signal)).toBe(0)
  expect(calls).toBeGreaterThan(3)
})

test('serve fails and closes the server if it does not answer', async () => {
  const { isClosed } = standIn({ statistics: () => Promise.reject(new Error('did not answer')) })
  await expect(serve({ socket: '/nowhere/x.sock' }, output, never)).rejects.toThrow('did not answer')
  expect(isClosed()).toBe(true)
})

test('serve terminates its command if the server crashes', async () => {
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

test('serve returns the exit code of its command', async () => {
  standIn({})
  vi.mocked(runCommand).mockResolvedValue(33)
  expect(await serve({ socket: '/nowhere/x.sock', command: ['program', 'word'] }, output, never)).toBe(33)
  expect(runCommand).toHaveBeenLastCalledWith(['program', 'word'], expect.any(Function))
})

test('an abort ends serve with a summary', async () => {
  const { isClosed } = standIn({})
  const stop = new AbortController()
  const ended = serve({ socket: '/nowhere/x.sock' }, output, stop.signal)
  setImmediate(() => stop.abort(new Error('SIGINT')))
  expect(await ended).toBe(0)
  expect(isClosed()).toBe(true)
  expect(record).toHaveBeenLastCalledWith('gpunvme.sim-serve/1', expect.objectContaining({ clients: 0 }))
})

test('serve starts the server with its options', async () => {
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

test('formatOf derives the trace format from the file name', () => {
  expect(['t.json', 't.jsonl', 't.txt', 't'].map(formatOf)).toEqual(['perfetto', 'jsonl', 'text', 'text'])
})
