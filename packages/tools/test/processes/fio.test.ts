import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readResults } from '../../src/report/read-results.js'
import { gpunvme, scratch } from '../gpunvme.js'

const cwd = scratch()
const hasFio = spawnSync('fio', ['--version']).error === undefined
const withoutFio = hasFio ? '' : ' (skipped: [fio] fio is not installed)'

test.skipIf(!hasFio)(`bench --file runs the available baselines, and lists the missing ones${withoutFio}`, async () => {
  writeFileSync(join(cwd, 'file.bin'), Buffer.alloc(4 * 1024 * 1024, 7))
  const args = ['--file', 'file.bin', '--baselines', 'pread,io_uring,cufile', '--engines', 'host', '--bs', '64KiB']
  const { code, stdout } = await gpunvme(
    ['bench', ...args, '--qd', '2', '--repeats', '1', '--time', '0.2', '--warm-up', '0.1', '--json'],
    { cwd },
  )
  expect(code).toBe(0)
  const { sources, cells, drive } = readResults(stdout, 'stdout')
  expect(drive.model).toBe('the file file.bin')
  expect(sources.map(({ name, missing }) => [name, missing?.reason])).toEqual([
    ['host', 'engines require a controller, not a file'],
    ['pread', undefined],
    ['io_uring', undefined],
    ['cufile', expect.stringContaining('nvidia-fs is not loaded')],
  ])
  expect(cells.map(({ source, problem }) => [source, problem])).toEqual([
    ['pread', undefined],
    ['io_uring', undefined],
  ])
  // fio counts commands in flight at the end of the warm-up in one figure and not in the other.
  for (const { repeats } of cells) expect(repeats[0]!.bytes / 65_536 / repeats[0]!.commands).toBeCloseTo(1, 1)
})
