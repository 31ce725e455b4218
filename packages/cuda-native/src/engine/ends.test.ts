import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { program, run } from '../../test/engine/program.js'
import { isBuilt, skipped } from '../../test/native.js'

function leaders(): number {
  const names = readdirSync('/proc/self/task').map((task) => readFileSync(`/proc/self/task/${task}/comm`, 'utf8'))
  return names.filter((name) => name === 'gpunvme-leader\n').length
}

describe.skipIf(!isBuilt)(`how an engine on threads ends${skipped}`, () => {
  test('a program that exits with plans in flight ends with its exit status', () => {
    expect(run('busy')).toEqual({ status: 3, signal: null, stderr: '' })
  })

  test('an engine that waits for plans does not keep a program running', () => {
    expect(run('idle')).toEqual({ status: 0, signal: null, stderr: '' })
  })

  test('an engine that is garbage-collected with queues ends with its leaders', () => {
    expect(run('forgotten')).toEqual({ status: 0, signal: null, stderr: '' })
  })

  test('a thread that is terminated with plans in flight ends its leaders', async () => {
    const worker = new Worker(program, { workerData: { how: 'busy' }, execArgv: [] })
    const [running] = (await once(worker, 'message')) as [number]
    expect(running).toBe(1)
    expect(leaders()).toBe(1)
    await worker.terminate()
    expect(leaders()).toBe(0)
  })
})
