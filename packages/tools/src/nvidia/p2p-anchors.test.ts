import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { SYNTHETIC_SOURCES, writeFullSource } from '../../test/nvidia/synthetic-trees.js'
import { edited } from './edits.js'
import { filesOf, P2P_ANCHORS, p2pEdits } from './p2p-anchors.js'

const path = scratch()
const sources = new Map<string, string>()
beforeAll(() => {
  writeFullSource(path)
  for (const file of filesOf(P2P_ANCHORS)) sources.set(file, readFileSync(join(path, file), 'utf8'))
})

const BUS = 'src/nvidia/generated/g_kern_bus_nvoc.c'
const MEMORY = 'src/nvidia/generated/g_virt_mem_allocator_nvoc.c'
const PASCAL = 'src/nvidia/src/kernel/gpu/bus/arch/pascal/kern_bus_gp100.c'

test('p2pEdits changes seven defaults and two functions, and adds one mark', () => {
  const { edits, problems } = p2pEdits(sources, SYNTHETIC_SOURCES.p2p)
  expect(problems).toEqual([])
  expect([...edits].map(([file, each]) => [file, each.length])).toEqual([
    [BUS, 5],
    [MEMORY, 2],
    [PASCAL, 2],
    ['kernel-open/nvidia/nv.c', 1],
  ])
  const after = (file: string) => edited(sources.get(file)!, edits.get(file)!)
  for (const file of [BUS, MEMORY]) {
    expect(after(file).match(/_GH100;/g)).toHaveLength(2 * edits.get(file)!.length)
    expect(after(file)).not.toMatch(/_(?:395e98|d69453|46f6a7|b3696a|d44104);/)
  }
  expect(after(PASCAL)).toMatch(/Create[^]*kbusCreateP2PMappingForBar1P2P_HAL[^]*kbusRemoveP2PMappingForBar1P2P_HAL/)
  expect(after('kernel-open/nvidia/nv.c')).toContain(
    'MODULE_LICENSE("Dual MIT/GPL");\nMODULE_INFO(gpunvme, "bar1-p2p/1");\n',
  )
})

test.each([
  ['is missing', BUS, /.*kbusHasPcieBar1P2PMapping.*\n/g, '', 'kbusHasPcieBar1P2PMapping is dispatched to nothing'],
  ['is dispatched elsewhere', MEMORY, '_46f6a7;', '_123456;', 'dmaAllocBar1P2PMapping is dispatched to GH100, 123456'],
  ['is edited already', MEMORY, '_46f6a7;', '_GH100;', 'dmaAllocBar1P2PMapping is dispatched to GH100, GH100'],
  [
    'has an unknown body',
    PASCAL,
    'return attributes',
    'return !attributes',
    'kbusCreateP2PMapping_GP100 has unknown code',
  ],
  ['has another license', 'kernel-open/nvidia/nv.c', 'Dual MIT/GPL', 'GPL', 'the line MODULE_LICENSE'],
] as const)('p2pEdits reports an anchor that %s', (_, file, from, to, problem) => {
  const changed = new Map(sources).set(file, sources.get(file)!.replace(from, to))
  expect(changed.get(file)).not.toBe(sources.get(file))
  const { problems } = p2pEdits(changed, SYNTHETIC_SOURCES.p2p)
  expect(problems).toEqual([expect.stringContaining(problem)])
})
