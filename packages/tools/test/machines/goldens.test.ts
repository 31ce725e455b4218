import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { INSTALLED } from '../../src/command-line/invocation.js'
import { describe as describeList } from '../../src/commands/list.js'
import { describe as describeTopology, summary } from '../../src/commands/topology.js'
import { listed } from '../../src/machine/views/list-lines.js'
import { machines } from './index.js'
import { readDescribed } from './read-described.js'

const COLUMNS = 80

// UPDATE=1 writes the files; review them before a commit.
test.each(machines)(
  'topology and list of $name match the reviewed text: $point',
  async (described) => {
    const machine = await readDescribed(described)
    const text = [
      `# ${described.point}`,
      '',
      '$ gpunvme topology',
      ...describeTopology(machine, false, COLUMNS),
      '',
      '$ gpunvme list',
      ...describeList(machine, COLUMNS, INSTALLED),
      '',
    ].join('\n')
    const path = join(import.meta.dirname, 'golden', `${described.name}.txt`)
    if (process.env['UPDATE'] === '1') writeFileSync(path, text)
    expect(existsSync(path), `${path}: UPDATE=1 writes it`).toBe(true)
    expect(text).toBe(readFileSync(path, 'utf8'))
    expect(
      text
        .split('\n')
        .slice(2)
        .filter((line) => line.length > COLUMNS),
    ).toEqual([])
  },
  60_000,
)

/** Machines whose JSON is compared too. The texts cover the differences between the others. */
const AS_JSON = ['amd-b450-proprietary', 'intel-not-root', 'laptop-optimus-d3cold', 'drive-in-vfio']

test.each(AS_JSON)(
  'topology --json and list --json of %s match the reviewed JSON',
  async (name) => {
    const machine = await readDescribed(machines.find((described) => described.name === name)!)
    const text = `${JSON.stringify({ topology: summary(machine), list: listed(machine, INSTALLED) }, null, 2)}\n`
    const path = join(import.meta.dirname, 'golden', `${name}.json`)
    if (process.env['UPDATE'] === '1') writeFileSync(path, text)
    expect(text).toBe(readFileSync(path, 'utf8'))
  },
  60_000,
)
