import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { profiles, RamMedia, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { ToolsError } from '../../src/command-line/tools-error.js'
import type { OpenedTransport } from '../../src/drive/opened-transport.js'
import { gpunvme, json, scratch } from '../gpunvme.js'
import { pattern } from '../simulated-drive.js'
import { firstLight, outcomesOf, readReport, stepIn } from './run.js'

const MIB = 1024 * 1024
const cwd = scratch()
/** With a GPU in Linux, its steps fail if CUDA is not available. */
const hasGpu = existsSync('/proc/driver/nvidia/gpus')
/** Hides GPUs from CUDA. */
const env = { GPUNVME_CUDA_LIBRARY: '/nonexistent/libcuda.so.1' }
const withoutGpu = {
  doorbell: 'skipped',
  'read-gpu-doorbell': 'skipped',
  'read-cpu-doorbell': 'skipped',
  tier: 'skipped',
}

const SERIAL = 'S64DMX0T123456'
const EUI64 = Uint8Array.of(0xe8, 0x23, 0x8f, 0xa6, 0xbf, 0x53, 0, 1)
const NGUID = Uint8Array.from({ length: 16 }, (_, at) => 0xc0 + at)

/** Opens a simulated drive with a pattern, secret identifiers and faults. */
function open(faults?: FaultPlan): Promise<OpenedTransport> {
  const media = new RamMedia(4 * MIB)
  media.write(0, pattern(4 * MIB))
  const options: SimulationOptions = {
    namespaces: [{ blockBytes: 512, media, eui64: EUI64, nguid: NGUID }],
    profile: { ...profiles.ideal, identify: { SN: SERIAL, MN: `Example ${SERIAL}`, FR: '1.0' } },
    ...(faults && { faults }),
  }
  const { transport } = simulate(options)
  return Promise.resolve({
    ...{ name: 'sim', transport, time: 'modelled', link: undefined, serial: SERIAL },
    hostError: () => undefined,
    close: () => transport.close(),
  })
}

beforeAll(async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * MIB })
  expect((await gpunvme(['pack', 'model.gguf', '--image', 'drive.img', '--capacity', '32MiB'], { cwd })).code).toBe(0)
})

describe('first-light without a GPU', () => {
  test.skipIf(hasGpu)('reads a simulated drive twice, skips what needs a GPU, and writes a report', async () => {
    const { code, stdout, stderr } = await gpunvme(['first-light', '--sim'], { cwd, env })
    expect([code, stderr]).toEqual([0, ''])
    const [, name = ''] = /^Report: (first-light-\d{4}-\d\d-\d\dT\d{6}Z\.json)$/m.exec(stdout) ?? []
    const report = readReport(join(cwd, name))
    expect(outcomesOf(report)).toEqual({
      ...{ machine: 'passed', reference: 'skipped', bind: 'skipped', identify: 'passed', 'read-cpu': 'passed' },
      ...{ ...withoutGpu, load: 'skipped', restore: 'skipped' },
    })
    expect(report).toMatchObject({ outcome: 'incomplete', drive: { simulated: true, profile: 'sn740' } })
    expect(stepIn(report, 'read-cpu').reads).toMatchObject({ comparedWith: 'cpu', extents: 16, uniform: 16 })
    expect(stdout).toMatch(/^ 1 {2}machine {12}passed /m)
    expect(stdout).toMatch(/^11 {2}restore {12}skipped /m)
    expect(stdout).toContain('\n3 steps passed, 0 failed, 8 skipped\nResult: incomplete\nReport: ')
    expect(stdout).toContain('16 of them contain a single repeated byte: addresses are not proven')
    expect(stdout).not.toContain('send')
    expect(readdirSync(cwd).filter((each) => each.endsWith('.new'))).toEqual([])

    const again = await gpunvme(['first-light', '--sim', '--output', name], { cwd, env })
    expect([again.code, again.stdout]).toEqual([2, ''])
    expect(again.stderr).toBe(`Report file ${name} already exists\n  Try: pass a new file name to --output\n`)
  })

  test('keeps a file beside the report, whatever its name', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'r.json.new'), 'mine')
    await gpunvme(['first-light', '--sim', '--output', 'r.json'], { cwd: folder, env })
    expect(readFileSync(join(folder, 'r.json.new'), 'utf8')).toBe('mine')
    expect(readdirSync(folder).sort()).toEqual(['r.json', 'r.json.new'])
  })

  test.skipIf(hasGpu)('compares reads of an image with its file, and loads the smallest model of it', async () => {
    const ended = await gpunvme(['first-light', '--image', 'drive.img', '--output', 'image.json', '--json'], {
      cwd,
      env,
    })
    expect([ended.code, ended.stderr]).toEqual([0, ''])
    const report = readReport(join(cwd, 'image.json'))
    expect(json(ended)).toEqual(report)
    expect(stepIn(report, 'reference').reference).toMatchObject({ comparedWith: 'image', capacityBytes: 32 * MIB })
    expect(stepIn(report, 'read-cpu')).toMatchObject({ outcome: 'passed', reads: { comparedWith: 'image' } })
    expect(stepIn(report, 'load')).toMatchObject({ outcome: 'passed', load: { layers: 4, layersVerified: 4, tier: 0 } })
  })

  test.each([
    ['no drive', [], 2, 'No drive is named'],
    ['a missing image', ['--image', 'no.img'], 3, 'Cannot use no.img as a drive'],
    ['a real and a simulated drive', ['--drive', '0b:00.0', '--sim'], 2, 'mutually exclusive'],
    ['a missing directory', ['--sim', '--output', 'no/report.json'], 3, 'Cannot create no/report.json'],
    ['a missing GPU', ['--sim', '--gpu', '0'], 3, 'omit --gpu to run only the steps that need no GPU'],
    ['an empty file name', ['--sim', '--output', ''], 2, '--output requires a file name'],
    ['a driver for a simulated drive', ['--sim', '--to', 'kmod'], 2, '--to requires --drive'],
    ['a serial number for a simulated drive', ['--sim', '--serial', ''], 2, '--serial requires --drive'],
    ['--yes for a simulated drive', ['--sim', '--yes'], 2, '--yes requires --drive'],
    ['--yes without --serial', ['--drive', '0b:00.0', '--yes'], 2, '--yes requires --serial'],
    ['a transport for a real drive', ['--drive', '0b:00.0', '--transport', 'vfio'], 2, 'mutually exclusive'],
    ['a transport of real drives', ['--transport', 'vfio'], 2, '--transport vfio requires --drive'],
    ['an unknown transport', ['--transport', 'bogus'], 2, "Unknown transport 'bogus'"],
    ['an unknown profile', ['--profile', 'bogus'], 2, 'bogus'],
  ])('rejects %s, and creates no report', async (_, args, code, text) => {
    const folder = scratch()
    const ended = await gpunvme(['first-light', ...args], { cwd: folder, env })
    expect(ended.stderr).toContain(text)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('failures of first-light', () => {
  const corrupt = { kind: 'corrupt-data', byte: 100, xor: 4 } as const
  const atSecond = { opcode: 2, lba: [2048, 4095] } as const

  test('reports the offset of differing bytes, and exits with code 6', async () => {
    const faults: FaultPlan = { rules: [{ match: atSecond, action: corrupt }] }
    const { code, report, stdout } = await firstLight(cwd, {}, { open: () => open(faults) })
    expect(code).toBe(6)
    expect(report.outcome).toBe('failed')
    expect(stepIn(report, 'read-cpu')).toMatchObject({
      outcome: 'failed',
      error: { code: 'ERR_GPUNVME_BYTES_DIFFER', message: '1 of 4 extents differ from a read by the CPU' },
      reads: { differing: [{ offsetBytes: MIB, differingBytes: expect.any(Number) as number }] },
    })
    expect(stdout).toMatch(/ 5 {2}read-cpu {11}failed .* 1 of 4 extents differ from a read by the CPU/)
    // Steps that do not depend on it run.
    expect(stepIn(report, 'load').reason).toContain('no packed model')
  })

  test('a drive that cannot be brought up fails identify, and steps that need it are skipped', async () => {
    const faults: FaultPlan = { rules: [{ match: {}, action: { kind: 'remove-device' } }] }
    const { code, report } = await firstLight(cwd, {}, { open: () => open(faults) })
    expect(code).toBe(5)
    expect(stepIn(report, 'identify')).toMatchObject({ outcome: 'failed', error: { code: 'ERR_GPUNVME_DEVICE_LOST' } })
    for (const step of ['read-cpu', 'doorbell', 'tier', 'load'] as const)
      expect(stepIn(report, step)).toEqual({ step, outcome: 'skipped', reason: 'step identify did not pass' })
  })

  test('after a signal, the remaining steps are skipped and the report is complete', async () => {
    const controller = new AbortController()
    const opening = async () => {
      controller.abort(new Error('SIGINT'))
      return open()
    }
    const { code, report } = await firstLight(cwd, {}, { open: opening, signal: controller.signal })
    expect([code, report.outcome]).toEqual([130, 'interrupted'])
    expect(stepIn(report, 'identify').outcome).toBe('passed')
    expect(stepIn(report, 'read-cpu')).toMatchObject({ outcome: 'skipped', reason: 'interrupted by a signal' })
    expect(report.steps.at(-1)).toMatchObject({ step: 'restore', reason: 'this command did not bind the drive' })
  })

  test('after a signal, a failed restore determines the exit code', async () => {
    const controller = new AbortController()
    const opening = async () => {
      controller.abort(new Error('SIGINT'))
      return { ...(await open()), close: () => Promise.reject(new ToolsError('ERR_GPUNVME_X', 'device', 'stuck')) }
    }
    const { code, report } = await firstLight(cwd, {}, { open: opening, signal: controller.signal })
    expect([code, report.outcome]).toEqual([5, 'failed'])
    expect(report.steps.at(-1)).toMatchObject({ step: 'restore', error: { message: 'stuck' } })
  })

  test('closes the drive if the report cannot be saved, and throws the first error', async () => {
    const folder = join(cwd, 'deleted')
    mkdirSync(folder)
    let closes = 0
    const opening = async () => {
      const opened = await open()
      rmSync(folder, { recursive: true })
      return { ...opened, close: () => opened.close().finally(() => closes++) }
    }
    await expect(firstLight(folder, {}, { open: opening })).rejects.toThrow(/^Cannot write .*deleted.*\(ENOENT\)/)
    expect(closes).toBe(1)
  })

  test('rejects a drive of another size than the image before it reads', async () => {
    const { code, report } = await firstLight(cwd, { image: join(cwd, 'drive.img') }, { open: () => open() })
    expect(code).toBe(6)
    expect(stepIn(report, 'read-cpu').error).toEqual({
      code: 'ERR_GPUNVME_SIZE_DIFFERS',
      message: 'The namespace differs from the image file',
    })
  })
})

test('the report contains no serial number, unique identifier, name or path, even if an error contains them', async () => {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  const secrets = [SERIAL, hex(EUI64), hex(NGUID), cwd, homedir(), hostname(), tmpdir()]
  const uuid = '8f14e45f-ceea-467a-9b36-0c0a0d2c2e11'
  const dashed = [...EUI64].map((byte) => byte.toString(16).padStart(2, '0')).join('-')
  const failing = async () => {
    const opened = await open()
    let reads = 0
    // Fails in read-cpu, after identify has shown the identifiers to the redactor.
    const alloc: typeof opened.transport.dma.alloc = (lengthBytes, options) => {
      if (lengthBytes === MIB && reads++ === 0)
        throw new Error([...secrets, dashed, `GPU-${uuid}`].map((secret) => `lost ${secret}`).join('\n'))
      return opened.transport.dma.alloc(lengthBytes, options)
    }
    return { ...opened, transport: { ...opened.transport, dma: { ...opened.transport.dma, alloc } } }
  }
  const { report, text } = await firstLight(cwd, {}, { open: failing })
  const { error } = stepIn(report, 'read-cpu')
  expect(error).toMatchObject({
    code: 'ERR_GPUNVME_UNEXPECTED',
    message: expect.stringMatching(/^Error: lost <ID>\nlost <ID>\n[^]*\nlost <UUID>$/) as string,
  })
  expect(stepIn(report, 'identify').controller).toMatchObject({ model: 'Example <ID>' })
  for (const secret of [...secrets, dashed, uuid]) if (secret !== hostname()) expect(text).not.toContain(secret)
  // A short name may be part of other words.
  const names = [hostname(), userInfo().username].filter((name) => name !== 'root' && name !== 'localhost')
  for (const name of names) expect(text.split(/[^A-Za-z0-9_-]+/)).not.toContain(name)
})

test('while a step runs, the file on the disk names it', async () => {
  const folder = scratch()
  let during: unknown
  const opening = async () => {
    const { outcome, steps } = readReport(join(folder, readdirSync(folder)[0]!))
    during = { outcome, last: steps.at(-1) }
    return open()
  }
  await firstLight(folder, {}, { open: opening })
  expect(during).toEqual({ outcome: 'running', last: { step: 'identify', outcome: 'running' } })
})
