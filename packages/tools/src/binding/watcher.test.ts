import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { inProcess } from '../../test/binding/in-process.js'
import { BDF, BOUND, ORIGINAL, SERIAL, Tree } from '../../test/binding/tree.js'
import { INSTALLED } from '../terminal/invocation.js'
import { identityOf, type ProcessIdentity } from './process-identity.js'
import type { WatcherMessage } from './start-watcher.js'
import { watchBinding } from './watcher.js'

/** A process that has ended: the number exceeds the maximum pid. */
const HOLDER = { pid: 4194305, startTicks: '17' }
let tree: Tree
beforeEach(async () => {
  tree = new Tree()
  expect((await inProcess(tree, 'bind', 'nvme0', '--serial', SERIAL, '--yes')).code).toBe(0)
})

/** Sets the holder in the record of the binding. */
function held(holder: ProcessIdentity | null): void {
  const path = join(tree.root, `run/gpunvme/${BDF}.json`)
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), holder }))
}

async function watch(...messages: readonly WatcherMessage[]): Promise<number> {
  const lines = messages.map((message) => `${JSON.stringify(message)}\n`)
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.stubEnv('FAKE_KERNEL_ROOT', tree.root)
  try {
    return await watchBinding({ root: tree.root, bdf: BDF, holder: HOLDER, invocation: INSTALLED }, each(lines))
  } finally {
    stderr.mockRestore()
    vi.unstubAllEnvs()
  }
}

async function* each(lines: readonly string[]): AsyncIterable<string> {
  yield* await Promise.resolve(lines)
}

test('the watcher returns the drive if the command ends just before it is killed', async () => {
  held(HOLDER)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    child.kill('SIGKILL')
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH', syscall: 'kill', errno: -3 })
  })
  try {
    expect(await watch({ command: identityOf(child.pid!)! })).toBe(0)
    expect(kill).toHaveBeenCalledWith(child.pid, 'SIGTERM')
  } finally {
    kill.mockRestore()
    child.kill('SIGKILL')
  }
  expect(tree.state()).toEqual(ORIGINAL)
}, 60_000)

test.each([
  ['without a holder', null],
  ['of another ended process', { ...HOLDER, startTicks: '18' }],
])('the watcher does not return a binding %s', async (_, holder) => {
  held(holder)
  expect(await watch()).toBe(0)
  expect(tree.state()).toEqual(BOUND)
})

test('the watcher does not return the drive after isDone', async () => {
  held(HOLDER)
  expect(await watch({ isDone: true })).toBe(0)
  expect(tree.state()).toEqual(BOUND)
  expect(await watch()).toBe(0)
  expect(tree.state()).toEqual(ORIGINAL)
})
