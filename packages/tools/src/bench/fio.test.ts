import { expect, test } from 'vitest'
import { fioArguments, type FioJob } from './fio.js'

const JOB: FioJob = {
  path: '/dev/nvme0n1',
  engine: 'io_uring',
  engineOptions: [],
  rw: 'read',
  blockBytes: 131_072,
  depth: 32,
  threads: 4,
  firstByte: 4096,
  lengthBytes: 10_000_000,
  shared: false,
  seconds: 1.5,
  warmUpSeconds: 0.25,
  seed: 7,
}

test('fioArguments requests direct, read-only, timed runs with a group report', () => {
  const found = fioArguments(JOB)
  for (const option of [
    '--filename=/dev/nvme0n1',
    '--ioengine=io_uring',
    '--readonly',
    '--direct=1',
    '--bs=131072',
    '--iodepth=32',
    '--numjobs=4',
    '--runtime=1500ms',
    '--ramp_time=250ms',
    '--time_based',
    '--group_reporting',
    '--output-format=json+',
    '--randseed=7',
  ]) {
    expect(found).toContain(option)
  }
})

test('fioArguments gives each thread a separate part, or all threads the same one if shared', () => {
  // 10,000,000 / 4 are 19 blocks of 128 KiB.
  expect(fioArguments(JOB)).toEqual(
    expect.arrayContaining(['--offset=4096', '--size=2490368', '--offset_increment=2490368']),
  )
  expect(fioArguments({ ...JOB, shared: true })).toEqual(
    expect.arrayContaining(['--size=10000000', '--offset_increment=0']),
  )
})

test('fioArguments escapes colons in paths, and passes on engine options', () => {
  const found = fioArguments({ ...JOB, path: 'a:b.bin', engineOptions: ['gpu_dev_ids=0'] })
  expect(found).toEqual(expect.arrayContaining(['--filename=a\\:b.bin', '--gpu_dev_ids=0']))
})
