import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeCapabilities } from '../../src/p2p/describe-capabilities.js'
import { driveWays } from '../../src/p2p/capabilities.js'
import { machines } from '../machines/index.js'
import { readDescribed } from '../machines/read-described.js'

const COLUMNS = 80
/** Machines with different peer-to-peer capabilities. */
const GOLDEN = [
  ...['amd-b450-rtx3090', 'amd-b550-chipset-ssd', 'amd-two-cards-bifurcated', 'intel-vmd', 'laptop-optimus-d3cold'],
  ...['server-epyc-two-sockets', 'server-h200-pex890', 'server-xeon-plx', 'server-xeon-plx-acs', 'vm-q35-passthrough'],
]

describe.each(machines.filter(({ name }) => GOLDEN.includes(name)))('$name', (described) => {
  test('the output is the reviewed text in 80 columns, with a path for every GPU and SSD', async () => {
    const machine = await readDescribed(described)
    const lines = describeCapabilities(machine, COLUMNS)
    expect(lines.filter((line) => line.length > COLUMNS)).toEqual([])
    const cards = machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
    const ways = driveWays(machine)
    expect(ways).toHaveLength(cards.length * machine.drives.length)
    for (const { tiers, doorbells } of ways) {
      expect(tiers.map(({ tier }) => tier)).toEqual([1, 2, 3])
      expect(tiers[0]!.passes).toBe(doorbells.passes)
    }
    // UPDATE=1 writes the files; review them before a commit.
    const path = join(import.meta.dirname, 'golden', `${described.name}.txt`)
    const text = [`# ${described.point}`, '', ...lines, ''].join('\n')
    if (process.env['UPDATE'] === '1') writeFileSync(path, text)
    expect(existsSync(path), `${path}: UPDATE=1 writes it`).toBe(true)
    expect(text).toBe(readFileSync(path, 'utf8'))
  }, 60_000)
})

test('every reviewed file belongs to a described machine', () => {
  expect(GOLDEN.filter((name) => !machines.some((described) => described.name === name))).toEqual([])
})
