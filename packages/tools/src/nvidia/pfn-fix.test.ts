import { expect, test } from 'vitest'
import {
  fixedLookup as fixed,
  SYNTHETIC_LOOKUPS,
  SYNTHETIC_SOURCES,
  type SyntheticLookup,
} from '../../test/nvidia/synthetic-trees.js'
import { formOfOurs } from './pfn-fix.js'
import { KNOWN_SHAPES, shapeOf } from './pfn-shapes.js'

const LOOKUPS = Object.keys(SYNTHETIC_LOOKUPS) as SyntheticLookup[]

test.each(LOOKUPS)('the fix replaces the failing lookup in a source of shape %s', (lookup) => {
  const text = fixed(lookup, 'walk')
  expect(text.match(/return gpunvme_follow_pfn\(vma, address, pfn\);/g)).toHaveLength(1)
  expect(text).not.toMatch(/return -1;/)
  expect(text.match(/^MODULE_INFO\(gpunvme, "pfn-walk\/1"\);$/gm)).toHaveLength(1)
})

test('formOfOurs recognises an unchanged fix only', () => {
  expect(formOfOurs(fixed('or-fail', 'walk'))).toBe('page-table-walk')
  expect(formOfOurs(fixed('or-fail', 'guarded'))).toBe('guarded-vm_pgoff')
  expect(formOfOurs(fixed('or-fail', 'walk').replace('pud_bad(pud)', '0'))).toBeUndefined()
  expect(formOfOurs(SYNTHETIC_LOOKUPS['or-fail'])).toBeUndefined()
})

test.each([
  ['a word of a caller', (source: string) => source.replace('return get_io_ptes(', 'return 0 & get_io_ptes(')],
  ['a second definition', (source: string) => `${source}\nint nv_follow_pfn(void)\n{\n}\n`],
  ['no end', (source: string) => source.slice(0, source.indexOf('return follow_pfn'))],
  ['a preprocessor line', (source: string) => source.replace('#ifdef SYNTHETIC', '#ifndef SYNTHETIC')],
])('shapeOf returns undefined for a source that differs by %s', (_, change) => {
  const source = change(SYNTHETIC_LOOKUPS['through-flavors'])
  expect(source).not.toBe(SYNTHETIC_LOOKUPS['through-flavors'])
  expect(shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)).toBeUndefined()
})

test('shapeOf ignores white space and comments, but not the flavour', () => {
  const source = SYNTHETIC_LOOKUPS['or-fail'].replaceAll('    ', '\t').replace('return -1', '/* no */ return  -1')
  expect(shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)).toBeDefined()
  expect(shapeOf(source, 'open', SYNTHETIC_SOURCES.shapes)).toBeUndefined()
  expect(shapeOf(SYNTHETIC_LOOKUPS['or-fail'], 'proprietary', KNOWN_SHAPES)).toBeUndefined()
})
