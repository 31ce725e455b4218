import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireVisibleToGuests } from './guest-root.js'
import { scratch } from './scratch.js'

test('rejects a checkout that guests mount over, also through a symbolic link', () => {
  const path = join('/proc', 'self')
  expect(() => requireVisibleToGuests(path)).toThrow(/^Linux guests mount .* over \/proc and cannot see .*: clone/)
  const folder = scratch()
  symlinkSync('/dev', join(folder, 'link'))
  expect(() => requireVisibleToGuests(join(folder, 'link'))).toThrow('over /dev')
})

test('accepts a checkout elsewhere', () => {
  for (const path of ['/', '/usr', '/var']) expect(() => requireVisibleToGuests(path)).not.toThrow()
})
