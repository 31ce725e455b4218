import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describe as describeList } from '../../src/commands/list.js'
import { describe as describeTopology } from '../../src/commands/topology.js'
import { machines } from './index.js'
import { readDescribed } from './read-described.js'

const COLUMNS = 80

// UPDATE=1 writes them anew; whoever does that reads them.
test.each(machines)(
  'topology and list of $name are those that were read and found true: $point',
  async (described) => {
    const machine = await readDescribed(described)
    const text = [
      `# ${described.point}`,
      '',
      '$ gpunvme topology',
      ...describeTopology(machine, false, COLUMNS),
      '',
      '$ gpunvme list',
      ...describeList(machine, COLUMNS),
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
