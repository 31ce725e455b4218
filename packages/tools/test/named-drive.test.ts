import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { gpunvme, json, scratch } from './gpunvme.js'
import { emptyImage } from './simulated-drive.js'

const cwd = scratch()
const LIMIT = { timeout: 120_000 }

beforeAll(async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  emptyImage(join(cwd, 'empty.img'), 8 * 1024 * 1024)
  writeFileSync(join(cwd, 'block.bin'), new Uint8Array(512))
  await gpunvme(['nvme', 'trace', '--format', 'jsonl', '-o', 't.jsonl', '--', 'nvme', 'read', '--sim'], { cwd })
})

describe('a command without a drive is rejected:', LIMIT, () => {
  test.each([
    ...['nvme identify', 'nvme smart', 'nvme log', 'nvme features', 'nvme regs', 'nvme regs --as-found'],
    ...['nvme read', 'bench', 'models ls', 'models verify', 'models rm chat'],
    ...['nvme write block.bin --lba 0', 'pack model.gguf', 'load model.gguf', 'plan model.gguf --vram 8MiB --measure'],
    ...['nvme trace nvme identify', 'nvme replay t.jsonl', 'nvme replay t.jsonl --allow-writes', 'bench p2p --probe'],
  ])('gpunvme %s', async (words) => {
    const { code, stdout, stderr } = await gpunvme([...words.split(' '), '--quiet'], { cwd })
    expect({ code, named: stdout.includes('SIMULATED') }).toEqual({ code: 2, named: false })
    expect(stderr).toMatch(/^No drive is named\n/)
    expect(stderr).toContain('--sim')
  })
})

describe('a simulated drive is marked at the top of stdout and in JSON:', LIMIT, () => {
  test.each([
    ...['nvme identify', 'nvme smart', 'nvme log', 'nvme features', 'nvme regs', 'nvme regs --as-found'],
    ...['nvme read', 'nvme write block.bin --lba 0'],
    ...['load model.gguf', 'plan model.gguf --vram 8MiB --measure', 'nvme replay t.jsonl'],
  ])('gpunvme %s --sim', async (words) => {
    const args = [...words.split(' '), '--sim']
    const { code, stdout } = await gpunvme(args, { cwd })
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'SIMULATED  WD PC SN740 512GB (profile sn740)'])
    expect(json(await gpunvme([...args, '--json'], { cwd }))).toMatchObject({
      drive: { transport: 'sim', simulated: true, profile: 'sn740' },
    })
  })

  test('the line has the profile and the image file', async () => {
    const { stdout } = await gpunvme(['nvme', 'identify', '--profile', '990pro', '--image', 'empty.img'], { cwd })
    expect(stdout).toMatch(/^SIMULATED {2}Samsung 990 PRO 2TB \(profile 990pro, image empty\.img\)\n/)
  })

  test('the first record of a series has the mark', async () => {
    const args = ['nvme', 'regs', '--sim', '--watch', '--interval', '1', '--count', '2', '--json']
    const [first = ''] = (await gpunvme(args, { cwd })).stdout.split('\n')
    expect(JSON.parse(first)).toMatchObject({ drive: { by: 'driver', simulated: true } })
  })
})

test('with --raw, stdout carries only bytes, and stderr names the drive', LIMIT, async () => {
  const { stdout, stderr } = await gpunvme(['nvme', 'read', '--image', 'empty.img', '--raw'], { cwd })
  expect(stdout).toBe('\0'.repeat(512))
  expect(stderr).toContain('SIMULATED  WD PC SN740 512GB')
})

test('decode reads a hex dump of read, which starts with the line that names the drive', LIMIT, async () => {
  const { stdout } = await gpunvme(['nvme', 'read', '--image', 'empty.img', '--no-squeeze'], { cwd })
  expect(stdout).toMatch(/^SIMULATED {2}/)
  expect(parseHexDump(stdout, 'stdin')).toEqual(new Uint8Array(512))
})

test('ls, verify, rm and pack reject a drive in memory', LIMIT, async () => {
  for (const [verb, ...words] of [['models ls'], ['models verify'], ['models rm', 'chat'], ['pack', 'model.gguf']]) {
    const { code, stderr } = await gpunvme([...verb!.split(' '), ...words, '--sim'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`^${verb!} requires a drive that keeps its data\n`))
  }
})

test.each([
  [['--sim', '--drive', '0000:0b:00.0'], '--sim and --drive are mutually exclusive'],
  [['--sim', '--socket', 'x.sock'], '--sim and --socket are mutually exclusive'],
  [['--sim', '--transport', 'qtest'], '--sim and --transport qtest are mutually exclusive'],
])('options for two different drives are rejected: %o', async (flags, problem) => {
  const { code, stderr } = await gpunvme(['nvme', 'identify', ...flags], { cwd })
  expect([code, stderr.split('\n')[0]]).toEqual([2, problem])
})
