import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import {
  SYNTHETIC_LOOKUPS,
  SYNTHETIC_SOURCES,
  writeFullSource,
  writeLookupTree,
} from '../../test/nvidia/synthetic-trees.js'
import { Root } from '../machine/root.js'
import { applyChange, revertChange, stateOfChange, diskWriter, type Writer } from './apply-change.js'
import { planP2p, planPfnLookup } from './plan-change.js'

/** Returns the contents of every file below a path. */
function contents(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(path, name)).isFile(),
  )
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), 'latin1')]))
}

function source(path: string): string {
  return readFileSync(join(path, 'nvidia/os-mlock.c'), 'utf8')
}

class Crash extends Error {}

/** Returns a writer that fails after this many writes, like a power loss. */
function crashingAt(limit: number): Writer {
  let writes = 0
  const guarded =
    <A extends unknown[]>(use: (...args: A) => Promise<void>) =>
    (...args: A) => {
      if (++writes > limit) return Promise.reject(new Crash())
      return use(...args)
    }
  return {
    put: guarded((path: string, bytes: Uint8Array) => diskWriter.put(path, bytes)),
    remove: guarded((path: string) => diskWriter.remove(path)),
    removeEmpty: guarded((path: string) => diskWriter.removeEmpty(path)),
  }
}

const planFix = (root: Root) => planPfnLookup(root, '', 'walk', SYNTHETIC_SOURCES)

test('applyChange and revertChange restore the tree, and leave no records', async () => {
  const path = scratch()
  writeLookupTree(path, 'through-flavors')
  chmodSync(join(path, 'nvidia/os-mlock.c'), 0o640)
  const before = contents(path)
  await applyChange(new Root(path), await planFix(new Root(path)))
  expect(source(path)).toContain('gpunvme_follow_pfn')
  expect(statSync(join(path, 'nvidia/os-mlock.c')).mode & 0o777).toBe(0o640)
  expect(await stateOfChange(new Root(path), '', 'pfn-lookup')).toEqual({ state: 'applied', mark: 'pfn-walk/1' })
  expect(await revertChange(new Root(path), '', 'pfn-lookup')).toEqual(['nvidia/os-mlock.c'])
  expect(contents(path)).toEqual(before)
  expect(readdirSync(path)).toEqual(['nvidia'])
  expect(statSync(join(path, 'nvidia/os-mlock.c')).mode & 0o777).toBe(0o640)
})

test('revert and apply recover from a power loss between any two writes of apply', async () => {
  for (const finish of ['revert', 'apply'] as const) {
    let crashes = 0
    for (let limit = 0; ; limit++) {
      const path = scratch()
      writeFullSource(path)
      const before = contents(path)
      const change = await planP2p(new Root(path), '', SYNTHETIC_SOURCES)
      const crashed = await applyChange(new Root(path), change, crashingAt(limit)).then(
        () => false,
        (error: unknown) => {
          if (!(error instanceof Crash)) throw error
          return true
        },
      )
      if (!crashed) break
      crashes++
      const { state } = await stateOfChange(new Root(path), '', 'bar1-p2p')
      expect(state).toBe(limit < change.files.length + 1 ? 'none' : 'interrupted')
      if (state !== 'none') await revertChange(new Root(path), '', 'bar1-p2p')
      if (finish === 'apply') {
        await applyChange(new Root(path), await planP2p(new Root(path), '', SYNTHETIC_SOURCES))
        expect(await stateOfChange(new Root(path), '', 'bar1-p2p')).toMatchObject({ state: 'applied' })
        await revertChange(new Root(path), '', 'bar1-p2p')
      }
      const after = Object.entries(contents(path)).filter(([name]) => !name.startsWith('.gpunvme'))
      expect(Object.fromEntries(after)).toEqual(before)
    }
    // Four originals, two records, four files.
    expect(crashes).toBe(10)
  }
}, 120_000)

test('revert recovers from a power loss between any two writes of revert', async () => {
  for (let limit = 0; ; limit++) {
    const path = scratch()
    writeFullSource(path)
    const before = contents(path)
    await applyChange(new Root(path), await planP2p(new Root(path), '', SYNTHETIC_SOURCES))
    const crashed = await revertChange(new Root(path), '', 'bar1-p2p', crashingAt(limit)).then(
      () => false,
      () => true,
    )
    await revertChange(new Root(path), '', 'bar1-p2p')
    const after = Object.entries(contents(path)).filter(([name]) => !name.startsWith('.gpunvme'))
    expect(Object.fromEntries(after)).toEqual(before)
    if (!crashed) break
  }
}, 120_000)

test('revert and apply do not overwrite a file that changed since', async () => {
  const path = scratch()
  writeLookupTree(path, 'or-fail')
  const change = await planFix(new Root(path))
  await applyChange(new Root(path), change)
  writeFileSync(join(path, 'nvidia/os-mlock.c'), `${source(path)}/* local edit */\n`)
  const now = contents(path)
  const refused = { code: 'ERR_GPUNVME_DRIVER_CHANGED_SINCE', category: 'privilege' }
  await expect(revertChange(new Root(path), '', 'pfn-lookup')).rejects.toMatchObject(refused)
  await expect(applyChange(new Root(path), change)).rejects.toMatchObject(refused)
  expect(contents(path)).toEqual(now)
})

/** Replacements for a file of the change that cannot be read. */
const UNREAD: [string, (path: string) => void][] = [
  ['is a folder', (path) => mkdirSync(path)],
  ['is too large', (path) => writeFileSync(path, Buffer.alloc(4 * 1024 * 1024 + 1))],
  ['is a link to itself', (path) => symlinkSync(basename(path), path)],
]

test.each(UNREAD)('a file of the change that %s is not treated as missing', async (_, put) => {
  const path = scratch()
  const file = 'etc/modprobe.d/new.conf'
  const change = {
    kind: 'options',
    mark: 'options/1',
    tree: '',
    files: [{ path: file, original: undefined, edits: [{ at: 0, removed: 0, text: 'x' }] }],
  } as const
  await applyChange(new Root(path), change)
  rmSync(join(path, file))
  put(join(path, file))
  const refused = { code: 'ERR_GPUNVME_DRIVER_CHANGED_SINCE', category: 'privilege' }
  await expect(revertChange(new Root(path), '', 'options')).rejects.toMatchObject(refused)
  await expect(applyChange(new Root(path), change)).rejects.toMatchObject(refused)
  expect(lstatSync(join(path, file))).toBeDefined()
})

test('revert restores no file if one of them changed since', async () => {
  const path = scratch()
  writeFullSource(path)
  await applyChange(new Root(path), await planP2p(new Root(path), '', SYNTHETIC_SOURCES))
  writeFileSync(join(path, 'kernel-open/nvidia/nv.c'), 'local edit\n')
  const now = contents(path)
  await expect(revertChange(new Root(path), '', 'bar1-p2p')).rejects.toMatchObject({ category: 'privilege' })
  expect(contents(path)).toEqual(now)
})

test.each([
  ['is damaged', 'not json', 'invalid JSON'],
  ['is of a later version', '{"schema":"gpunvme.driver-change/2"}', 'is not a record of a change'],
  [
    'names files outside of the tree',
    JSON.stringify({
      schema: 'gpunvme.driver-change/1',
      kind: 'pfn-lookup',
      mark: 'pfn-walk/1',
      tree: '',
      phase: 'applied',
      files: [{ path: '../victim', originalSha256: 'a'.repeat(64), changedSha256: 'b'.repeat(64) }],
    }),
    'is not a record of a change',
  ],
])('revert rejects a record that %s', async (_, text, reason) => {
  const path = scratch()
  writeLookupTree(path, 'or-fail')
  await applyChange(new Root(path), await planFix(new Root(path)))
  writeFileSync(join(path, '.gpunvme/pfn-lookup/change.json'), text)
  await expect(revertChange(new Root(path), '', 'pfn-lookup')).rejects.toMatchObject({
    code: 'ERR_GPUNVME_DRIVER_RECORD',
    message: expect.stringContaining(reason) as string,
  })
})

test('revert does not restore a damaged original', async () => {
  const path = scratch()
  writeLookupTree(path, 'or-fail')
  await applyChange(new Root(path), await planFix(new Root(path)))
  writeFileSync(join(path, '.gpunvme/pfn-lookup/0.original'), SYNTHETIC_LOOKUPS['or-fail'].slice(1))
  await expect(revertChange(new Root(path), '', 'pfn-lookup')).rejects.toMatchObject({ category: 'verification' })
  expect(source(path)).toContain('gpunvme_follow_pfn')
})

test('planPfnLookup does not follow links out of the root', async () => {
  const [path, elsewhere] = [scratch(), scratch()]
  writeLookupTree(elsewhere, 'or-fail')
  symlinkSync(join(elsewhere, 'nvidia'), join(path, 'nvidia'))
  await expect(planFix(new Root(path))).rejects.toMatchObject({ code: 'ERR_GPUNVME_DRIVER_TREE_NOT_FOUND' })
})

test('revert forgets the change of a removed tree', async () => {
  const machine = scratch()
  const tree = 'usr/src/nvidia-580.142'
  writeLookupTree(join(machine, tree), 'or-fail')
  const change = await planPfnLookup(new Root(machine), tree, 'guarded', SYNTHETIC_SOURCES)
  await applyChange(new Root(machine), change)
  expect(readdirSync(join(machine, 'var/lib/gpunvme/driver/pfn-lookup'))).toEqual(['usr_src_nvidia-580.142'])
  rmSync(join(machine, tree), { recursive: true })
  expect(await revertChange(new Root(machine), tree, 'pfn-lookup')).toEqual([])
  expect(await stateOfChange(new Root(machine), tree, 'pfn-lookup')).toEqual({ state: 'none' })
})

test('plans reject missing trees, the open flavour, unknown sources and old versions', async () => {
  const path = scratch()
  await expect(planFix(new Root(path))).rejects.toMatchObject({ category: 'not-found' })
  writeLookupTree(path, 'or-fail', 'Dual MIT/GPL')
  await expect(planFix(new Root(path))).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_DRIVER_SOURCE' })
  writeLookupTree(path, 'or-fail')
  const unknown = planPfnLookup(new Root(path), '', 'walk', { ...SYNTHETIC_SOURCES, shapes: [] })
  await expect(unknown).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNKNOWN_DRIVER_SOURCE', category: 'infeasible' })
  await expect(planP2p(new Root(path), '', SYNTHETIC_SOURCES)).rejects.toMatchObject({
    message: expect.stringContaining("in the driver's core") as string,
  })
  const old = scratch()
  writeFullSource(old, '575.64.05')
  await expect(planP2p(new Root(old), '', SYNTHETIC_SOURCES)).rejects.toMatchObject({
    message: expect.stringContaining('575.64.05 is not 580.65.06 or later') as string,
  })
})
