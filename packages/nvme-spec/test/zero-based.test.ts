import { describe, expect, it } from 'vitest'
import { everyField } from './declared.js'

/**
 * Fields that hold one less than their count: those whose text contains "This is a 0's based value", with the place of
 * that text. Base and NVM are specifications; a commit or a program is named if no text was found.
 */
const zeroBased: Readonly<Record<string, string>> = {
  // Registers
  'CAP.MQES': 'Base 2.1 §3.1.4.1, Figure 36',
  'AQA.ASQS': 'Base 2.1 §3.1.4.8',
  'AQA.ACQS': 'Base 2.1 §3.1.4.8',
  'MSI-X capability.MXC.TS': 'PCIe 1.2 §3.8.4.2: encoded as n - 1',

  // Identify
  'Identify Controller.ACL': 'libnvme 1.3 nvme_id_ctrl',
  'Identify Controller.AERL': 'libnvme 1.3 nvme_id_ctrl',
  'Identify Controller.ELPE': 'libnvme 1.3 nvme_id_ctrl',
  'Identify Controller.NPSS': 'nvme-cli prints it as 0’s based',
  'Identify Controller.RPMBS.TSZE': 'Base 2.0, Identify Controller, RPMBS',
  'Identify Controller.RPMBS.ASZE': 'Base 2.0, Identify Controller, RPMBS: 0h is one unit',
  'Identify Controller.AWUN': 'NVM 1.2 §4.1.5.2, Figure 117',
  'Identify Controller.AWUPF': 'NVM 1.2 §4.1.5.2, Figure 117',
  'Identify Controller.ACWU': 'NVM 1.2 §4.1.5.2, Figure 117',
  'Identify Namespace.NLBAF': 'NVM 1.2 §4.1.5.1, Figure 114',
  // In the next five, 0 is not one block: it means the value of the controller, or no boundary.
  'Identify Namespace.NAWUN': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NAWUPF': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NACWU': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NABSN': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NABSPF': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NPWG': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NPWA': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NPDG': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NPDA': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.NOWS': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.MSRC': 'NVM 1.2 §4.1.5.1, Figure 114',
  'Identify Namespace.KPIODAAG': 'NVM 1.2 §4.1.5.1, Figure 114',
  'NVM Command Set Identify Namespace.NPRG': 'NVM 1.2 §4.1.5.3, Figure 118',
  'NVM Command Set Identify Namespace.NPRA': 'NVM 1.2 §4.1.5.3, Figure 118',
  'NVM Command Set Identify Namespace.NORS': 'NVM 1.2 §4.1.5.3, Figure 118',
  'Namespace Granularity List.ND': 'NVM 1.2 §4.1.5.8, Figure 123',
  'Zoned Namespace Command Set Identify Namespace.MAR': 'Linux commit b7e97872a65e: FFFFFFFFh is no limit',
  'Zoned Namespace Command Set Identify Namespace.MOR': 'Linux commit b7e97872a65e: FFFFFFFFh is no limit',

  // Log pages and other data
  'LBA Range Descriptor.RNLB': 'NVM 1.2 §4.1.4.5, Figure 111',
  'LBA Status Descriptor Entry.NLB': 'NVM 1.2 §4.2.1.2, Figure 132',
  'FDP Configurations header.NUMFDPC': 'Base 2.1 §5.1.12.1.28, Figure 279',
  'FDP Configuration Descriptor.MAXPIDS':
    'Base 2.2 §7.4.1, Figure 567: the limit of NPID, which is; SPDK prints it + 1',
  'Copy Source Range Format 0h.NLB': 'NVM 1.2 §3.3.2, Figure 39',
  'Copy Source Range Format 1h.NLB': 'NVM 1.2 §3.3.2, Figure 40',
  'Copy Source Range Format 2h.NLB': 'NVM 1.2 §3.3.2, Figure 39',
  'Copy Source Range Format 3h.NLB': 'NVM 1.2 §3.3.2, Figure 40',

  // Features
  'Arbitration.CDW11.LPW': 'Base 2.1 §5.1.25.1.1, Figure 386',
  'Arbitration.CDW11.MPW': 'Base 2.1 §5.1.25.1.1, Figure 386',
  'Arbitration.CDW11.HPW': 'Base 2.1 §5.1.25.1.1, Figure 386',
  'LBA Range Type.CDW11.NUM': 'NVM 1.2 §4.1.3.1, Figures 93 and 94',
  'Number of Queues.CDW11.NSQR': 'Base 2.1 §5.1.25.2.1',
  'Number of Queues.CDW11.NCQR': 'Base 2.1 §5.1.25.2.1',
  'Number of Queues.DW0.NSQA': 'Base 2.1 §5.1.25.2.1',
  'Number of Queues.DW0.NCQA': 'Base 2.1 §5.1.25.2.1',
  'Interrupt Coalescing.CDW11.THR': 'Base 2.1 §5.1.25.2.2, Figure 445',

  // Commands
  'Create I/O Submission Queue.QSIZE': 'Base 2.1, Create I/O Submission Queue, Command Dword 10',
  'Create I/O Completion Queue.QSIZE': 'Base 2.1, Create I/O Completion Queue, Command Dword 10',
  'Directive Send.NUMD': 'Base 2.1 §5.1.7, Figure 179',
  'Directive Receive.NUMD': 'Base 2.1 §5.1.6, Figure 176',
  'Firmware Image Download.NUMD': 'Base 2.1 §5.1.9, Figure 185',
  'Get LBA Status.MNDW': 'NVM 1.2 §4.2.1, Figure 129',
  'Write.NLB': 'NVM 1.2 §3.3.6',
  'Read.NLB': 'NVM 1.2 §3.3.4',
  'Write Uncorrectable.NLB': 'NVM 1.2 §3.3.7',
  'Compare.NLB': 'NVM 1.2 §3.3.1',
  'Write Zeroes.NLB': 'NVM 1.2 §3.3.8',
  'Dataset Management.NR': 'NVM 1.2 §3.3.3',
  'Verify.NLB': 'NVM 1.2 §3.3.5',
  'Copy.NR': 'NVM 1.2 §3.3.2',
  'Reservation Report.NUMD': 'Base 2.2 §7.8, Figure 580',
  'I/O Management Receive.NUMD': 'Base 2.2 §7.3, Figure 563',
  'Zone Management Receive.NUMD': 'QEMU hw/nvme/ctrl.c nvme_zone_mgmt_recv: (CDW12 + 1) dwords',
  'Zone Append.NLB': 'QEMU hw/nvme/ctrl.c nvme_do_write: NLB + 1',

  // NVMe over Fabrics
  'Connect.SQSIZE': 'Base 2.1 §6.3, Figure 545',
  'ICReq.HPDA': 'TCP 1.0 §3.6.2.2, Figure 20',
  'ICReq.MAXR2T': 'TCP 1.0 §3.6.2.2, Figure 20',
  'ICResp.CPDA': 'TCP 1.0 §3.6.2.3, Figure 21',
}

/** 0's based fields that `zeroBased` cannot represent: 64 bits, or half of a count. Their doc states it. */
const inWords: Readonly<Record<string, string>> = {
  'LBA Range Type Entry.NLB': 'NVM 1.2 §4.1.3.1, Figure 95: a 64-bit count',
  'Get Log Page.NUMDL': 'Base 2.1 §5.1.12: the lower half of NUMD',
}

/** Similar fields that hold the count itself, contrary to what a reader might expect. */
const plainCounts = [
  ['Identify Namespace.NULBAF', 'NVM 1.2 §4.1.5.1, Figure 114'],
  ['Identify Namespace.MSSRL', 'NVM 1.2 §4.1.5.1, Figure 114'],
  ['Identify Namespace.MCL', 'NVM 1.2 §4.1.5.1, Figure 114'],
  ['Identify Namespace.NOIOB', 'NVM 1.2 §4.1.5.1, Figure 114'],
  ['NVM Command Set Identify Namespace.NPDGL', 'NVM 1.2 §4.1.5.3, Figure 118'],
  ['NVM Command Set Identify Namespace.NPDAL', 'NVM 1.2 §4.1.5.3, Figure 118'],
  ['NVM Command Set Identify Namespace.LBAPSS', 'NVM 1.2 §4.1.5.3, Figure 118'],
  ['Namespace Management host specified fields.NPHNDLS', 'NVM 1.2 §4.1.6, Figure 125'],
  ['LBA Status Descriptor List.NLSD', 'NVM 1.2 §4.2.1.2, Figure 131'],
  ['Get LBA Status.RL', 'NVM 1.2 §4.2.1, Figure 130'],
] as const

const fields = everyField()

describe("0's based values", () => {
  it('are declared exactly for the fields whose text says so', () => {
    const declared = fields.filter((field) => field.zeroBased).map(({ path }) => path)
    expect(declared.toSorted()).toEqual(Object.keys(zeroBased).toSorted())
  })

  it('without a type are described in words', () => {
    const said = fields.filter(({ doc }) => /0.s based/.test(doc)).map(({ path }) => path)
    expect(said.toSorted()).toEqual(Object.keys(inWords).toSorted())
  })

  it.each(plainCounts)('do not include %s, which holds the count itself (%s)', (path) => {
    expect(fields.filter((field) => field.path === path)).toMatchObject([{ zeroBased: false }])
  })
})
