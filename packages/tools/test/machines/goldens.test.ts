import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fit } from '../../src/terminal/fit.js'
import { INSTALLED } from '../../src/terminal/invocation.js'
import { describeAll, describeOne } from '../../src/commands/list.js'
import { describeTopology } from '../../src/list/describe-topology.js'
import { devicesJson, reachJson, topologyJson } from '../../src/list/json.js'
import { listDrives } from '../../src/list/listed-drive.js'
import { driveWays } from '../../src/machine/reach.js'
import { machines } from './index.js'
import { readDescribed } from './read-described.js'

const COLUMNS = 80

/** Drives and GPUs whose details are compared too. */
const IN_DETAIL: Readonly<Record<string, readonly string[]>> = {
  'amd-b450-rtx3090': ['0000:0a:00.0', '0000:0b:00.0'],
  'amd-two-cards-bifurcated': ['0000:0a:00.0'],
  'drive-hot': ['0000:01:00.0'],
  'drive-in-vfio': ['0000:01:00.0'],
  'intel-drive-off-the-bus': ['0000:02:00.0'],
  'intel-not-root': ['0000:01:00.0'],
}

// UPDATE=1 writes the files; review them before a commit.
test.each(machines)(
  'list and list --topology of $name match the reviewed text: $point',
  async (described) => {
    const machine = await readDescribed(described)
    const drives = listDrives(machine, new Map())
    const options = { columns: COLUMNS, invocation: INSTALLED, now: 0 }
    const lines = [
      '$ gpunvme list',
      ...describeAll(machine, drives, options),
      '',
      ...(IN_DETAIL[described.name] ?? []).flatMap((address) => [
        `$ gpunvme list ${address}`,
        ...describeOne(machine, drives, address, options),
        '',
      ]),
      '$ gpunvme list --topology',
      ...describeTopology(machine, false, COLUMNS),
      '',
    ].flatMap((line) => fit(line, COLUMNS, INSTALLED.program))
    const text = [`# ${described.point}`, '', ...lines].join('\n')
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
  'list --topology --json of %s matches the reviewed JSON',
  async (name) => {
    const machine = await readDescribed(machines.find((described) => described.name === name)!)
    const devices = devicesJson(machine, listDrives(machine, new Map()), INSTALLED)
    const text = `${JSON.stringify({ ...devices, ...reachJson(machine), ...topologyJson(machine) }, null, 2)}\n`
    const path = join(import.meta.dirname, 'golden', `${name}.json`)
    if (process.env['UPDATE'] === '1') writeFileSync(path, text)
    expect(text).toBe(readFileSync(path, 'utf8'))
  },
  60_000,
)

test.each(machines)(
  'the tiers of every GPU and SSD of $name are as likely as their weakest requirement',
  async (described) => {
    const machine = await readDescribed(described)
    const ways = driveWays(machine)
    const cards = machine.gpus.filter(({ isIntegrated }) => !isIntegrated)
    expect(ways).toHaveLength(cards.length * machine.drives.length)
    for (const { tiers, doorbells } of ways) {
      expect(tiers.map(({ tier }) => tier)).toEqual([1, 2, 3])
      expect(tiers[0]!.passes).toBe(doorbells.passes)
    }
  },
  60_000,
)
