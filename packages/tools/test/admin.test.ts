import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gpunvme, json, scratch, type Running } from './gpunvme.js'

const cwd = scratch()
const run = (...args: string[]) => gpunvme(args, { cwd })
const runSim = (...args: string[]) => run(...args, '--sim')

test('smart prints a summary in its first line, and values with units', async () => {
  const { code, stdout } = await runSim('nvme', 'smart')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^SIMULATED .*\nNo critical warning \(CW\)\n {2}temperature +\d+ °C, warning from 70 °C/)
  expect(json(await runSim('nvme', 'smart', '--json'))).toMatchObject({
    ...{ schema: 'gpunvme.smart/1', critical: false, warnings: [], sparePercent: 100, readBytes: '0' },
    drive: { by: 'driver', serial: 'GPUNVME-SIM-SN740' },
    fields: { AVSP: 100, CW: { AMRO: 0 } },
  })
}, 60_000)

test('log lists the pages of the drive, prints one by name, and --raw output can be decoded', async () => {
  const { stdout } = await runSim('nvme', 'log')
  expect(stdout).toMatch(/^SIMULATED .*\nLID {2}PAGE +SAYS +WHAT\n00h +supported +log page 00h/)
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  const shown = json(await runSim('nvme', 'log', 'firmware', '--json'))
  expect(shown).toMatchObject({ schema: 'gpunvme.log/1', page: { lid: 3, lengthBytes: 512 }, fields: { FRS1: '1' } })
  // All bytes of an unused drive are below 80h, so that text conversion keeps them.
  const bytes = Buffer.from((await runSim('nvme', 'log', '02h', '--raw')).stdout)
  expect(bytes).toHaveLength(512)
  writeFileSync(join(cwd, 'smart.bin'), bytes)
  expect((await run('nvme', 'decode', 'log', '--file', 'smart.bin')).stdout).toContain('AVSP=100: 100 %')
}, 60_000)

test('features are decoded, and missing ones have a reason', async () => {
  const { code, stdout } = await runSim('nvme', 'features')
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^SIMULATED .*\n01h Arbitration: AB=0 \(1 command\) LPW=0 \(1\) MPW=0 \(1\) HPW=0 \(1\)\n02h Power Management: PS=0 WH=0\n/,
  )
  expect(stdout).toMatch(/\nUnsupported or not requested:\n.*0Dh Host Memory Buffer/)
  expect(json(await runSim('nvme', 'features', '04h', '--supported', '--json'))).toMatchObject({
    ...{ schema: 'gpunvme.features/1', select: 'supported' },
    features: [{ fid: 4, name: 'temperature-threshold', supported: { CHANGEABLE: 1 } }],
  })
}, 60_000)

test('identify prints any structure of the controller or of a namespace', async () => {
  const { stdout } = await runSim('nvme', 'identify', '--nsid', '1', '--fields')
  expect(stdout).toMatch(
    /^SIMULATED .*\nNamespace 1\nIdentify Namespace \(NVM 1\.2 §4\.1\.5\.1\)[^\n]*\n {2}NSZE=0x3b9e12b0\n/,
  )
  expect(json(await runSim('nvme', 'identify', '--cns', '02h', '--json'))).toMatchObject({
    cns: 2,
    nsid: 0,
    structure: 'Active Namespace ID list',
  })
}, 60_000)

test('regs --watch prints one object per line, and SIGINT ends it with exit code 0', async () => {
  const onStderr = (text: string, running: Running) => {
    if (text.includes('brought up') && !text.includes('Finishing')) running.kill('SIGINT')
  }
  const { code, stdout } = await gpunvme(['nvme', 'regs', '--sim', '--watch', '--interval', '50', '--json'], {
    cwd,
    onStderr,
  })
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({ schema: 'gpunvme.regs/1', drive: { by: 'driver' } })
}, 60_000)

test('invalid arguments and missing objects have their exit code and next step', async () => {
  const cases: readonly (readonly [args: string, code: number, said: RegExp])[] = [
    [
      'nvme log nope',
      2,
      /^Unknown log page 'nope'\n {2}names: supported error smart[^]*Try: gpunvme nvme log --drive ADDRESS, which lists /,
    ],
    ['nvme log smart --length 10', 2, /^--length: expected a multiple of 4 bytes, got 10\n/],
    ['nvme log --raw', 2, /^--length, --offset, --lsi and --raw require a page\n/],
    [
      'nvme log 0xca --sim',
      7,
      /This drive does not support log page CAh \(0xca\)\n {2}Get Log Page failed: Invalid Log Page /,
    ],
    ['nvme log smart --sim --nsid 7', 3, /Namespace 7 is not active\n {2}active: 1\n/],
    ['nvme features nope', 2, /^Unknown feature 'nope'\n/],
    ['nvme features --saved --default', 2, /^--default and --saved are mutually exclusive\n/],
    ['nvme features 0xc5 --sim', 7, /This drive does not support Vendor Specific \(0xc5\)\n/],
    ['nvme identify --csi 2', 2, /^--csi requires --cns\n/],
    ['nvme identify --raw --json', 2, /^--raw and --json are mutually exclusive\n/],
    ['nvme smart --sim --nsid 7', 3, /Namespace 7 is not active\n/],
    ['nvme regs --count 3', 2, /^--interval and --count require --watch\n/],
    ['nvme smart --drive nvme99', 3, /^Linux has no drive named nvme99\n/],
  ]
  for (const [args, code, said] of cases) {
    const ended = await run(...args.split(' '))
    expect([args, ended.code]).toEqual([args, code])
    expect(ended.stderr).toMatch(said)
  }
}, 180_000)
