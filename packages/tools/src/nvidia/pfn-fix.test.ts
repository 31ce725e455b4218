import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SYNTHETIC_LOOKUPS, SYNTHETIC_SOURCES, type SyntheticLookup } from '../../test/nvidia/synthetic-trees.js'
import { edited } from './edits.js'
import { formOfOurs, pfnFixEdits, type FixForm } from './pfn-fix.js'
import { KNOWN_SHAPES, shapeOf } from './pfn-shapes.js'
import { readModule } from './module-file.js'
import { readFile } from 'node:fs/promises'

const LOOKUPS = Object.keys(SYNTHETIC_LOOKUPS) as SyntheticLookup[]
const FORMS: FixForm[] = ['walk', 'guarded']

function fixed(lookup: SyntheticLookup, form: FixForm): string {
  const source = SYNTHETIC_LOOKUPS[lookup]
  const shape = shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)
  return edited(source, pfnFixEdits(source, shape!, form))
}

test.each(LOOKUPS)('in a source of the shape %s, ours is called in the one place that failed', (lookup) => {
  const text = fixed(lookup, 'walk')
  expect(text.match(/return gpunvme_follow_pfn\(vma, address, pfn\);/g)).toHaveLength(1)
  expect(text).not.toMatch(/return -1;/)
  expect(text.match(/^MODULE_INFO\(gpunvme, "pfn-walk\/1"\);$/gm)).toHaveLength(1)
})

test('what we put there is known again; a source that somebody changed it in is not', () => {
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
])('a source that differs by %s is of no known shape', (_, change) => {
  const source = change(SYNTHETIC_LOOKUPS['through-flavors'])
  expect(source).not.toBe(SYNTHETIC_LOOKUPS['through-flavors'])
  expect(shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)).toBeUndefined()
})

test('white space and comments make no other shape, the other flavour does', () => {
  const source = SYNTHETIC_LOOKUPS['or-fail'].replaceAll('    ', '\t').replace('return -1', '/* no */ return  -1')
  expect(shapeOf(source, 'proprietary', SYNTHETIC_SOURCES.shapes)).toBeDefined()
  expect(shapeOf(source, 'open', SYNTHETIC_SOURCES.shapes)).toBeUndefined()
  expect(shapeOf(SYNTHETIC_LOOKUPS['or-fail'], 'proprietary', KNOWN_SHAPES)).toBeUndefined()
})

const releases = (existsSync('/usr/src') ? readdirSync('/usr/src') : []).filter((name) =>
  /^linux-headers-.*-amd64$/.test(name),
)

test(
  'both forms compile without a warning, and a module that is not GPL may have them',
  { timeout: 300_000 },
  async ({ skip }) => {
    const [headers] = releases
    if (headers === undefined) return skip('[kbuild] linux-headers-amd64 is not installed')
    for (const form of FORMS) {
      const folder = mkdtempSync(join(tmpdir(), 'gpunvme-pfn-fix-'))
      try {
        const licence = 'MODULE_LICENSE("NVIDIA");\nMODULE_DESCRIPTION("of a test");\n'
        writeFileSync(join(folder, 'lookup.c'), `${fixed('through-flavors', form)}${licence}`)
        writeFileSync(join(folder, 'Kbuild'), 'obj-m := lookup.o\nccflags-y := -Werror\n')
        const made = spawnSync('make', ['-C', `/usr/src/${headers}`, `M=${folder}`, 'modules'], { encoding: 'utf8' })
        expect(made.status, made.stdout + made.stderr).toBe(0)
        expect(await readModule(await readFile(join(folder, 'lookup.ko')))).toMatchObject({
          license: 'NVIDIA',
          flavour: 'proprietary',
          mark: form === 'walk' ? 'pfn-walk/1' : 'pfn-guarded/1',
          pfnLookup: form === 'walk' ? 'page-table-walk' : 'guarded-vm_pgoff',
          vermagicRelease: headers.replace('linux-headers-', ''),
        })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
  },
)
