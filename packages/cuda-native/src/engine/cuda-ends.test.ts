import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { program, run } from '../../test/engine/program.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'

const standin = useStandin()

describe.skipIf(!hasStandin)(`how a persistent kernel ends${skippedWithoutStandin}`, () => {
  // What a program that exits at once has left is the driver's to end, with the program.
  test('a program that exits with plans in flight ends as it says', () => {
    expect(run('busy', 'cuda')).toEqual({ status: 3, signal: null, stderr: '' })
  })

  test('one that waits for plans keeps no program from ending, and nothing is left', () => {
    expect(run('idle', 'cuda')).toEqual({ status: 0, signal: null, stderr: '' })
    expect(standin.live()).toEqual(NOTHING)
  })

  test('that of an engine that is forgotten with its queues is ended with it', () => {
    expect(run('forgotten', 'cuda')).toEqual({ status: 0, signal: null, stderr: '' })
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each(['busy', 'idle'])('a thread that is ended with its engine %s takes all of it with it', async (how) => {
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
