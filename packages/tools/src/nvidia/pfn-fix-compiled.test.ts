import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { missingForC } from '../../../../test/c-compiler.js'
import { scratch } from '../../../../test/scratch.js'
import { fixedLookup as fixed } from '../../test/nvidia/synthetic-trees.js'
import { findFunctions } from './c-source.js'
import { readModule } from './module-file.js'

const [headers] = (existsSync('/usr/src') ? readdirSync('/usr/src') : []).filter((name) =>
  /^linux-headers-.*-amd64$/.test(name),
)

function missing(...programs: string[]): string | undefined {
  const name = programs.find((program) => spawnSync(program, ['--version']).error !== undefined)
  return name === undefined ? undefined : `[kbuild] ${name} is not installed`
}
const missingForPrograms = missingForC('cc')
const missingForModules =
  headers === undefined ? '[kbuild] linux-headers-amd64 is not installed' : missing('make', 'cc')
const skippedWithoutModules = missingForModules === undefined ? '' : ` (skipped: ${missingForModules})`

const licence = 'MODULE_LICENSE("NVIDIA");\nMODULE_DESCRIPTION("of a test");\n'
const walk = fixed('through-flavors', 'walk')
// A current kernel stands in for an older one: using a function that the older one lacks fails the build.
const older = walk
  .replace('KERNEL_VERSION(5, 6, 0)', 'KERNEL_VERSION(99, 0, 0)')
  .replace('#include <linux/version.h>\n', '$&#undef pud_leaf\n#undef pmd_leaf\n#pragma GCC poison pud_leaf pmd_leaf\n')
const sources = { walk, guarded: fixed('through-flavors', 'guarded'), older }

describe.skipIf(missingForModules !== undefined)(`a PFN lookup in a kernel module${skippedWithoutModules}`, () => {
  const folder = missingForModules === undefined ? scratch() : ''
  let made: { readonly status: number | null; readonly output: string }

  // One run for all modules: most of its time goes into Kbuild's own preparations.
  beforeAll(() => {
    const names = Object.keys(sources)
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, `${name}.c`), `${text}${licence}`)
    const objects = names.map((name) => `${name}.o`).join(' ')
    writeFileSync(join(folder, 'Kbuild'), `obj-m := ${objects}\nccflags-y := -Werror\n`)
    const make = ['-k', '-C', `/usr/src/${headers!}`, `M=${folder}`, 'modules']
    const { status, stdout, stderr } = spawnSync('make', make, { encoding: 'utf8' })
    made = { status, output: stdout + stderr }
  }, 300_000)

  test('both forms compile without warnings in a module without a GPL license', async () => {
    for (const form of ['walk', 'guarded'] as const) {
      expect(existsSync(join(folder, `${form}.ko`)), made.output).toBe(true)
      expect(await readModule(await readFile(join(folder, `${form}.ko`)))).toMatchObject({
        license: 'NVIDIA',
        flavour: 'proprietary',
        mark: form === 'walk' ? 'pfn-walk/1' : 'pfn-guarded/1',
        pfnLookup: form === 'walk' ? 'page-table-walk' : 'guarded-vm_pgoff',
        vermagicRelease: headers!.replace('linux-headers-', ''),
      })
    }
  })

  test('the walk compiles for kernels before 5.6, without pud_leaf and pmd_leaf', () => {
    expect(older.length).toBeGreaterThan(walk.length + '#pragma GCC poison'.length)
    expect(existsSync(join(folder, 'older.o')), made.output).toBe(true)
  })

  test('all modules link', () => {
    expect(made.status, made.output).toBe(0)
  })
})

/** Stubs of the kernel functions that the guarded form calls: a BAR at 0xe0000000, and two unassigned BARs. */
const KERNEL_OF_TWO_DEVICES = `#include <stdio.h>
#include <stdlib.h>
#define MODULE_INFO(name, text)
#define EINVAL 22
#define PAGE_SHIFT 12
#define VM_IO 0x4000
#define VM_PFNMAP 0x400
#define IORESOURCE_MEM 0x200
#define IORESOURCE_UNSET 0x20000000
#define PCI_ANY_ID (~0)
struct vm_area_struct { unsigned long vm_flags, vm_pgoff, vm_start; };
struct pci_dev { unsigned long flags[6], start[6], end[6]; };
static struct pci_dev devices[2] = {
    { .flags = { IORESOURCE_MEM, IORESOURCE_MEM | IORESOURCE_UNSET },
      .start = { 0, 0x100000 }, .end = { 0xffff, 0x1fffff } },
    { .flags = { IORESOURCE_MEM }, .start = { 0xe0000000 }, .end = { 0xe0003fff } },
};
static struct pci_dev *pci_get_device(int vendor, int device, struct pci_dev *from)
{
    struct pci_dev *next = from == NULL ? devices : from + 1;
    (void)vendor, (void)device;
    return next == devices + 2 ? NULL : next;
}
#define pci_dev_put(dev) ((void)(dev))
#define pci_resource_flags(dev, bar) ((dev)->flags[bar])
#define pci_resource_start(dev, bar) ((dev)->start[bar])
#define pci_resource_end(dev, bar) ((dev)->end[bar])
#define pci_resource_len(dev, bar) ((dev)->end[bar] == 0 ? 0 : (dev)->end[bar] - (dev)->start[bar] + 1)
`

const ASK = `int main(int count, char **words)
{
    for (int each = 1; each < count; each++)
    {
        struct vm_area_struct vma = { VM_IO, strtoul(words[each], NULL, 16), 0 };
        unsigned long pfn = 0;
        printf("%d\\n", gpunvme_follow_pfn(&vma, 0, &pfn));
    }
    return 0;
}
`

test('the guarded form accepts only pages of assigned BARs: never page 0 or an unassigned BAR', ({ skip }) => {
  if (missingForPrograms !== undefined) return skip(missingForPrograms)
  const folder = scratch()
  const text = fixed('or-fail', 'guarded')
  const [place] = findFunctions(text, 'gpunvme_follow_pfn')
  const [source, program] = [join(folder, 'ask.c'), join(folder, 'ask')]
  writeFileSync(source, `${KERNEL_OF_TWO_DEVICES}${text.slice(place!.start, place!.end)}\n${ASK}`)
  const made = spawnSync('cc', ['-Wall', '-Werror', '-o', program, source], { encoding: 'utf8' })
  expect(made.status, made.stderr).toBe(0)
  const pages = ['e0000', 'e0003', 'e0004', '0', '1', '100', '1ff']
  const { stdout } = spawnSync(program, pages, { encoding: 'utf8' })
  expect(stdout.trim().split('\n')).toEqual(['0', '0', ...Array<string>(5).fill('-22')])
}, 60_000)
