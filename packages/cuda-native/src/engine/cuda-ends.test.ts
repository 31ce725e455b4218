import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { program, run } from '../../test/engine/program.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'

const standin = useStandin()

describe.skipIf(!hasStandin)(`how a persistent kernel ends${skippedWithoutStandin}`, () => {
  // The driver releases what a program leaves when it exits at once.
  test('a program that exits with plans in flight ends with its exit status', () => {
    expect(run('busy', 'cuda')).toEqual({ status: 3, signal: null, stderr: '' })
  })

  test('a kernel that waits for plans does not keep a program running, and everything is released', () => {
    expect(run('idle', 'cuda')).toEqual({ status: 0, signal: null, stderr: '' })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('the kernel of a garbage-collected engine with queues ends with the engine', () => {
    expect(run('forgotten', 'cuda')).toEqual({ status: 0, signal: null, stderr: '' })
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each(['busy', 'idle'])('a thread that ends with its engine %s releases everything', async (how) => {
    const worker = new Worker(program, { workerData: { how, engine: 'cuda' }, execArgv: [] })
    if (how === 'busy') {
      const [running] = (await once(worker, 'message')) as [number]
      expect(running).toBeGreaterThan(0)
      await worker.terminate()
    } else {
      await once(worker, 'exit')
    }
    expect(standin.live()).toEqual(NOTHING)
  })
})
