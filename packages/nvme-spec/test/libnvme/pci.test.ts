import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readFacts } from './facts.js'
import { installedVersion, missing } from './installed.js'
import { header, include, itemsOf, readOurs } from './ours.js'
import { print, report, summary } from './report.js'
import { NOT_IN_LINUX, PCI } from './tables/pci.js'

// The kernel drives every PCI Express device with these numbers.

const HEADER = '/usr/include/linux/pci_regs.h'
/** The release that the tables speak of. */
const JUDGE = '6.1.'

const reason = missing(HEADER, 'linux-libc-dev')
const version = reason === undefined ? installedVersion('', 'linux-libc-dev') : ''
const text = existsSync(HEADER) ? readFileSync(HEADER, 'utf8') : ''

/** Our items of PCI configuration space. */
const isPci = (name: string) =>
  /^(pci_|power_management_cap|msix_|advanced_error_rep|PCI_|POWER_MANAGEMENT_CAP|MSIX_|ADVANCED_ERROR_REP)/.test(name)

describe.skipIf(reason)(`nvme_spec.h against Linux${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('every number of configuration space is that of linux/pci_regs.h, or in a list that says why not', () => {
    const result = report({
      facts: readFacts(text, /^PCI_/),
      theirs: '#include <linux/pci_regs.h>',
      folders: [include],
      table: PCI,
      where: 'test/libnvme/tables/pci.ts',
      differences: {},
      header,
    })
    print(summary(`linux/pci_regs.h of Linux ${version}`, header, result))
    expect(result.compared.length).toBeGreaterThan(300)
    const confirmed = new Set(Array.from(result.confirmed.values(), (items) => [...items]).flat())
    const ours = Array.from(itemsOf(readOurs(header)).values(), (items) => [...items]).flat()
    const unconfirmed = ours.filter((name) => isPci(name) && !confirmed.has(name))
    const open = [...result.problems, ...result.useless]
    // Another release has more numbers: what the tables do not know of it is worth reading, no failure.
    if (!version.startsWith(JUDGE)) print(`the tables speak of Linux ${JUDGE}x:\n${open.join('\n')}`)
    else {
      expect(open).toEqual([])
      expect(unconfirmed.toSorted()).toEqual(Object.values(NOT_IN_LINUX).flat().toSorted())
    }
  })
})
