import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { addonPlaces, loadNativeAddon, NativeAddonError } from './native-addon.js'

test('the addon built on this machine takes precedence over the prebuilt one', () => {
  const places = addonPlaces('gpunvme_host', new URL('file:///package/'))
  expect(places).toEqual([
    '/package/native/build/Release/gpunvme_host.node',
    `/package/prebuilds/${process.platform}-${process.arch}/gpunvme_host.node`,
  ])
  expect(addonPlaces('gpunvme_cuda', new URL('file:///package/'))[0]).toBe(
    '/package/native/build/Release/gpunvme_cuda.node',
  )
})

test('without an addon, the error lists the paths tried and the command that builds one', () => {
  const folder = scratch()
  const absent = join(folder, 'absent.node')
  const broken = join(folder, 'broken.node')
  writeFileSync(broken, 'not a shared object')

  let error: unknown
  try {
    loadNativeAddon('gpunvme_cuda', [absent, broken])
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(NativeAddonError)
  expect(error).toMatchObject({
    code: 'ERR_GPUNVME_NO_NATIVE_ADDON',
    category: 'not-found',
    tried: [
      { path: absent, reason: 'no such file' },
      { path: broken, reason: expect.any(String) as string },
    ],
  })
  const lines = (error as Error).message.split('\n')
  expect(lines[0]).toBe('The native addon gpunvme_cuda could not be loaded')
  expect(lines[1]).toBe(`  ${absent}: no such file`)
  if (process.platform === 'linux') expect(lines[2]).toBe(`  ${broken}: file too short`)
  if (process.platform === 'linux')
    expect(lines[3]).toMatch(/^ {2}Try: install g\+\+, .* node \/.*\/scripts\/build-native\.mjs$/)
})

test('importing the entry point loads no addon, and so works on any machine', async () => {
  const { default: host, nativeHostModule } = await import('./host/index.js')
  expect(nativeHostModule.href).toBe(pathToFileURL(join(import.meta.dirname, 'host', 'index.ts')).href)
  const names = ['accept', 'connect', 'drainEventfd', 'eventfd', 'listen', 'lostForeignBytes', 'mapForeign']
  names.push('poll', 'punchHole', 'receive', 'send', 'signalEventfd', 'view', 'yield')
  expect(Object.keys(host).sort()).toEqual(names)
})
