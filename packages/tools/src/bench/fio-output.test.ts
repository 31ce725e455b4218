import { describe, expect, test } from 'vitest'
import { repeatOfFio } from './fio-output.js'

/** Output of fio 3.33 for 2 jobs of a second each, without unused fields and most bins. */
const PRINTED = {
  'fio version': 'fio-3.33',
  timestamp: 1_795_371_193,
  jobs: [
    {
      jobname: 'gpunvme',
      error: 0,
      'job options': { name: 'gpunvme', rw: 'randread', bs: '4096' },
      read: {
        io_bytes: 242_905_088,
        bw_bytes: 242_662_425,
        iops: 59_237.762_238,
        runtime: 1001,
        total_ios: 59_297,
        clat_ns: {
          min: 100,
          max: 9_412_008,
          mean: 129_000.1,
          bins: { '100': 1, '101': 1, '110': 4, '120': 2, '131': 4, '130048': 59_285 },
        },
      },
      job_runtime: 2000,
      usr_cpu: 1.45,
      sys_cpu: 20.4,
    },
  ],
}

const withJob = (changes: object) => JSON.stringify({ ...PRINTED, jobs: [{ ...PRINTED.jobs[0], ...changes }] })

test('repeatOfFio returns the totals of all jobs, and the CPU time of all threads', () => {
  const { latency, cpuSeconds, ...repeat } = repeatOfFio(JSON.stringify(PRINTED))
  expect(repeat).toEqual({ bytes: 242_905_088, commands: 59_297, seconds: 1.001 })
  // 21.85 % of the 2 s that both jobs ran.
  expect(cpuSeconds).toBeCloseTo(0.437, 6)
  expect(latency).toMatchObject({ minNs: 100, maxNs: 9_412_008 })
  expect(latency!.buckets.reduce((sum, [, count]) => sum + count, 0)).toBe(59_297)
  const [edge, count] = latency!.buckets.at(-1)!
  expect(count).toBe(59_285)
  expect(edge / 130_048).toBeGreaterThan(0.999)
  expect(edge / 130_048).toBeLessThan(1.045)
})

describe('repeatOfFio rejects', () => {
  test.each([
    ['invalid JSON', 'fio: engine unknown', /Cannot use the output of fio/],
    ['an object without jobs', '{}', /jobs: expected an array, got undefined/],
    ['an empty list of jobs', JSON.stringify({ ...PRINTED, jobs: [] }), /it lists no job/],
    ['a failed job', withJob({ error: 22 }), /ended with error 22/],
    ['a run time of zero', withJob({ read: { ...PRINTED.jobs[0]!.read, runtime: 0 } }), /run time is zero/],
    [
      'bins that are not numbers',
      withJob({ read: { ...PRINTED.jobs[0]!.read, clat_ns: { min: 1, max: 2, bins: { many: 1 } } } }),
      /bin/,
    ],
  ])('%s', (_, json, expected) => {
    expect(() => repeatOfFio(json)).toThrow(expected)
  })
})
