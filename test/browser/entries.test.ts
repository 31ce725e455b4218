import { describe, expect, test } from 'vitest'
import { bundle } from '../../packages/nvme-spec/test/browser/bundle.js'
import { missingInBrowser } from '../../packages/nvme-spec/test/browser/globals.js'
import { root } from '../packages.js'

/** The entries that run in a browser. Of layer-loader, the parts that load; packing and files need Node. */
const entries = [
  ['nvme-spec', `export * from '@gpunvme/nvme-spec'`],
  ['nvme-spec/runtime', `export * from '@gpunvme/nvme-spec/runtime'`],
  ['nvme-sim', `export * from '@gpunvme/nvme-sim'`],
  ['host-driver', `export * from '@gpunvme/host-driver'`],
  ['layer-loader', `export { loadPlanFor, openLoader, planStream, streamLayers } from '@gpunvme/layer-loader'`],
  ['layer-loader/store', `export { joinStores, namespaceStore, storeSource } from '@gpunvme/layer-loader/store'`],
  ['layer-loader/residence', `export { planExperts, planResidence } from '@gpunvme/layer-loader/residence'`],
] as const

describe.each(entries)('a browser bundle of %s', (_, entry) => {
  test('imports no module and uses no global of Node', async () => {
    const { code } = await bundle(entry, root)
    expect(code.length).toBeGreaterThan(0)
    expect(missingInBrowser(code)).toEqual([])
  })
})

test('an import of Node on the path of an entry is reported', async () => {
  const { code } = await bundle(`export { openFileStore } from '@gpunvme/layer-loader/store'`, root)
  expect(missingInBrowser(code)).toContain('import node:fs/promises')
})
