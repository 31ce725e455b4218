import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { beforeAll, describe, expect, test } from 'vitest'
import { built } from '../packages/cuda-native/test/programs/build.mjs'
import { packages, root, type Package } from './packages.js'
import { scratch } from './scratch.js'
import { installInto, packAll, run, unpack } from './tarballs.js'

const tarballs = await packAll()
const addon = `prebuilds/${process.platform}-${process.arch}/gpunvme_host.node`

describe.each(packages)('the packed @gpunvme/$name', ({ name }) => {
  const tarball = tarballs.get(name)!
  const unpacked = unpack(tarball)
  const files = [...unpacked.keys()]

  test('contains the license, its README and compiled code, and no tests', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    expect(files.some((file) => /^dist\/.*\.d\.ts$/.test(file))).toBe(true)
    expect(files.filter((file) => /\.(test|test-d|bench)\.|tsbuildinfo|^(src|test)\//.test(file))).toEqual([])
  })

  test('depends on other packages by version, not by `workspace:`', () => {
    const packed = JSON.parse(Buffer.from(unpacked.get('package.json')!).toString()) as Package['manifest']
    expect(JSON.stringify(packed.dependencies ?? {})).not.toContain('workspace:')
  })

  test('passes publint', async () => {
    const { messages } = await publint({
      pack: { tarball: Uint8Array.from(readFileSync(tarball)).buffer },
      strict: true,
    })
    expect(messages).toEqual([])
  })

  test('resolves with its types, as checked by attw', () => {
    // A problem makes attw exit with an error. The output shows that it checked this package.
    const report = run('attw', [tarball, '--profile', 'esm-only', '--no-color'], root)
    expect(report).toContain(`@gpunvme/${name}`)
    expect(report).not.toContain('No types')
  })
})

test('@gpunvme/nvme-spec installs no other package', async () => {
  const folder = scratch()
  await installInto(folder, [tarballs.get('nvme-spec')!])
  expect(readdirSync(join(folder, 'node_modules', '@gpunvme'))).toEqual(['nvme-spec'])
  expect(readdirSync(join(folder, 'node_modules')).filter((entry) => !entry.startsWith('.'))).toEqual(['@gpunvme'])
  const script = `import { CC } from '@gpunvme/nvme-spec'; console.log(CC.format(0x00460001))`
  expect(run('node', ['--input-type=module', '-e', script], folder)).toBe(
    'CC=0x00460001 { EN=1 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }\n',
  )
})

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const examples = [
  ...readme.matchAll(/<!-- example: (\S+) -->\n\n```js\n([\s\S]*?)```(?:\n\n```text\n([\s\S]*?)```)?/g),
].map(([, name = '', code = '', output = '']) => ({ name, code, output }))

test('the README has an example for each of the three kinds of users', () => {
  expect(examples.map(({ name }) => name)).toEqual(['tooling', 'ci', 'host'])
})

const managers = ['npm', 'pnpm', 'yarn'] as const
const folders = { npm: scratch(), pnpm: scratch(), yarn: scratch() }

describe.each(managers)('packages installed with %s', (manager) => {
  const folder = folders[manager]
  beforeAll(() => installInto(folder, [...tarballs.values()], manager), 120_000)

  test.each(examples)('the README example $name prints what the README says', ({ name, code, output }) => {
    writeFileSync(join(folder, `${name}.mjs`), code)
    expect(run('node', [`${name}.mjs`], folder)).toBe(output)
  })
})

describe('packages installed with npm', () => {
  const folder = folders.npm

  // The addon is built, and therefore packed, only if a compiler is installed.
  const hasAddon = unpack(tarballs.get('cuda-native')!).has(addon)
  const skipped = hasAddon ? '' : ' (skipped: [native] gpunvme_host is not built)'

  test.skipIf(!hasAddon)(`the package contains a native addon that loads${skipped}`, () => {
    const script = `import { loadHardwareHost } from '@gpunvme/cuda-native/host'
      const region = loadHardwareHost().allocate(1, 4096)
      region.store32(0, 0x600d)
      console.log(new Uint16Array(region.buffer)[0].toString(16))`
    expect(run('node', ['--input-type=module', '-e', script], folder)).toBe('600d\n')
    expect(existsSync(join(folder, 'node_modules/@gpunvme/cuda-native', addon))).toBe(true)
  })

  test('provide the gpunvme command', () => {
    expect(run('npx', ['--no-install', 'gpunvme', '--help'], folder)).toContain('Usage: gpunvme')
  })
})

const driveAddon = 'packages/cuda-native/gpu-check/build/gpunvme_drive.node'
run('node', ['packages/cuda-native/gpu-check/build-native.mjs'], root)
const canCheck =
  existsSync(join(root, driveAddon)) &&
  [...unpack(tarballs.get('cuda-native')!).keys()].some((path) => path.endsWith('/gpunvme_cuda.node'))
const withoutCompiler = canCheck ? '' : ' (skipped: [native] the native addons are not built)'

describe.skipIf(!canCheck)(`gpu-check, packed for a machine with only NVIDIA's driver${withoutCompiler}`, () => {
  const folder = scratch()

  /** Runs the checks with a minimal environment. Uses Node of this machine, since packing it takes minutes. */
  function check(args: readonly string[], environment: Record<string, string> = {}) {
    const out = scratch()
    const path = `${dirname(process.execPath)}:/usr/bin:/bin`
    const env = { PATH: path, HOME: '/nonexistent', OUT: out, ...environment }
    const { status, stderr } = spawnSync('sh', [join(folder, 'run.sh'), ...args], { env, cwd: out, encoding: 'utf8' })
    const report = JSON.parse(readFileSync(join(out, 'gpu-check.json'), 'utf8')) as {
      readonly outcome: string
      readonly cuda: { readonly state?: string }
      readonly checks: readonly { readonly id: string; readonly verdict: string }[]
    }
    return { status, stderr, report }
  }

  test('reports the state of CUDA that prevents the checks, and that nothing was checked', () => {
    const tarballFolder = dirname(tarballs.get('cuda-native')!)
    run('node', ['scripts/gpu-check/pack.mjs', '--no-node', '--out', folder, '--tarballs', tarballFolder], root)
    const { status, stderr, report } = check([], { GPUNVME_CUDA_LIBRARY: '/nonexistent/libcuda.so.1' })
    expect(stderr).toBe('')
    expect(status).toBe(3)
    expect(report).toMatchObject({ outcome: 'no-gpu', cuda: { state: 'library-missing' }, checks: [] })
  })

  test('passes on the stand-in for libcuda', { timeout: 300_000 }, async () => {
    const library = await built('standin/gpu-check')
    const ids = ['attributes', 'ptx-load', 'plans-several', 'fault-status', 'speed']
    const { status, stderr, report } = check(['--quick', '--only', ids.join(',')], { GPUNVME_CUDA_LIBRARY: library })
    expect(stderr).toBe('')
    const verdicts = Object.fromEntries(report.checks.map(({ id, verdict }) => [id, verdict]))
    expect(verdicts).toEqual(Object.fromEntries(ids.map((id) => [id, 'passed'])))
    expect(status).toBe(0)
  })

  test('contains the command, and streams a model to a stand-in for GPU memory', { timeout: 300_000 }, async () => {
    const env = {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GPUNVME_CUDA_LIBRARY: await built('standin/gpu-check'),
    }
    const ran = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, cwd: folder, encoding: 'utf8' })
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
      return stdout
    }
    ran('node_modules/@gpunvme/tools/bin/gpunvme.js', 'demo', '--size', '16MiB', '--keep', 'model.gguf', '--quiet')
    expect(ran('stream-to-gpu.mjs', 'model.gguf')).toMatch(/^3 passes: \d{8} bytes verified in GPU memory/m)
  })
})
