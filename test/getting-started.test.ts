import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './packages.js'
import { scratch } from './scratch.js'
import { installInto, packAll, unpack } from './tarballs.js'

const page = readFileSync(join(root, 'docs/start.md'), 'utf8')
const tarballs = await packAll()
const top = scratch()

interface Step {
  readonly folder: string
  /** Name of the file to write; if undefined, `text` contains commands to run. */
  readonly file: string | undefined
  readonly needs: string | undefined
  readonly exits: readonly number[]
  readonly text: string
  /** Expected stdout of the commands; not checked if undefined. */
  readonly shown: string | undefined
}

const steps = [...page.matchAll(/<!-- in: ([^>]*?) -->\n\n```(?:sh|js)\n([^]*?)```(?:\n\n```text\n([^]*?)```)?/g)].map(
  ([, head = '', text = '', shown]): Step => {
    const [folder = '', ...rest] = head.split(', ')
    const option = (name: string) => rest.find((each) => each.startsWith(`${name}: `))?.slice(name.length + 2)
    const exits = (option('exits') ?? '0').split(' or ').map(Number)
    return { folder, file: option('as'), needs: option('needs'), exits, text, shown }
  },
)

const missing: Readonly<Record<string, string | undefined>> = {
  qemu: spawnSync('qemu-system-x86_64', ['--version']).status === 0 ? undefined : 'qemu-system-x86_64 is not installed',
  native: [...unpack(tarballs.get('cuda-native')!).keys()].some((path) => path.endsWith('/gpunvme_host.node'))
    ? undefined
    : 'gpunvme_host is not built',
}

test('the page has blocks to run for each of the three kinds of users', () => {
  expect([...new Set(steps.map(({ folder }) => folder))]).toEqual(['spec', 'ci', 'host'])
})

describe('every block runs, in the order of the page', () => {
  for (const step of steps) {
    const reason = step.needs === undefined ? undefined : missing[step.needs]
    const note = reason === undefined ? '' : ` (skipped: [${step.needs!}] ${reason})`
    const title = step.file ?? step.text.trim().split('\n').join('; ')
    test.skipIf(reason !== undefined)(`${step.folder}: ${title}${note}`, { timeout: 300_000 }, () => perform(step))
  }
})

async function perform({ folder, file, exits, text, shown }: Step): Promise<void> {
  const cwd = join(top, folder)
  mkdirSync(cwd, { recursive: true })
  if (file !== undefined) {
    writeFileSync(join(cwd, file), text)
    return
  }
  let printed = ''
  for (const line of text.trim().split('\n')) {
    const [, names] = /^npm install (.*)$/.exec(line) ?? []
    if (names !== undefined) {
      await install(cwd, names.split(' '))
      continue
    }
    const { status, stdout, stderr } = spawnSync('sh', ['-c', withoutNpx(line)], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(cwd, 'node_modules/.bin')}${delimiter}${process.env['PATH']}` },
    })
    expect({ line, done: exits.includes(status ?? -1), stderr: exits.includes(status ?? -1) ? '' : stderr }).toEqual({
      line,
      done: true,
      stderr: '',
    })
    printed += stdout
  }
  if (shown !== undefined) expect(printed).toMatch(patternOf(shown))
}

/**
 * Returns a line without `npx`, which would take a second in each of two dozen lines. PATH includes node_modules/.bin
 * instead. packed.test.ts runs the command with npx.
 */
function withoutNpx(line: string): string {
  return line.replaceAll('npx ', '')
}

/** Installs packages and their dependencies from tarballs, since they are not in a registry yet. */
function install(cwd: string, names: readonly string[]): Promise<void> {
  const alone = names.length === 1 && names[0] === '@gpunvme/nvme-spec'
  return installInto(cwd, alone ? [tarballs.get('nvme-spec')!] : [...tarballs.values()])
}

/** Returns a pattern for the output that the page shows, in which '…' stands for text that differs between runs. */
function patternOf(shown: string): RegExp {
  const literal = shown.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${literal.join('[^]*?')}$`)
}
