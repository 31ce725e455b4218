import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { elfNeeds, newest } from './elf-needs.js'

const built = join(import.meta.dirname, '../native/build/Release')
const files = ['gpunvme_host', 'gpunvme_cuda'].map((name) => join(built, `${name}.node`))
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
const glibc = header.glibcVersionRuntime ?? 'another C library'

/**
 * Returns why the test does not apply: addons that are built with a newer glibc require newer versions of its symbols.
 */
function whyNot(): string | undefined {
  if (!files.every((file) => existsSync(file))) return 'the addons are not built here'
  if (newest([glibc, '2.36']) !== '2.36') return `published addons are built with glibc 2.36, not ${glibc}`
  return undefined
}
const reason = whyNot()
const hasObjdump = spawnSync('objdump', ['--version']).status === 0
const skipped = reason === undefined ? '' : ` (skipped: [native] ${reason})`
const unread = hasObjdump ? '' : ' (skipped: [native] objdump is not installed)'

describe.skipIf(reason !== undefined)(`library versions that the addons require${skipped}`, () => {
  // glibc 2.34 and the libstdc++ of GCC 11, as in RHEL 9: the requirements in the README.
  test.each(files)('%s loads with glibc 2.34, GLIBCXX_3.4.29 and CXXABI_1.3.13', (file) => {
    const needs = elfNeeds(readFileSync(file))
    expect(newest(['2.34', ...needs.get('GLIBC')!])).toBe('2.34')
    expect(newest(['3.4.29', ...needs.get('GLIBCXX')!])).toBe('3.4.29')
    expect(newest(['1.3.13', ...needs.get('CXXABI')!])).toBe('1.3.13')
  })

  test.skipIf(!hasObjdump)(`match those that objdump prints${unread}`, () => {
    for (const file of files) {
      const shown = spawnSync('objdump', ['-p', file], { encoding: 'utf8' }).stdout
      const references = [...shown.split('Version References:')[1]!.matchAll(/ ([A-Z]+_[\d.]+)$/gm)]
      const ours = [...elfNeeds(readFileSync(file))].flatMap(([name, all]) => all.map((each) => `${name}_${each}`))
      expect(ours.length).toBeGreaterThan(5)
      expect(ours.sort()).toEqual(references.map(([, version]) => version!).sort())
    }
  })
})

test('compares versions numerically', () => {
  expect(newest(['2.4', '2.34', '2.14', '2.2.5'])).toBe('2.34')
  expect(newest([])).toBe(undefined)
})

test('rejects a file that is not ELF', () => {
  expect(() => elfNeeds(Buffer.from('#!/bin/sh, and more than that'))).toThrow('file: expected ELF of 64 bits')
})
