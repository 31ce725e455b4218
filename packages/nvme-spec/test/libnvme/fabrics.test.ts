import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DISCOVERY_NQN } from '../../src/fabrics/index.js'
import { scratch } from '../../../../test/scratch.js'
import { readFacts, type Facts } from './facts.js'
import { installedVersion, missing, otherRelease } from './installed.js'
import { print } from './report.js'
import { LIBNVME_FABRICS, LINUX_FABRICS, type FabricsStruct, type FabricsTable } from './tables/fabrics.js'

// The C header does not include NVMe over Fabrics. Each TypeScript value is therefore compared with the value that gcc
// computes from the headers of Linux and libnvme.

/** Fabrics names in headers that also declare other names. */
const NUMBERS =
  /^(NVMF_|NVME_(NQN|DISC|RDMA_IP|TREQ|CONNECT|AUTH|CNTLID_(?!NONE)|TCP)|nvme_fabrics_|nvme_tcp_|MAX_DISC|NVME_SGL_FMT_(T|I))/
const STRUCTS = /^(nvmf_|nvme_tcp_)/
const RESERVED = /^(rsvd|resv)\d*$/

const folder = (existsSync('/usr/src') ? readdirSync('/usr/src') : [])
  .sort()
  .find((name) => /^linux-headers-.*-common$/.test(name))
const kernel = folder === undefined ? undefined : join('/usr/src', folder, 'include', 'linux', 'nvme-tcp.h')
const release = /^linux-headers-(.*)-common$/.exec(folder ?? '')?.[1] ?? ''
const absentKernel = missing(kernel, 'linux-headers-amd64') ?? otherRelease('linux-headers-amd64', release, '6.1.')

const TYPES = '/usr/include/nvme/types.h'
const absentLibnvme = missing(TYPES, 'libnvme-dev')
const version = absentLibnvme === undefined ? installedVersion('libnvme', 'libnvme-dev') : ''

interface Judge {
  readonly name: string
  /** Why its tests are skipped; undefined if they run. */
  readonly reason: string | undefined
  readonly headers: readonly string[]
  /** Flags of gcc to compile the headers outside the kernel. */
  readonly flags: readonly string[]
  readonly table: FabricsTable
  /** Expected number of comparisons. */
  readonly compared: number
}

const judges: readonly Judge[] = [
  {
    name: 'linux/nvme.h and linux/nvme-tcp.h of Linux',
    reason: absentKernel?.replace('[headers] linux', '[kbuild] linux'),
    headers: kernel === undefined ? [] : [join(dirname(kernel), 'nvme.h'), kernel],
    // User-space headers take precedence over the kernel's other headers.
    flags: [`-I${join(import.meta.dirname, 'kernel')}`, '-idirafter', dirname(dirname(kernel ?? '/')), '-DSZ_8K=8192'],
    table: LINUX_FABRICS,
    compared: 411,
  },
  {
    name: 'nvme/types.h of libnvme',
    reason: absentLibnvme ?? otherRelease('libnvme', version, '1.3'),
    headers: [TYPES],
    flags: [],
    table: LIBNVME_FABRICS,
    compared: 133,
  },
]

/** Returns the expected value of each C expression, names missing from the table, and unused names of the table. */
function expressionsOf(facts: Facts, { numbers, structs, absent }: FabricsTable) {
  const expected: Record<string, number> = { ...numbers }
  const unknown: string[] = []
  const names = Object.keys(numbers).filter((name) => /^\w+$/.test(name))
  const reasons = Object.values(absent).flat()
  const used = new Set<string>()
  const use = (name: string, isDeclared: boolean) => {
    const found = isDeclared ? name : reasons.find((prefix) => name.startsWith(prefix))
    if (found === undefined) unknown.push(name)
    else used.add(found)
  }
  const add = (expression: string, value: number) => {
    // One C structure may correspond to several of nvme-spec: where they differ, at most one is correct.
    if ((expected[expression] ?? value) !== value) unknown.push(expression)
    expected[expression] = value
  }
  for (const { name } of facts.numbers) if (NUMBERS.test(name) || name in numbers) use(name, name in numbers)
  for (const { name, members } of facts.layouts.filter((layout) => STRUCTS.test(layout.name))) {
    const struct = structs[name]
    use(name, struct !== undefined)
    for (const { bytes } of struct?.ours ?? []) add(`sizeof(struct ${name})`, bytes)
    for (const { name: member, flexible } of struct === undefined ? [] : members) {
      if (RESERVED.test(member)) continue
      const places = placesOf(struct!, member)
      if (places.length === 0) unknown.push(`${name}.${member}`)
      for (const { offset, lengthBytes } of places) {
        add(`offsetof(struct ${name}, ${member})`, offset)
        if (!flexible) add(`sizeof(((struct ${name} *)0)->${member})`, lengthBytes)
      }
    }
  }
  const unused = [...names, ...Object.keys(structs), ...reasons].filter((name) => !used.has(name))
  return { expected, unknown, unused }
}

/** Returns the places of a C member in the corresponding structures of nvme-spec. */
function placesOf({ ours, names = {} }: FabricsStruct, member: string): { offset: number; lengthBytes: number }[] {
  const known = names[member] ?? member.toUpperCase()
  return typeof known === 'string'
    ? ours.flatMap(({ fields }) => fields[known] ?? [])
    : [{ offset: known[0], lengthBytes: known[1] }]
}

function valuesOf(expressions: readonly string[], { headers, flags }: Judge): number[] {
  const program = join(scratch(), 'program')
  const includes = ['<stddef.h>', '<stdio.h>', ...headers.map((header) => `"${header}"`)]
  const prints = expressions.map((expression) => `\tprintf("%lld\\n", (long long)(${expression}));`)
  const source = `${includes.map((name) => `#include ${name}\n`).join('')}int main(void)\n{\n${prints.join('\n')}\n}\n`
  const args = ['-std=gnu11', '-w', ...flags, '-x', 'c', '-', '-o', program]
  const { status, stderr } = spawnSync('gcc', args, { input: source, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr.slice(0, 4000))
  return execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
}

for (const judge of judges) {
  const { name, reason, headers, table, compared } = judge
  const title = `NVMe over Fabrics against ${name}${reason === undefined ? '' : ` (skipped: ${reason})`}`
  describe.skipIf(reason)(title, () => {
    const text = headers.map((header) => (existsSync(header) ? readFileSync(header, 'utf8') : '')).join('\n')

    test('every number, size and offset equals that of nvme-spec, or is listed with a reason', () => {
      const { expected, unknown, unused } = expressionsOf(readFacts(text, NUMBERS), table)
      expect({ unknown, unused }).toEqual({ unknown: [], unused: [] })
      const values = valuesOf(Object.keys(expected), judge)
      expect(expected).toEqual(Object.fromEntries(Object.keys(expected).map((key, index) => [key, values[index]])))
      print(`${name}: ${values.length} facts of NVMe over Fabrics compared`)
      expect(values).toHaveLength(compared)
    })

    test('the NQN of Discovery subsystems equals that of nvme-spec', () => {
      expect(/#define NVME_DISC_SUBSYS_NAME\s+"(.*)"/.exec(text)?.[1]).toBe(DISCOVERY_NQN)
    })
  })
}
