import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isBuilt } from '../../cuda-native/test/native.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../cuda-native/test/standin/standin.js'
import { missing, run } from '../../layer-loader/test/filesystems/images.js'
import { gpunvme, json, scratch } from './gpunvme.js'

const MIB = 1024 * 1024

const cwd = scratch()
const at = (name: string) => join(cwd, name)

/** Six layers, four of which are about 1 MiB long. */
const MODEL = { layers: 4, targetBytes: 4 * MIB }
const LAYERS = 6

interface Pass {
  readonly bytes: { readonly gpu: number; readonly host: number; readonly drive: number }
  readonly layers: number
  readonly layersVerified: number
  readonly elapsedNs: number
  readonly predictedNs: number
  readonly copyBusyNs: number
  readonly driveBusyNs: number
}

interface Loaded {
  readonly to: { readonly memory: string; readonly gpu?: string }
  readonly tier: number
  readonly link: { readonly payloadLimitBytesPerSecond: number; readonly share: number }
  readonly layers: readonly { readonly name: string; readonly bytes: number; readonly place: string }[]
  readonly layersVerified: number
  readonly loaded: {
    readonly layers: number
    readonly bytes: number
    readonly elapsedNs: number
    readonly driveBusyNs: number
  }
  readonly passes: readonly Pass[]
  readonly decisions: readonly { readonly subject: string; readonly chosen: string }[]
}

async function loaded(...args: readonly string[]): Promise<Loaded> {
  const ended = await gpunvme(['load', ...args, '--json'], { cwd })
  if (ended.code !== 0) throw new Error(ended.stderr)
  return json(ended) as Loaded
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
const bytesOf = ({ bytes }: Pass) => bytes.gpu + bytes.host + bytes.drive
const chosenOf = ({ decisions }: Loaded, subject: string) =>
  decisions.find((choice) => choice.subject === subject)?.chosen

beforeAll(async () => {
  await writeDemoModel(at('model.gguf'), MODEL)
  await writeDemoModel(at('large.gguf'), { layers: 8, targetBytes: 64 * MIB })
  const ended = await gpunvme(['pack', 'model.gguf', '--image', 'drive.img'], { cwd })
  expect(ended.code).toBe(0)
})

describe('load into host memory', () => {
  const toHost = ['--image', 'drive.img', '--to', 'host']

  test('a model that fits is read once, and passes read nothing', async () => {
    const result = await loaded(...toHost, '--passes', '2')
    expect(result).toMatchObject({
      to: { memory: 'host' },
      tier: 0,
      layersVerified: LAYERS,
      loaded: { layers: LAYERS },
    })
    expect(new Set(result.layers.map(({ place }) => place))).toEqual(new Set(['host']))
    expect(result.loaded.bytes).toBe(sum(result.layers.map(({ bytes }) => bytes)))
    const { payloadLimitBytesPerSecond, share } = result.link
    expect(share).toBeCloseTo(((result.loaded.bytes / result.loaded.driveBusyNs) * 1e9) / payloadLimitBytesPerSecond, 9)
    expect(share).toBeLessThan(1)
    expect(result.passes.map(({ bytes }) => bytes)).toEqual([
      { gpu: 0, host: result.loaded.bytes, drive: 0 },
      { gpu: 0, host: result.loaded.bytes, drive: 0 },
    ])
  })

  test('layers that are read at the same time do not exceed the rate of the link', async () => {
    const { loaded: all, link } = await loaded('large.gguf', '--sim', '--to', 'host')
    expect(all.layers).toBe(10)
    expect(link.share).toBeGreaterThan(0.8)
    expect(link.share).toBeLessThan(1)
  })

  test('layers that do not fit are read in every pass, close to the predicted time', async () => {
    const result = await loaded(...toHost, '--vram', '0', '--ram', '3MiB', '--passes', '3')
    const onDrive = sum(result.layers.flatMap(({ bytes, place }) => (place === 'drive' ? [bytes] : [])))
    expect(onDrive).toBeGreaterThan(0)
    expect(result.passes.map(({ bytes }) => bytes.drive)).toEqual([onDrive, onDrive, onDrive])
    for (const pass of result.passes) {
      expect(pass).toMatchObject({ layers: LAYERS, layersVerified: LAYERS })
      expect(bytesOf(pass)).toBe(sum(result.layers.map(({ bytes }) => bytes)))
    }
    // Modelled time does not depend on the machine. The last pass does not prefetch.
    const [elapsed, predicted] = [
      sum(result.passes.map(({ elapsedNs }) => elapsedNs)),
      sum(result.passes.map(({ predictedNs }) => predictedNs)),
    ]
    expect(elapsed / predicted).toBeGreaterThan(0.7)
    expect(elapsed / predicted).toBeLessThan(1.4)
    // Prefetches between passes count, so that the rate does not exceed the link.
    const busyNs = sum(result.passes.map(({ driveBusyNs }) => driveBusyNs))
    const { payloadLimitBytesPerSecond } = result.link
    expect((3 * onDrive) / busyNs).toBeLessThan(payloadLimitBytesPerSecond / 1e9)
  })

  test('layers are split if memory is too small for slots of whole layers', async () => {
    expect((await gpunvme(['pack', 'large.gguf', '--image', 'large.img'], { cwd })).code).toBe(0)
    const args = ['large.gguf', '--image', 'large.img', '--to', 'host', '--ram', '12MiB'] as const
    const { layers, layersVerified, passes, decisions } = await loaded(...args, '--passes', '2')
    expect(layers.map(({ name }) => name).slice(0, 4)).toEqual([
      'embedding',
      'layer 0 part 1 of 2',
      'layer 0 part 2 of 2',
      'layer 1 part 1 of 2',
    ])
    expect(decisions).toContainEqual(expect.objectContaining({ subject: 'layers', chosen: 'split' }))
    expect([layers.length, layersVerified]).toEqual([18, 18])
    for (const pass of passes) expect(bytesOf(pass)).toBe(sum(layers.map(({ bytes }) => bytes)))
    const { stdout, stderr } = await gpunvme(['load', ...args], { cwd })
    expect(stderr).toMatch(/layers +split: 10 layers, 8 of them in 16 parts of at most [\d.]+ MiB; memory is too small/)
    expect(stdout).toMatch(/Plan for "gpunvme demo": 10 layers, 8 of them in 16 parts, [^]*PLACE +PARTS/)
    expect(stdout).toMatch(/verified {2}18 of 18 parts: every byte/)
    const budget = [
      '--tier',
      '2',
      '--vram',
      '12MiB',
      '--ram',
      '0',
      '--gpu-link',
      '4x16',
      '--check-rate',
      '1GB',
    ] as const
    const planned = json(await gpunvme(['plan', 'large.gguf', ...budget, '--json'], { cwd }))
    expect(planned).toMatchObject({ layers: layers.map(({ name }) => ({ name })) })
  })

  test('the text has the drive, the plan, resident layers, each pass and the verification', async () => {
    const { stdout, stderr } = await gpunvme(['load', ...toHost, '--ram', '3MiB', '--passes', '2'], { cwd })
    expect(stdout).toMatch(
      /^SIMULATED {2}WD PC SN740 512GB \(profile sn740, image drive\.img\)\nPlan for "gpunvme demo"/,
    )
    expect(stdout).toMatch(/\nloaded {4}2 layers, [^]* kept in host memory: modelled /)
    expect(stdout).toMatch(
      /\nPASS +HOST +DRIVE +MODELLED +PREDICTED +READ RATE +WALL\n +1 .*\n +2 .*\ntotal {5}2 passes in modelled .* predicted; read at/,
    )
    expect(stdout).toMatch(
      /\nverified {2}6 of 6 layers: every byte, against the checksums in the image, in host\s+memory\n$/,
    )
    expect(stderr).toMatch(/^gpu +none: requested\nengine +host for sim:sn740: works with every transport\n/)
  })

  test('--no-verify reports no verified layers', async () => {
    const result = await loaded(...toHost, '--no-verify')
    expect([result.layersVerified, chosenOf(result, 'verification')]).toEqual([0, 'off'])
  })

  test('a budget that is too small is rejected with the needed size and the option', async () => {
    const { code, stderr } = await gpunvme(['load', ...toHost, '--ram', '1MiB'], { cwd })
    expect(code).toBe(7)
    expect(stderr).toMatch(
      /host memory: [\d.]+ MiB at least, 1 MiB given\n {2}each slot .*\n {2}Try: raise --ram to at least that\n$/,
    )
  })

  test.each(['3MiB', '1GiB'])(
    'SIGINT in a pass with %s of memory ends the command, and the drive can be opened again',
    async (ram) => {
      const args = ['load', ...toHost, '--ram', ram, '--passes', '100000']
      const ended = await gpunvme(args, {
        cwd,
        onStderr: (text, running) => text.includes('Each pass provides') && running.kill('SIGINT'),
      })
      expect([ended.code, ended.stderr]).toEqual([130, expect.stringContaining('Interrupted by SIGINT') as string])
      expect((await loaded(...toHost)).layersVerified).toBe(LAYERS)
    },
  )
})

describe.skipIf(!hasStandin || !isBuilt)(
  `load into the memory of a GPU, on the stand-in${skippedWithoutStandin}`,
  () => {
    const standin = useStandin()
    // Defaults that the addon sets before it starts the driver.
    beforeAll(
      () => void Object.assign(process.env, { CUDA_MODULE_LOADING: 'EAGER', CUDA_DEVICE_MAX_CONNECTIONS: '32' }),
    )
    const sim = ['--image', 'drive.img', '--profile', 'ideal', '--real-time']

    test('layers are copied to the GPU, which verifies them and submits the commands', async () => {
      const result = await loaded(...sim, '--to', 'gpu', '--vram', '3950KiB', '--ram', '2MiB', '--passes', '2')
      expect(result).toMatchObject({
        to: { memory: 'gpu', gpu: expect.any(String) as string },
        tier: 1,
        layersVerified: LAYERS,
      })
      expect(chosenOf(result, 'engine')).toBe('cuda')
      expect(result.loaded.driveBusyNs).toBeGreaterThan(0)
      expect(result.loaded.driveBusyNs).toBeLessThan(result.loaded.elapsedNs)
      for (const { bytes, copyBusyNs } of result.passes) {
        expect(bytes.gpu).toBeGreaterThan(0)
        expect(bytes.drive).toBeGreaterThan(0)
        expect(copyBusyNs).toBeGreaterThan(0)
      }
      expect(standin.live()).toEqual(NOTHING)
    })

    test('too little GPU memory for single layers is rejected with the needed size', async () => {
      const { code, stderr } = await gpunvme(['load', ...sim, '--to', 'gpu', '--vram', '1MiB'], { cwd })
      expect([code, stderr]).toEqual([
        7,
        expect.stringMatching(/GPU memory: [\d.]+ MiB at least, 1 MiB given/) as string,
      ])
      expect(standin.live()).toEqual(NOTHING)
    })

    test('a GPU index that does not exist is rejected with the number of GPUs', async () => {
      const { code, stderr } = await gpunvme(['load', ...sim, '--gpu', '7'], { cwd })
      expect([code, stderr]).toEqual([2, 'There is no GPU 7\n  CUDA lists 1 GPU\n  Try: use --gpu 0\n'])
    })
  },
)

test('load --to gpu without a GPU is rejected, and --to host is suggested', async () => {
  const env = { GPUNVME_CUDA_LIBRARY: at('libcuda.so.1') }
  const { code, stderr } = await gpunvme(['load', '--image', 'drive.img', '--to', 'gpu'], { cwd, env })
  expect([code, stderr]).toEqual([3, expect.stringContaining('use --to host, which needs no GPU') as string])
})

describe('load without an image', () => {
  test('loads a plain file and reports no verification', async () => {
    const result = await loaded('model.gguf', '--file', '--to', 'host', '--ram', '3MiB')
    expect([result.layersVerified, chosenOf(result, 'verification')]).toEqual([0, 'none'])
    expect(result).not.toHaveProperty('drive')
    expect(bytesOf(result.passes[0]!)).toBeGreaterThan(3 * MIB)
  })

  test('--in-place on a drive with packed models suggests to omit it', async () => {
    const { code, stderr } = await gpunvme(['load', 'chat', '--image', 'drive.img', '--in-place'], { cwd })
    expect([code, stderr]).toEqual([3, expect.stringContaining('Try: omit --in-place') as string])
  })

  const lacks = missing('mkfs.ext4')
  const skipped = lacks === undefined ? '' : ` (skipped: ${lacks})`
  test.skipIf(lacks !== undefined)(`loads a file in place from the ext4 file system of a drive${skipped}`, async () => {
    await mkdir(at('files/models'), { recursive: true })
    await copyFile(at('model.gguf'), at('files/models/tiny.gguf'))
    run('mkfs.ext4', ['-q', '-F', '-d', at('files'), at('ext4.img'), '32m'])
    const args = ['--image', 'ext4.img', '--in-place', '--to', 'host']
    expect((await loaded('/models/tiny.gguf', ...args)).loaded.layers).toBe(LAYERS)
    const { code, stderr } = await gpunvme(['load', '/models/other.gguf', ...args], { cwd })
    expect([code, stderr]).toEqual([3, expect.stringContaining('Cannot read /models/other.gguf in place') as string])
  })

  test('loads from the drives of a set', async () => {
    const packing = await gpunvme(['pack', 'model.gguf', '--image', 'a.img', '--image', 'b.img', '--stripe'], { cwd })
    expect(packing.code).toBe(0)
    const result = await loaded('--image', 'a.img', '--image', 'b.img', '--to', 'host')
    expect(result).toMatchObject({ layersVerified: LAYERS, drive: { place: 'a.img, b.img', members: [{}, {}] } })
    const { code, stderr } = await gpunvme(['load', '--image', 'drive.img', '--image', 'model.gguf'], { cwd })
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('Try: name only the drive that has the model') as string,
    ])
  })

  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
    server = undefined
  })

  test('loads a model from a web server', async () => {
    const bytes = readFileSync(at('model.gguf'))
    const listening = createServer(({ headers, url }, response) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
      if (url !== '/models/a%20b.gguf?key=1') return void response.writeHead(404).end()
      const body = bytes.subarray(Number(first), Number(last) + 1)
      response.writeHead(206, { 'content-range': `bytes ${first}-${last}/${bytes.length}`, etag: '"1"' }).end(body)
    })
    server = listening
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const { port } = listening.address() as { port: number }
    const result = await loaded(`http://127.0.0.1:${port}/models/a%20b.gguf?key=1`, '--to', 'host')
    expect(result.loaded.layers).toBe(LAYERS)
    const { code, stderr } = await gpunvme(['load', `http://127.0.0.1:${port}/other.gguf`], { cwd })
    expect([code, stderr]).toEqual([3, expect.stringContaining('status 404') as string])
  })
})

test.each([
  ['--gpu 0 --to host --image drive.img', '--gpu and --to host are mutually exclusive'],
  ['model.gguf --file --sim', '--file and drive options are mutually exclusive'],
  ['--file', '--file requires a MODEL'],
  ['/m.gguf --in-place', '--in-place requires a drive'],
  ['--image drive.img --in-place', '--in-place requires a drive and the path of a MODEL on it'],
  ['--image drive.img --drive 0000:0b:00.0', '--image and --drive are mutually exclusive'],
  ['https://localhost/m.gguf --image drive.img', 'A URL and drive options are mutually exclusive'],
  ['https://user:pw@localhost/m.gguf', 'The URL contains a user name or a password'],
  ['ftp://localhost/m.gguf', 'ftp: URLs are not supported'],
  ['model.gguf', 'load model.gguf --file, which loads the file itself'],
  ['--image drive.img --image drive.img', '--image drive.img is given more than once'],
  ['--image drive.img --to host --vram 8MiB', '--vram requires a GPU'],
  ['--image drive.img --tier 3', 'an integer from 1 to 2'],
  ['https://', 'MODEL is not a valid URL'],
  ['https://localhost/%zz.gguf', 'MODEL is not a valid URL'],
  ['--image drive.img --passes 0', 'an integer from 1'],
  ['--image drive.img --to disk', 'expected gpu, host'],
])('load rejects %s', async (args, headline) => {
  const { code, stderr } = await gpunvme(['load', ...args.split(' ')], { cwd })
  expect([code, stderr]).toEqual([2, expect.stringContaining(headline) as string])
})
