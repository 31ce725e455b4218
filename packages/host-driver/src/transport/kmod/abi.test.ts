import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { missingForC } from '../../../../../test/c-compiler.js'
import { scratch } from '../../../../../test/scratch.js'
import * as abi from './abi.js'

const HEADER = join(import.meta.dirname, '../../../../../kmod/uapi/gpunvme_ioctl.h')

const { KMOD, IOMMU_MODE, RESET_METHOD, Info, PinUser, ImportDmaBuf } = abi

/** Declarations in abi.ts, by the names of the C structures. */
const structures = {
  ...{ gpunvme_info: Info, gpunvme_alloc_coherent: abi.AllocCoherent, gpunvme_segment: abi.Segment },
  ...{ gpunvme_pin_user: PinUser, gpunvme_import_dmabuf: ImportDmaBuf, gpunvme_memory: abi.Memory },
  ...{ gpunvme_release: abi.Release, gpunvme_set_bus_master: abi.SetBusMaster, gpunvme_reset: abi.Reset },
  ...{ gpunvme_set_irq: abi.SetIrq, gpunvme_set_notify: abi.SetNotify, gpunvme_read_config: abi.ReadConfig },
}

/** Values in abi.ts, by C expression. */
const numbers: Record<string, number> = {
  ...Object.fromEntries(Object.entries(KMOD).map(([name, number]) => [`GPUNVME_${name}`, number])),
  GPUNVME_ABI_VERSION: abi.ABI_VERSION,
  GPUNVME_MAX_LENGTH: abi.MAX_LENGTH,
  GPUNVME_MAX_COHERENT_LENGTH: abi.MAX_COHERENT_LENGTH,
  GPUNVME_MMAP_BAR0: abi.MMAP_BAR0,
  GPUNVME_IOMMU_NONE: IOMMU_MODE.NONE,
  GPUNVME_IOMMU_IDENTITY: IOMMU_MODE.IDENTITY,
  GPUNVME_IOMMU_TRANSLATED: IOMMU_MODE.TRANSLATED,
  GPUNVME_RESET_FUNCTION: RESET_METHOD.FUNCTION,
  GPUNVME_RESET_BUS: RESET_METHOD.BUS,
  'GPUNVME_RESET_FUNCTION + 0': 1 << Info.RESET_METHODS.FUNCTION.lsb,
  'GPUNVME_RESET_BUS + 0': 1 << Info.RESET_METHODS.BUS.lsb,
  GPUNVME_EVENT_REVOKED: 1 << Info.EVENTS.REVOKED.lsb,
  GPUNVME_EVENT_RESET: 1 << Info.EVENTS.RESET.lsb,
  GPUNVME_EVENT_SUSPEND: 1 << Info.EVENTS.SUSPEND.lsb,
  GPUNVME_EVENT_ERROR: 1 << Info.EVENTS.ERROR.lsb,
  GPUNVME_DEVICE_READS: 1 << PinUser.FLAGS.READS.lsb,
  GPUNVME_DEVICE_WRITES: 1 << PinUser.FLAGS.WRITES.lsb,
  GPUNVME_IMPORT_DYNAMIC: 1 << ImportDmaBuf.FLAGS.DYNAMIC.lsb,
}
for (const [name, declaration] of Object.entries(structures)) {
  numbers[`sizeof(struct ${name})`] = declaration.bytes
  for (const [field, { offset, lengthBytes }] of Object.entries(declaration.fields)) {
    numbers[`offsetof(struct ${name}, ${field.toLowerCase()})`] = offset
    numbers[`sizeof(((struct ${name} *)0)->${field.toLowerCase()})`] = lengthBytes
  }
}

test('requests, sizes and offsets equal those of gpunvme_ioctl.h as compiled by gcc', ({ skip }) => {
  const missing = missingForC('gcc')
  if (missing !== undefined) return skip(missing)
  if (!existsSync(HEADER))
    return skip('[headers] kmod/uapi/gpunvme_ioctl.h is in the repository alone, not in the package')
  const folder = scratch()
  const program = join(folder, 'program')
  const prints = Object.keys(numbers).map((expression) => `printf("%llu\\n", (unsigned long long)(${expression}));`)
  const source = `#include "${HEADER}"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) { ${prints.join('\n')} }\n`
  execFileSync('gcc', ['-x', 'c', '-', '-o', program], { input: source })
  const values = execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
  const theirs = Object.fromEntries(Object.keys(numbers).map((expression, index) => [expression, values[index]]))
  expect(numbers).toEqual(theirs)
}, 60_000)

test('all requests and structures of the header are declared', ({ skip }) => {
  if (!existsSync(HEADER))
    return skip('[headers] kmod/uapi/gpunvme_ioctl.h is in the repository alone, not in the package')
  const header = readFileSync(HEADER, 'utf8')
  const requests = [...header.matchAll(/^#define GPUNVME_(\w+) _IOWR\(/gm)].map(([, name]) => name)
  expect(requests).toEqual(Object.keys(KMOD))
  const declared = [...header.matchAll(/^struct (\w+) \{/gm)].map(([, name]) => name)
  expect(declared).toEqual(Object.keys(structures))
})
