import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { elfNeeds, newest } from './elf-needs.js'

const built = join(import.meta.dirname, '../native/build/Release')
const files = ['gpunvme_host', 'gpunvme_cuda'].map((name) => join(built, `${name}.node`))
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
const glibc = header.glibcVersionRuntime ?? 'another C library'

/** A newer C library gives newer versions to what is built with it, which is then for that machine alone. */
function whyNot(): string | undefined {
  if (!files.every((file) => existsSync(file))) return 'the addons are not built here'
  if (newest([glibc, '2.36']) !== '2.36') return `what is published is built with glibc 2.36, not ${glibc}`
  return undefined
}
const reason = whyNot()
const hasObjdump = spawnSync('objdump', ['--version']).status === 0
const skipped = reason === undefined ? '' : ` (skipped: [native] ${reason})`
const unread = hasObjdump ? '' : ' (skipped: [native] objdump is not installed)'

describe.skipIf(reason !== undefined)(`what the addons ask of libraries${skipped}`, () => {
  // glibc 2.34 and the libstdc++ of GCC 11: what RHEL 9 has, and the README promises.
  test.each(files)('%s loads with glibc 2.34, GLIBCXX_3.4.29 and CXXABI_1.3.13', (file) => {
    const needs = elfNeeds(readFileSync(file))
    expect(newest(['2.34', ...needs.get('GLIBC')!])).toBe('2.34')
    expect(newest(['3.4.29', ...needs.get('GLIBCXX')!])).toBe('3.4.29')
    expect(newest(['1.3.13', ...needs.get('CXXABI')!])).toBe('1.3.13')
  })

  test.skipIf(!hasObjdump)(`objdump reads the same from them${unread}`, () => {
    for (const file of files) {
      const shown = spawnSync('objdump', ['-p', file], { encoding: 'utf8' }).stdout
      const references = [...shown.split('Version References:')[1]!.matchAll(/ ([A-Z]+_[\d.]+)$/gm)]
      const ours = [...elfNeeds(readFileSync(file))].flatMap(([name, all]) => all.map((each) => `${name}_${each}`))
      expect(ours.length).toBeGreaterThan(5)
      expect(ours.sort()).toEqual(references.map(([, version]) => version!).sort())
    }
  })
})

test('versions are compared by their numbers', () => {
  expect(newest(['2.4', '2.34', '2.14', '2.2.5'])).toBe('2.34')
  expect(newest([])).toBe(undefined)
})

test('what is no ELF is refused', () => {
  expect(() => elfNeeds(Buffer.from('#!/bin/sh, and more than that'))).toThrow('file: expected ELF of 64 bits')
})
