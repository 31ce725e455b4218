import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isBuilt, skipped } from '../../cuda-native/test/native.js'
import { readResults } from '../src/report/read-results.js'
import { oneCell } from './bench-results.js'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const SHORT = ['--repeats', '2', '--time', '0.002', '--warm-up', '0.001']

const resultsOf = (text: string) => readResults(text, 'stdout')

test('bench of a simulated drive is reproducible in modelled time', async () => {
  const args = [
    'bench',
    '--sim',
    '--bs',
    '4KiB,128KiB',
    '--qd',
    '1,8',
    '--rw',
    'randread',
    ...SHORT,
    '--json',
    '--timeline',
  ]
  const runs = await Promise.all([gpunvme(args, { cwd }), gpunvme(args, { cwd })])
  const [first, second] = runs.map(({ code, stdout }) => {
    expect(code).toBe(0)
    return resultsOf(stdout)
  })
  expect(first!.cells).toEqual(second!.cells)
  expect(first).toMatchObject({ time: 'modelled', transport: 'sim', drive: { profile: 'sn740', serialEnd: 'N740' } })
  expect(first!.cells.map(({ blockBytes, depth, problem }) => [blockBytes, depth, problem])).toEqual([
    [4096, 1, undefined],
    [4096, 8, undefined],
    [131_072, 1, undefined],
    [131_072, 8, undefined],
  ])
  expect(first!.timeline).toMatchObject({ cell: 3 })
  expect(json(runs[0])).toMatchObject({
    cells: [
      { summary: { shareOfLimit: expect.any(Number) as number, latency: { p50Ns: expect.any(Number) as number } } },
      {},
      {},
      {},
    ],
  })
})

test('bench prints a table of 80 columns, and writes complete JSON, HTML and CSV files', async () => {
  const files = ['-o', 'a.json', '--report', 'a.html', '--csv', 'a.csv']
  const { code, stdout, stderr } = await gpunvme(['bench', '--sim', '--numjobs', '1,2', ...SHORT, ...files], { cwd })
  expect([code, stderr]).toEqual([0, 'Wrote a.json\nWrote a.csv\nWrote a.html\n'])
  expect(stdout).toContain('read 128 KiB, depth 32, 2 jobs\n')
  expect(stdout).toMatch(/^host +3\.\d+ GB\/s +9\d % /m)
  expect(stdout).toContain('LIMIT: share of 3.6 GB/s, the payload limit of Gen3 x4 at MPS 256.')
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(resultsOf(readFileSync(join(cwd, 'a.json'), 'utf8')).cells).toHaveLength(2)
  expect(readFileSync(join(cwd, 'a.csv'), 'utf8').trim().split('\n')).toHaveLength(1 + 2 * 2)
  expect(readFileSync(join(cwd, 'a.html'), 'utf8')).toContain('</html>')
  expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([])
})

test('bench --rw write does not overwrite unknown data', async () => {
  const thesis = Buffer.alloc(4 * 1024 * 1024, 'thesis ')
  writeFileSync(join(cwd, 'thesis.img'), thesis)
  const args = ['bench', '--rw', 'write', '--image', 'thesis.img', '-o', 'never.json', ...SHORT]
  const { code, stdout, stderr } = await gpunvme(args, { cwd })
  expect([code, stdout]).toEqual([4, 'SIMULATED  WD PC SN740 512GB (profile sn740, image thesis.img)\n'])
  expect(stderr).toContain("--overwrite 'unknown data'")
  expect(readFileSync(join(cwd, 'thesis.img')).equals(thesis)).toBe(true)
  expect(existsSync(join(cwd, 'never.json'))).toBe(false)
})

describe('invalid runs of bench:', () => {
  test.each([
    [['--sim', '--bs', '4'], 2, 'multiples of 512 bytes'],
    [['--hand-over'], 2, 'requires a --drive'],
    [['--profile', 'ideal'], 7, 'take no time'],
    [['--sim', '--engines', 'cpu-kernel'], 7, 'its registers are not memory'],
    [['--merge', 'none.json', 'none.json'], 3, 'ENOENT'],
  ])('%j ends with exit code %i', async (args, expected, words) => {
    const { code, stderr } = await gpunvme(['bench', ...args], { cwd })
    expect([code, stderr]).toEqual([expected, expect.stringContaining(words)])
  })
})

test('bench shows results that failed the checks without rates, with exit code 6', async () => {
  const [cell] = oneCell().cells
  const failed = { ...cell!, problem: { kind: 'failed', reason: 'SMART counts 0 Read commands, but 9 were sent' } }
  const other = { ...oneCell(), sources: [{ ...oneCell().sources[0]!, name: 'cuda' }] }
  writeFileSync(join(cwd, 'failed.json'), JSON.stringify({ ...oneCell(), cells: [failed] }))
  writeFileSync(join(cwd, 'sound.json'), JSON.stringify({ ...other, cells: [{ ...cell!, source: 'cuda' }] }))
  const { code, stdout, stderr } = await gpunvme(['bench', '--merge', 'failed.json', 'sound.json'], { cwd })
  expect(code).toBe(6)
  expect(stdout).toMatch(/^host +REJECTED: SMART counts 0 Read commands, but 9 were/m)
  expect(stdout).toMatch(/^cuda +\d.* GB\/s/m)
  expect(stderr).toContain('1 cell of 2 failed the checks')
})

test.skipIf(!isBuilt)(`engines alternate on a drive simulated in real time${skipped}`, async () => {
  const args = ['--real-time', '--engines', 'host,cpu-kernel', '--capacity', '64MiB', '--bs', '64KiB', '--qd', '4']
  const { code, stdout } = await gpunvme(
    ['bench', ...args, '--repeats', '3', '--time', '0.05', '--warm-up', '0', '--cool-down', '0', '--json'],
    { cwd },
  )
  expect(code).toBe(0)
  const { time, cells } = resultsOf(stdout)
  expect(time).toBe('wall')
  expect(cells.map(({ source, repeats }) => [source, repeats.map(({ turn }) => turn)])).toEqual([
    ['host', [0, 3, 4]],
    ['cpu-kernel', [1, 2, 5]],
  ])
  for (const { cpuSeconds } of cells.flatMap(({ repeats }) => repeats)) expect(cpuSeconds).toBeGreaterThan(0)
})
