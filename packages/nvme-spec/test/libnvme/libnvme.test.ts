import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { LIBNVME_DIFFERENCES } from './differences.js'
import { readFacts } from './facts.js'
import { installedVersion, missing, otherRelease } from './installed.js'
import { header, include } from './ours.js'
import { print, report, summary, type Case } from './report.js'
import { LIBNVME } from './tables/libnvme.js'

// libnvme is an independent implementation of the same specifications, so equal values confirm the declarations.

const HEADER = '/usr/include/nvme/types.h'
/** Release to which the tables and the list of differences apply. */
const JUDGE = '1.3'

const absent = missing(HEADER, 'libnvme-dev')
const version = absent === undefined ? installedVersion('libnvme', 'libnvme-dev') : ''
const reason = absent ?? otherRelease('libnvme', version, JUDGE)
const text = existsSync(HEADER) ? readFileSync(HEADER, 'utf8') : ''

const libnvme: Case = {
  facts: readFacts(text),
  theirs: '#include <nvme/types.h>',
  folders: [include],
  table: LIBNVME,
  where: 'test/libnvme/tables',
  differences: LIBNVME_DIFFERENCES,
  header,
}

describe.skipIf(reason)(`nvme_spec.h against libnvme${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('every constant, size and offset of nvme/types.h equals its counterpart, or is listed with a reason', () => {
    const result = report(libnvme)
    print(summary(`libnvme ${version}`, header, result))
    expect([...result.problems, ...result.useless]).toEqual([])
    // A lower number means lost comparisons: a pattern or an entry of `absent` matches too much.
    expect(result.compared).toHaveLength(2865)
  })

  const wrong = [
    ['an opcode', '#define GPUNVME_ADMIN_OPCODE_IDENTIFY 0x6u', 'ADMIN_OPCODE_IDENTIFY 0x7u', 'nvme_admin_identify'],
    ['the position of a field', '#define GPUNVME_CC_MPS_SHIFT 7', 'CC_MPS_SHIFT 8', 'NVME_CC_MPS_SHIFT'],
    ['a mask', '#define GPUNVME_CC_SHN_MASK 0xc000u', 'CC_SHN_MASK 0x4000u', 'NVME_CC_SHN_MASK'],
    ['a status', '#define GPUNVME_STATUS_WRITE_FAULT 0x280u', 'STATUS_WRITE_FAULT 0x281u', 'NVME_SC_WRITE_FAULT'],
  ] as const
  test.each(wrong)('differ if %s is wrong', (_what, right, changed, fact) => {
    expect(header).toContain(right)
    const { problems } = withHeader(header.replace(right, `#define GPUNVME_${changed}`), report)
    expect(problems.join('\n')).toMatch(new RegExp(`^${fact} is 0x`, 'm'))
  })

  test('differ if a difference is listed with wrong values', () => {
    const differences = { ...LIBNVME_DIFFERENCES, NVME_BPRSEL_BPROF_MASK: { theirs: 1, ours: 2, why: '' } }
    expect(report({ ...libnvme, differences }).problems).toEqual([
      expect.stringMatching(/^NVME_BPRSEL_BPROF_MASK is 0xfff, but .* is 0xfffff: correct the declaration/),
    ])
  })

  test('reports a listed difference that does not exist', () => {
    const differences = { ...LIBNVME_DIFFERENCES, NVME_CC_EN_SHIFT: { theirs: 1, ours: 0, why: '' } }
    expect(report({ ...libnvme, differences }).useless).toEqual([
      'NVME_CC_EN_SHIFT is listed in differences.ts, but does not differ; remove it',
    ])
  })

  test('reports a structure listed as absent although nvme_spec.h has one of the same name', () => {
    const facts = readFacts(`${text}\nstruct nvme_smart_healthlog { int a; };`)
    const structs = { ...LIBNVME.structs, nvme_smart_healthlog: 'not declared' }
    expect(report({ ...libnvme, facts, table: { ...LIBNVME, structs } }).problems).toEqual([
      'struct nvme_smart_healthlog: structs of test/libnvme/tables has a reason why it has no counterpart, but struct gpunvme_smart_health_log exists; compare them',
    ])
  })

  test('reports facts that are missing from the tables, and where to add them', () => {
    const more = [
      'enum nvme_cc { NVME_CC_NEW_SHIFT = 30 };',
      'enum nvme_new { NVME_NEW_ONE };',
      'struct nvme_id_psd { int more[2]; };',
      'struct nvme_new { int a; };',
    ]
    const facts = readFacts([text, ...more].join('\n'))
    expect(report({ ...libnvme, facts }).problems).toEqual([
      expect.stringMatching(
        /^NVME_CC_NEW_SHIFT: no GPUNVME_CC_NEW_SHIFT in nvme_spec.h; add .* to nvme_cc of test\/libnvme/,
      ),
      expect.stringMatching(/^NVME_NEW_ONE of enum nvme_new: add it to numbers in test\/libnvme\/tables/),
      expect.stringMatching(
        /^nvme_id_psd.more: no more in struct gpunvme_power_state_descriptor; add .* to structs of/,
      ),
      expect.stringMatching(/^struct nvme_new: add it to structs in test\/libnvme\/tables/),
    ])
  })
})

/** Runs a comparison of libnvme with a changed nvme_spec.h. */
function withHeader<Result>(changed: string, run: (changed: Case) => Result): Result {
  const folder = scratch()
  mkdirSync(join(folder, 'gpunvme'))
  writeFileSync(join(folder, 'gpunvme', 'nvme_spec.h'), changed)
  return run({ ...libnvme, header: changed, folders: [folder] })
}
