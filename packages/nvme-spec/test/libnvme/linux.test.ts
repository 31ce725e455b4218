import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LINUX_DIFFERENCES } from './differences.js'
import { readFacts } from './facts.js'
import { missing, otherRelease } from './installed.js'
import { header, include } from './ours.js'
import { print, report, summary } from './report.js'
import { LINUX } from './tables/linux.js'

// The header of the kernel, the only reference that has statuses with their types and structures for commands.

/** Release to which the tables apply. */
const JUDGE = '6.1.'

const sources = existsSync('/usr/src') ? readdirSync('/usr/src').sort() : []
const folder = sources.find((name) => /^linux-headers-.*-common$/.test(name))
const version = /^linux-headers-(.*)-common$/.exec(folder ?? '')?.[1] ?? ''
const HEADER = folder === undefined ? undefined : join('/usr/src', folder, 'include', 'linux', 'nvme.h')
const absent = missing(HEADER, 'linux-headers-amd64') ?? otherRelease('linux-headers-amd64', version, JUDGE)
const reason = absent?.replace('[headers] linux', '[kbuild] linux')

describe.skipIf(reason)(`nvme_spec.h against the kernel${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('every constant, size and offset of linux/nvme.h equals its counterpart, or is listed with a reason', () => {
    const result = report({
      facts: readFacts(readFileSync(HEADER ?? '', 'utf8'), /^(NVME_|NVMF_|MAX_DISC)/),
      theirs: `#include "${HEADER ?? ''}"`,
      folders: [include, join(import.meta.dirname, 'kernel')],
      table: LINUX,
      where: 'test/libnvme/tables/linux.ts',
      differences: LINUX_DIFFERENCES,
      header,
    })
    print(summary(`linux/nvme.h of Linux ${version}`, header, result))
    expect([...result.problems, ...result.useless]).toEqual([])
    // A lower number means lost comparisons.
    expect(result.compared).toHaveLength(1627)
  })
})
