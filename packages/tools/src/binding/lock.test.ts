import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { scratch } from '../../test/gpunvme.js'
import { withLock } from './lock.js'
import { thisProcess } from './process-identity.js'

const BDF = '0000:0b:00.0'
let root = ''
beforeEach(() => {
  root = scratch()
})

const files = () => readdirSync(join(root, 'run/gpunvme'))

/** Creates the lock of a process that has ended. The number exceeds the maximum pid (proc(5), pid_max). */
function leaveLock(name = `${BDF}.lock`, startTicks = '17'): void {
  mkdirSync(join(root, 'run/gpunvme'), { recursive: true })
  writeFileSync(join(root, 'run/gpunvme', name), `4194305 ${startTicks} 1`)
}

test('withLock excludes other holders, and removes its file', async () => {
  const used = await withLock(root, BDF, 0, async () => {
    expect(files()).toEqual([`${BDF}.lock`])
    await expect(withLock(root, BDF, 0, () => Promise.resolve())).rejects.toThrow(
      `Another gpunvme is changing the driver of ${BDF}\n  process ${process.pid} holds `,
    )
    await withLock(root, '0000:0c:00.0', 0, () => Promise.resolve())
    return 'used'
  })
  expect(used).toBe('used')
  expect(files()).toEqual([])
})

test('withLock releases the lock after a failure, and a waiting call acquires it', { timeout: 20_000 }, async () => {
  let waiting: Promise<string> | undefined
  const failing = withLock(root, BDF, 0, () => {
    waiting = withLock(root, BDF, 15_000, () => Promise.resolve('acquired'))
    return Promise.reject(new Error('failed'))
  })
  await expect(failing).rejects.toThrow('failed')
  expect(await waiting).toBe('acquired')
})

test('withLock takes over the lock of an ended process, by one of many callers', { timeout: 60_000 }, async () => {
  leaveLock()
  leaveLock(`${BDF}.lock.after-4194305-17-1`, '18')
  let now = 0
  let peak = 0
  const use = async () => {
    peak = Math.max(peak, ++now)
    await new Promise((resolve) => setTimeout(resolve, 5))
    now--
  }
  await Promise.all(Array.from({ length: 20 }, () => withLock(root, BDF, 50_000, use)))
  expect(peak).toBe(1)
  expect(files()).toEqual([])
})

test('withLock ignores a lock whose pid belongs to a later process', async () => {
  mkdirSync(join(root, 'run/gpunvme'), { recursive: true })
  writeFileSync(join(root, 'run/gpunvme', `${BDF}.lock`), `${process.pid} ${thisProcess().startTicks}0 1`)
  expect(await withLock(root, BDF, 0, () => Promise.resolve('acquired'))).toBe('acquired')
})

test('withLock rejects a lock file without a process id', async () => {
  mkdirSync(join(root, 'run/gpunvme'), { recursive: true })
  writeFileSync(join(root, 'run/gpunvme', `${BDF}.lock`), '{}')
  await expect(withLock(root, BDF, 0, () => Promise.resolve())).rejects.toThrow('it has no process id')
})
