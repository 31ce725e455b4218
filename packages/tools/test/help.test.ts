import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { SECTIONS } from '../src/verbs.js'
import { VERBS } from './all-verbs.js'
import { oneCell } from './bench-results.js'
import { commandsBelow, isVerb } from '../src/command-line/place.js'
import { createProgram, loadVerb } from '../src/command-line/program.js'
import { gpunvme, scratch, testSession } from './gpunvme.js'
import { problemsOf, schemas } from './schema-check.js'
import { pageOf } from './schema-text.js'
import { writeMoe } from './moe-model.js'
import { machines, writeMachine } from './machines/index.js'

const MIB = 1024 * 1024
const cwd = scratch()
const names = VERBS.map(({ name }) => name)
/** Groups and their verbs, in the order of the help. */
const places = SECTIONS.flatMap(({ entries }) => entries).flatMap(({ name }) => [
  name,
  ...names.filter((each) => each.startsWith(`${name} `)),
])
/** A minimal set of machines that covers every member of the JSON results. */
const SHAPED = [
  ...['amd-b650-vfio-ready', 'laptop-optimus-d3cold', 'server-epyc-two-sockets', 'amd-dkms-trap', 'amd-radeon-7900'],
  ...['vm-firecracker-h100', 'intel-vmd', 'server-xeon-plx', 'vm-qemu-nvme-only', 'container', 'cloud-a10'],
  ...['amd-two-cards-bifurcated', 'intel-drive-in-x2-slot', 'drive-dead', 'amd-b550-chipset-ssd', 'intel-z790-luks'],
  'intel-no-driver',
]

/** Runs whose results have other members than those of the examples. Those of verify end with exit code 6. */
const MORE_RUNS = [
  'demo --size 4MiB --profile ideal --json',
  'load --image member-a.img --image member-b.img --to host --json',
  'load demo.gguf --sim --to host --ram 24MiB --json',
  'load --image damaged.img --to host --json',
  'models ls --image damaged.img --json',
  'models verify --image damaged.img --json',
  'models verify --image unreadable.img --json',
  'inspect moe.gguf --json',
  'plan moe.gguf --vram 2MiB --ram 2MiB --gpu-link 3x8 --json',
  'plan moe.gguf --vram 1MiB --ram 256KiB --json',
  'plan model.gguf --vram 3700KiB --ram 0B --tier 2 --json',
]

/** Record of a drive that is gone. */
const BOUND = {
  ...{ schema: 'gpunvme.binding/1', name: 'nvme1', serial: 'S1', model: 'Example', bootId: null, holder: null },
  since: '2026-01-01T00:00:00.000Z',
  by: { user: 'user', command: 'gpunvme bind nvme1' },
  record: {
    ...{ version: 1, bdf: '0000:7f:00.0', driver: 'vfio-pci', previous: 'nvme', override: '', isProbed: false },
    ...{ powerControl: 'auto', begun: [] },
  },
}

/** Verbs in an order in which examples find the files of earlier ones. */
const inOrder = ['pack', ...names.filter((name) => !['pack', 'models rm'].includes(name)), 'models rm']

beforeAll(async () => {
  for (const machine of machines) if (SHAPED.includes(machine.name)) writeMachine(machine, join(cwd, machine.name))
  writeFileSync(join(cwd, 'controller.bin'), new Uint8Array(4096))
  writeFileSync(join(cwd, 'results.json'), JSON.stringify(oneCell()))
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * MIB })
  await writeMoe(join(cwd, 'moe.gguf'), { used: 2 })
  const members = ['--image', 'member-a.img', '--image', 'member-b.img']
  expect((await gpunvme(['pack', 'model.gguf', ...members, '--stripe'], { cwd })).code).toBe(0)
  // A byte of the first superblock, and one of the model.
  for (const [name, ...offsets] of [['damaged.img', 100] as const, ['unreadable.img', 100, 3 * MIB] as const]) {
    expect((await gpunvme(['pack', 'model.gguf', '--image', name], { cwd })).code).toBe(0)
    for (const offset of offsets) flipByte(join(cwd, name), offset)
  }
})

function flipByte(path: string, offset: number): void {
  const bytes = readFileSync(path)
  bytes[offset]! ^= 1
  writeFileSync(path, bytes)
}

async function helpOf(verb: string): Promise<string> {
  return (await gpunvme(['help', ...verb.split(' ')], { cwd })).stdout
}

test('the help lists every verb and every exit code, in 80 columns', async () => {
  const { code, stdout, stderr } = await gpunvme(['--help'], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  for (const { entries } of SECTIONS) {
    for (const { name } of entries) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
  }
  for (const exit of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`\\b${exit}  `))
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect((await gpunvme(['help'], { cwd })).stdout).toBe(stdout)
})

test('help VERB and VERB --help print the same text', async () => {
  expect((await gpunvme(['inspect', '--help'], { cwd })).stdout).toBe(await helpOf('inspect'))
})

test('help drives lists every option that the help of a verb omits', async () => {
  const program = await createProgram(testSession(), [])
  const verbs = commandsBelow(program).filter(isVerb)
  for (const verb of verbs) await loadVerb(verb, testSession())
  const omitted = new Set(
    verbs.flatMap(({ options }) => options.filter(({ hidden }) => hidden)).map(({ flags }) => flags),
  )
  const listed = new Set((await helpOf('drives')).split('\n').map((line) => line.trim().split('  ')[0]))
  expect(omitted.size).toBeGreaterThan(5)
  expect([...omitted].filter((flags) => !listed.has(flags))).toEqual([])
})

describe.each(inOrder)('%s', (verb) => {
  test('the verb has help in 80 columns with --json and examples', async () => {
    const help = await helpOf(verb)
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(help).toContain(`Usage: gpunvme ${verb} `)
    expect(examplesIn(help).length).toBeGreaterThan(0)
    expect(help).toContain('--json')
  })

  test('the examples in the help of the verb succeed', { timeout: 300_000 }, async () => {
    const help = await helpOf(verb)
    for (const example of examplesIn(help)) {
      const words = example.split(' ')
      const { code, stdout, stderr } = await gpunvme(words, { cwd })
      if (words.includes('--json')) {
        const results = help.includes('--root <dir>') ? await resultsOfDescribed(words) : [stdout]
        results.forEach(checkResults)
      }
      // doctor diagnoses the running machine, which may support only the simulator.
      // bench p2p needs CUDA.
      const done = verb === 'doctor' ? [0, 7] : verb === 'bench p2p' ? [0, 3] : [0]
      const isDone = done.includes(code ?? -1)
      expect({ example, done: isDone, stderr: isDone ? '' : stderr }).toEqual({
        example,
        done: true,
        stderr: '',
      })
    }
  })
})

function examplesIn(help: string): string[] {
  return [...help.matchAll(/^ {2}\$ gpunvme (.*)$/gm)].map(([, args = '']) => args)
}

/**
 * Returns what an example prints for each described machine. Results of this machine depend on its devices and the
 * user.
 */
async function resultsOfDescribed(words: readonly string[]): Promise<string[]> {
  const ended = []
  for (const name of SHAPED) ended.push(await gpunvme([...words, '--root', name], { cwd }))
  return ended.map(({ stdout }) => stdout)
}

describe('results of additional runs fit their schemas:', () => {
  test.each(MORE_RUNS)('%s', async (line) => {
    const { code, stdout } = await gpunvme(line.split(' '), { cwd })
    expect(code).toBe(line.startsWith('models verify') ? 6 : 0)
    checkResults(stdout)
  })

  test('list of one drive, and of a drive that gpunvme bound', async () => {
    const bound = join(cwd, 'intel-no-driver/run/gpunvme')
    mkdirSync(bound, { recursive: true })
    writeFileSync(join(bound, `${BOUND.record.bdf}.json`), JSON.stringify(BOUND))
    for (const words of [['list', BOUND.record.bdf], ['list']])
      checkResults((await gpunvme([...words, '--json', '--root', 'intel-no-driver'], { cwd })).stdout)
  })
})

/** Schemas of the results so far. */
const seen = new Set<string>()

/** Checks results by their schemas. */
function checkResults(stdout: string): void {
  const texts = /^\{\n/.test(stdout) ? [stdout] : stdout.trim().split('\n')
  for (const text of texts) {
    const result = JSON.parse(text) as { readonly schema: string }
    seen.add(result.schema)
    expect(problemsOf(result)).toEqual([])
  }
}

/** Compares a generated part of a page under docs/reference; UPDATE=1 writes it. */
function expectPage(name: string, part: string, generated: string): void {
  const path = join(import.meta.dirname, '../../../docs/reference', name)
  const page = readFileSync(path, 'utf8')
  const [before = '', after = ''] = page.split(new RegExp(`(?<=<!-- ${part} -->\n)[^]*(?=<!-- end of ${part} -->)`))
  const written = `${before}${generated}\n${after}`
  if (process.env['UPDATE'] === '1') writeFileSync(path, written)
  expect(readFileSync(path, 'utf8')).toBe(written)
}

test('docs/reference/json.md has the schemas of all results', () => {
  const blocks = [...schemas].map(([name, schema]) => `\n### ${name}\n\n\`\`\`ts\n${pageOf(schema)}\n\`\`\`\n`)
  expectPage('json.md', 'schemas', blocks.join(''))
})

test('docs/reference/command.md has the help of every verb', async () => {
  const sections = []
  for (const verb of [...places, 'drives']) sections.push(`\n## ${verb}\n\n\`\`\`text\n${await helpOf(verb)}\`\`\`\n`)
  expectPage('command.md', 'verbs', sections.join(''))
})

test('--version prints the version of the package', async () => {
  const { code, stdout } = await gpunvme(['--version'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})
