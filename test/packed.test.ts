import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { afterAll, describe, expect, test } from 'vitest'
import { packages, root, type Package } from './packages.js'
import { installInto, packAll, removeScratchFolders, run, scratchFolder, tar } from './tarballs.js'

const tarballs = packAll()
const addon = `prebuilds/${process.platform}-${process.arch}/gpunvme_host.node`
afterAll(removeScratchFolders)

describe.each(packages)('the packed @gpunvme/$name', ({ name }) => {
  const tarball = tarballs.get(name)!
  const files = tar(['-t'], tarball).trim().split('\n')

  test('holds its licence, its README and compiled code, and no tests', () => {
    expect(files).toEqual(expect.arrayContaining(['package/LICENSE', 'package/README.md', 'package/package.json']))
    expect(files.some((file) => /^package\/dist\/.*\.d\.ts$/.test(file))).toBe(true)
    expect(files.filter((file) => /\.(test|test-d|bench)\.|tsbuildinfo|^package\/(src|test)\//.test(file))).toEqual([])
  })

  test('refers to its siblings by version, not by workspace', () => {
    const packed = JSON.parse(tar(['-xO', 'package/package.json'], tarball)) as Package['manifest']
    expect(JSON.stringify(packed.dependencies ?? {})).not.toContain('workspace:')
  })

  test('passes publint', async () => {
    const { messages } = await publint({
      pack: { tarball: Uint8Array.from(readFileSync(tarball)).buffer },
      strict: true,
    })
    expect(messages).toEqual([])
  })

  test('resolves with its types, by attw', () => {
    // attw's exit status is what fails this; the look at its output makes sure that it looked at something.
    const report = run('attw', [tarball, '--profile', 'esm-only', '--no-color'], root)
    expect(report).toContain(`@gpunvme/${name}`)
    expect(report).not.toContain('No types')
  })
})

test('@gpunvme/nvme-spec alone is all that its user installs', () => {
  const folder = scratchFolder('spec')
  installInto(folder, [tarballs.get('nvme-spec')!])
  expect(readdirSync(join(folder, 'node_modules', '@gpunvme'))).toEqual(['nvme-spec'])
  expect(readdirSync(join(folder, 'node_modules')).filter((entry) => !entry.startsWith('.'))).toEqual(['@gpunvme'])
  const script = `import { CC } from '@gpunvme/nvme-spec'; console.log(CC.format(0x00460001))`
  expect(run('node', ['--input-type=module', '-e', script], folder)).toBe(
    'CC=0x00460001 { EN=1 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }\n',
  )
})

describe("the README's examples, from the packed packages", () => {
  const folder = scratchFolder('readme')
  installInto(folder, [...tarballs.values()])
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const examples = [
    ...readme.matchAll(/<!-- example: (\S+) -->\n\n```js\n([\s\S]*?)```(?:\n\n```text\n([\s\S]*?)```)?/g),
  ]

  test('are three, one for each kind of user', () => {
    expect(examples.map((example) => example[1])).toEqual(['tooling', 'ci', 'host'])
  })

  test.each(examples.map((example) => [example[1]!, example[2]!, example[3]] as const))(
    '%s runs and prints what the README says',
    (name, code, output) => {
      const file = join(folder, `${name}.mjs`)
      writeFileSync(file, code)
      const printed = run('node', [file], folder)
      expect(output, 'the README shows no output for it').toBeDefined()
      expect(printed).toBe(output)
    },
  )

  // Built where a compiler is, and then packed.
  const hasAddon = tar(['-t'], tarballs.get('cuda-native')!).includes(`package/${addon}\n`)
  const skipped = hasAddon ? '' : ' (skipped: [native] gpunvme_host is not built)'

  test.skipIf(!hasAddon)(`the native addon comes with its package, and loads${skipped}`, () => {
    const script = `import { loadHardwareHost } from '@gpunvme/cuda-native/host'
      const region = loadHardwareHost().allocate(1, 4096)
      region.store32(0, 0x600d)
      console.log(new Uint16Array(region.buffer)[0].toString(16))`
    expect(run('node', ['--input-type=module', '-e', script], folder)).toBe('600d\n')
    expect(existsSync(join(folder, 'node_modules/@gpunvme/cuda-native', addon))).toBe(true)
  })

  test('the gpunvme command is there', () => {
    expect(run('npx', ['--no-install', 'gpunvme', '--help'], folder)).toContain('Usage: gpunvme')
  })
})
