import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireVisibleToGuests } from './guest-root.js'
import { scratch } from './scratch.js'

test('guests are refused in one sentence for a checkout that they mount over, even behind a link', () => {
  const path = join('/proc', 'self')
  expect(() => requireVisibleToGuests(path)).toThrow(/^Linux guests mount .* over \/proc and cannot see .*: clone/)
  const folder = scratch()
  symlinkSync('/dev', join(folder, 'link'))
  expect(() => requireVisibleToGuests(join(folder, 'link'))).toThrow('over /dev')
})

test('guests are accepted for a checkout elsewhere', () => {
  for (const path of ['/', '/usr', '/var']) expect(() => requireVisibleToGuests(path)).not.toThrow()
})
