import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { writeNvidiaState, type NvidiaStateName } from '../../test/nvidia/states.js'
import { SYNTHETIC_SOURCES, writeFullSource, writeLookupTree } from '../../test/nvidia/synthetic-trees.js'
import { Root } from '../machine/root.js'
import { testIo } from '../../test/gpunvme.js'
import { Output } from '../terminal/output.js'
import { applyChange, diskWriter } from './apply-change.js'
import { changeDriver, revertDriver, type ChangeRequest } from './change-driver.js'
import { renderStep } from '../command-line/next-step.js'
import { stepsAfter } from './describe-change.js'
import { planPfnLookup } from './plan-change.js'
import { readNvidia } from './read-driver.js'

const TREE = '/usr/src/nvidia-580.142'

/** Returns a machine with a synthetic tree. */
function machine(state: NvidiaStateName): string {
  const root = scratch()
  writeNvidiaState(root, state)
  if (state === 'proprietary-580-on-6.17') writeLookupTree(join(root, TREE), 'through-flavors')
  return root
}

async function run(use: typeof changeDriver, root: string, request: Partial<ChangeRequest>) {
  const whole: ChangeRequest = {
    kind: 'pfn-lookup',
    form: 'walk',
    goals: [],
    source: undefined,
    isDryRun: false,
    yes: true,
    ...request,
  }
  // With --json there is no text on stdout.
  const context = {
    output: new Output({ json: true }, testIo()),
    signal: new AbortController().signal,
    known: SYNTHETIC_SOURCES,
  }
  const driver = await readNvidia(root, SYNTHETIC_SOURCES.shapes)
  return { driver, ...(await use(new Root(root), driver, whole, context)) }
}

function source(root: string): string {
  return readFileSync(join(root, TREE, 'nvidia/os-mlock.c'), 'utf8')
}

test('changeDriver changes the tree once, reports it as changed, and revertDriver restores it', async () => {
  const root = machine('proprietary-580-on-6.17')
  const before = source(root)
  expect(await run(changeDriver, root, { isDryRun: true })).toMatchObject({ outcome: 'planned', tree: TREE })
  expect(source(root)).toBe(before)
  const applied = await run(changeDriver, root, {})
  expect(applied).toMatchObject({ outcome: 'applied', files: ['nvidia/os-mlock.c'] })
  expect(applied.originals).toBe('/var/lib/gpunvme/driver/pfn-lookup/usr_src_nvidia-580.142')
  expect(stepsAfter(applied, 'pfn-lookup', applied.driver, '/').slice(0, 2)).toEqual([
    'sudo dkms build --force -m nvidia -v 580.142 -k 6.17.0-8-generic',
    'sudo dkms install --force -m nvidia -v 580.142 -k 6.17.0-8-generic',
  ])
  const { trees, mismatches } = await readNvidia(root, SYNTHETIC_SOURCES.shapes)
  expect(trees).toMatchObject([{ pfnShape: 'page-table-walk', applied: ['pfn-walk/1'] }])
  // The module on disk is still the old one.
  expect(mismatches.map(({ kind }) => kind)).toEqual(['mark-lost'])
  expect(await run(changeDriver, root, {})).toMatchObject({ outcome: 'already' })
  expect(await run(revertDriver, root, { isDryRun: true })).toMatchObject({ outcome: 'revertible' })
  expect(await run(revertDriver, root, {})).toMatchObject({ outcome: 'reverted', files: ['nvidia/os-mlock.c'] })
  expect(source(root)).toBe(before)
  expect(await run(revertDriver, root, {})).toMatchObject({ outcome: 'never' })
})

test('changeDriver completes an interrupted change', async () => {
  const root = machine('proprietary-580-on-6.17')
  const change = await planPfnLookup(new Root(root), TREE.slice(1), 'walk', SYNTHETIC_SOURCES)
  // The original, the record, and no file of the tree.
  let writes = 0
  const crashing = {
    ...diskWriter,
    put: (path: string, bytes: Uint8Array) => {
      if (++writes > 2) throw new Error('no power')
      return diskWriter.put(path, bytes)
    },
  }
  await expect(applyChange(new Root(root), change, crashing)).rejects.toThrow('no power')
  expect(await run(changeDriver, root, { isDryRun: true })).toMatchObject({ outcome: 'begun' })
  expect(await run(changeDriver, root, { form: 'guarded' })).toMatchObject({ outcome: 'applied' })
  expect(source(root)).toContain('pfn-guarded/1')
})

test('changeDriver rejects a module that needs no change, unless a tree is given', async () => {
  const root = machine('proprietary-535-on-6.1')
  await expect(run(changeDriver, root, {})).rejects.toMatchObject({
    code: 'ERR_GPUNVME_DRIVER_NOT_FIXABLE',
    message: expect.stringContaining('looks up registers by follow_pfn') as string,
  })
  const tree = join(root, 'a-tree')
  writeLookupTree(tree, 'or-fail')
  expect(await run(changeDriver, root, { source: tree })).toMatchObject({
    outcome: 'applied',
    originals: join(tree, '.gpunvme/pfn-lookup'),
  })
})

test('changeDriver writes nothing without a tree, a known version or confirmation', async () => {
  const nothing = machine('none')
  await expect(run(changeDriver, nothing, {})).rejects.toMatchObject({ category: 'not-found' })
  const request = { kind: 'options', goals: ['peer-mapping'] } as const
  await expect(run(changeDriver, nothing, request)).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_VERSION' })
  const root = machine('proprietary-580-on-6.17')
  await expect(run(changeDriver, root, { yes: false })).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_NOT_AGREED' })
  expect(source(root)).not.toContain('gpunvme')
})

test('the steps after bar1-p2p set its keys before the restart', async () => {
  const root = machine('open-580-on-6.12')
  const tree = join(root, 'open-gpu-kernel-modules')
  writeFullSource(tree)
  const applied = await run(changeDriver, root, { kind: 'bar1-p2p', source: tree })
  expect(applied).toMatchObject({ outcome: 'applied' })
  expect(applied.files).toHaveLength(4)
  const steps = stepsAfter(applied, 'bar1-p2p', applied.driver, '/').map((step) => renderStep(step))
  expect(steps[0]).toBe(`make -C ${tree} modules -j$(nproc)`)
  const [keys, restart] = [/--set bar1-p2p/, /^sudo reboot$/].map((what) => steps.findIndex((step) => what.test(step)))
  expect(keys).toBeGreaterThan(0)
  expect(restart).toBeGreaterThan(keys!)
})

test('changeDriver does not write options that the version enables by default', async () => {
  const root = machine('open-580-on-6.12')
  const request = { kind: 'options', goals: ['static-bar1'] } as const
  expect(await run(changeDriver, root, request)).toMatchObject({ outcome: 'given', files: [] })
})
