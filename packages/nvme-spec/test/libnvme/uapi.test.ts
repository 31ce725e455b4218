import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readFacts } from './facts.js'
import { installedVersion, missing, otherRelease } from './installed.js'
import { header, include, itemsOf, readOurs } from './ours.js'
import { print, report, summary, type Report } from './report.js'
import { NOT_IN_LINUX, PCI } from './tables/pci.js'
import { UAPI } from './tables/uapi.js'
import type { Table } from './table.js'

// Headers for access to PCI Express devices, and for passthrough commands to the kernel's NVMe driver.

/** Release to which the tables apply. */
const JUDGE = '6.1.'

const REGISTERS = '/usr/include/linux/pci_regs.h'
const IOCTLS = '/usr/include/linux/nvme_ioctl.h'
const absent = missing(REGISTERS, 'linux-libc-dev') ?? missing(IOCTLS, 'linux-libc-dev')
const version = absent === undefined ? installedVersion('', 'linux-libc-dev') : ''
const reason = absent ?? otherRelease('linux-libc-dev', version, JUDGE)

function compare(path: string, table: Table, where: string, macros?: RegExp): Report {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const theirs = `#include <${path.replace('/usr/include/', '')}>`
  const facts = readFacts(text, macros)
  const result = report({ facts, theirs, folders: [include], table, where, differences: {}, header })
  print(summary(`${path} of Linux ${version}`, header, result))
  expect([...result.problems, ...result.useless]).toEqual([])
  return result
}

/** Whether an item of nvme_spec.h belongs to PCI configuration space. */
const isPci = (name: string) =>
  /^(pci_|msix_|power_management_cap|advanced_error_rep|access_control|address_trans|resizable_bar|downstream_port)/i.test(
    name,
  )

describe.skipIf(reason)(`nvme_spec.h against Linux${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('every number of configuration space equals that of linux/pci_regs.h, or is listed with a reason', () => {
    const { compared, confirmed } = compare(REGISTERS, PCI, 'test/libnvme/tables/pci.ts', /^PCI_/)
    // A lower number means lost comparisons.
    expect(compared).toHaveLength(359)
    const found = new Set(Array.from(confirmed.values(), (items) => [...items]).flat())
    const ours = Array.from(itemsOf(readOurs(header)).values(), (items) => [...items]).flat()
    const unconfirmed = ours.filter((name) => isPci(name) && !found.has(name))
    expect(unconfirmed.toSorted()).toEqual(Object.values(NOT_IN_LINUX).flat().toSorted())
  })

  test('a submission queue entry has the layout of the commands in linux/nvme_ioctl.h', () => {
    const { compared } = compare(IOCTLS, UAPI, 'test/libnvme/tables/uapi.ts')
    expect(compared.map(({ fact }) => fact)).toContain('offsetof nvme_passthru_cmd.cdw15')
    expect(compared).toHaveLength(84)
  })
})
