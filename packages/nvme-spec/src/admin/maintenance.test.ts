import { describe, expect, it } from 'vitest'
import {
  DeviceSelfTest,
  FirmwareCommit,
  FirmwareImageDownload,
  FirmwareUpdateDw0,
  FormatNvm,
  Lockdown,
  NvmeMiReceive,
  NvmeMiSend,
  Sanitize,
  SecurityReceive,
  SecuritySend,
} from './maintenance.js'
import { zeroBased } from '../layout/rows.js'
import { dwordsOf, rowsOf } from '../../test/figures.js'

describe('firmware', () => {
  describe('Firmware Commit (Base 2.1 §5.1.8, Figures 181 and 182)', () => {
    it.each([
      ['FS', 7, 0x0000_0007],
      ['CA', 7, 0x0000_0038],
      ['BPID', 1, 0x8000_0000],
    ])('%s is at its bits of Command Dword 10', (symbol, value, dword) => {
      expect(dwordsOf(FirmwareCommit, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
    })

    it('CA 000b to 011b store and activate images, 110b and 111b apply to Boot Partitions, 100b and 101b are reserved', () => {
      expect(FirmwareCommit.fields.CA.values).toEqual({
        ...{ REPLACE: 0, REPLACE_AND_ACTIVATE_AT_RESET: 1, ACTIVATE_AT_RESET: 2, REPLACE_AND_ACTIVATE_IMMEDIATELY: 3 },
        ...{ REPLACE_BOOT_PARTITION: 6, ACTIVATE_BOOT_PARTITION: 7 },
      })
      expect(() => dwordsOf(FirmwareCommit, { CA: 4 })).toThrow('Firmware Commit.CA (Commit Action)')
    })

    it('FirmwareUpdateDw0: Multiple Update Detected is bits 01:00 of Dword 0', () => {
      expect(rowsOf(FirmwareUpdateDw0)).toEqual([
        ['ASQFWO', 0, 0],
        ['MEFWO', 1, 1],
      ])
    })
  })

  describe('Firmware Image Download (Base 2.1 §5.1.9, Figures 185 and 186)', () => {
    it("NUMD is a 0's based count of 32 bits, OFST an offset in dwords", () => {
      const values = { NUMD: zeroBased(0x0800), OFST: 0x1234_5678 }
      expect(dwordsOf(FirmwareImageDownload, values)).toEqual([0x07ff, 0x1234_5678, 0, 0, 0, 0])
      expect(dwordsOf(FirmwareImageDownload, { NUMD: zeroBased(2 ** 32) })[0]).toBe(0xffff_ffff)
    })
  })
})

describe('format', () => {
  describe('Format NVM (Base 2.1 §5.1.10, Figure 189; NVM 1.2 §4.1.2, Figure 90)', () => {
    it.each([
      ['LBAFL', 0xf, 0x000f],
      ['MSET', 1, 0x0010],
      ['PI', 3, 0x0060],
      ['PIL', 1, 0x0100],
      ['SES', 2, 0x0400],
      ['LBAFU', 3, 0x3000],
    ])('%s is at its bits of Command Dword 10', (symbol, value, dword) => {
      expect(dwordsOf(FormatNvm, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
    })

    it('SES 000b requests no secure erase, 001b User Data Erase, 010b Cryptographic Erase; PI has types 000b to 011b', () => {
      expect(FormatNvm.fields.SES.values).toEqual({ NONE: 0, USER_DATA_ERASE: 1, CRYPTOGRAPHIC_ERASE: 2 })
      expect(FormatNvm.fields.PI.values).toEqual({ DISABLED: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 })
    })

    it('rejects reserved values, which a controller might interpret as another erase', () => {
      expect(() => dwordsOf(FormatNvm, { SES: 3 })).toThrow(
        'Format NVM.SES (Secure Erase Settings): expected 0 (NONE), 1 (USER_DATA_ERASE), 2 (CRYPTOGRAPHIC_ERASE), got 3',
      )
    })
  })
})

describe('sanitize', () => {
  describe('Sanitize (Base 2.1 §5.1.22, Figures 372 and 373)', () => {
    it.each([
      ['SANACT', 4, 0x004],
      ['AUSE', 1, 0x008],
      ['OWPASS', 0xf, 0x0f0],
      ['OIPBP', 1, 0x100],
      ['NDAS', 1, 0x200],
      ['EMVS', 1, 0x400],
    ])('%s is at its bits of Command Dword 10', (symbol, value, dword) => {
      expect(dwordsOf(Sanitize, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
    })

    it('OVRPAT is Command Dword 11', () => {
      expect(dwordsOf(Sanitize, { OVRPAT: 0xdead_beef })).toEqual([0, 0xdead_beef, 0, 0, 0, 0])
    })

    it('SANACT 001b to 101b are actions, 000b is reserved', () => {
      expect(Sanitize.fields.SANACT.values).toEqual({
        ...{ EXIT_FAILURE_MODE: 1, BLOCK_ERASE: 2, OVERWRITE: 3, CRYPTO_ERASE: 4, EXIT_MEDIA_VERIFICATION: 5 },
      })
      expect(() => dwordsOf(Sanitize, { SANACT: 6 })).toThrow('Sanitize.SANACT (Sanitize Action)')
    })
  })
})

describe('self test', () => {
  describe('Device Self-test (Base 2.1 §5.1.5, Figures 171 and 173; libnvme 1.16 nvme_dst_stc)', () => {
    it('STC is bits 3:0 of Command Dword 10', () => {
      expect(dwordsOf(DeviceSelfTest, { STC: 0xf })).toEqual([0x0f, 0, 0, 0, 0, 0])
    })

    it('STC 1h is short, 2h extended, 3h Host-Initiated Refresh, Eh vendor specific, Fh aborts', () => {
      expect(DeviceSelfTest.fields.STC.values).toEqual({
        ...{ SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14, ABORT: 15 },
      })
    })
  })
})

describe('lockdown', () => {
  describe('Lockdown (Base 2.1 §5.1.15, Figures 337 and 338)', () => {
    it.each([
      ['SCP', 4, [0x0004, 0, 0, 0, 0, 0]],
      ['PRHBT', 1, [0x0010, 0, 0, 0, 0, 0]],
      ['IFC', 2, [0x0040, 0, 0, 0, 0, 0]],
      ['OFI', 0xff, [0xff00, 0, 0, 0, 0, 0]],
      ['UIDX', 0x7f, [0, 0, 0, 0, 0x7f, 0]],
    ])('%s is at the bits of its figure', (symbol, value, dwords) => {
      expect(dwordsOf(Lockdown, { [symbol]: value })).toEqual(dwords)
    })

    it('SCP 1h and IFC 11b are reserved', () => {
      expect(Lockdown.fields.SCP.values).toEqual({ ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 })
      expect(Lockdown.fields.IFC.values).toEqual({ ADMIN_QUEUE: 0, ADMIN_QUEUE_AND_ENDPOINT: 1, ENDPOINT: 2 })
      expect(() => dwordsOf(Lockdown, { IFC: 3 })).toThrow('Lockdown.IFC (Interface)')
    })
  })
})

describe('security', () => {
  // Security Protocol EAh, SP Specific 0001h is the Replay Protected Memory Block; NSSF is its target (Figure 378).
  const protocol = { SECP: 0xea, SPSP1: 0x00, SPSP0: 0x01, NSSF: 0x02 }

  describe('Security Send and Security Receive (Base 2.1 §5.1.23 and §5.1.24)', () => {
    it('Security Send: Command Dwords 10 and 11 are those of Figures 380 and 381', () => {
      expect(dwordsOf(SecuritySend, { ...protocol, TL: 512 })).toEqual([0xea00_0102, 512, 0, 0, 0, 0])
      expect(dwordsOf(SecuritySend, { SPSP1: 0xff })[0]).toBe(0x00ff_0000)
    })

    it('Security Receive: Command Dwords 10 and 11 are those of Figures 376 and 377', () => {
      expect(dwordsOf(SecurityReceive, { ...protocol, AL: 512 })).toEqual([0xea00_0102, 512, 0, 0, 0, 0])
      expect(dwordsOf(SecurityReceive, { SPSP1: 0xff })[0]).toBe(0x00ff_0000)
    })
  })
})

describe('nvme mi', () => {
  describe('NVMe-MI Send and NVMe-MI Receive (Base 2.1 §5.1.18 and §5.1.19)', () => {
    it.each([
      [NvmeMiSend, 0x1d, 'host-to-controller'],
      [NvmeMiReceive, 0x1e, 'controller-to-host'],
    ] as const)('%# has its opcode and data transfer, and its dwords as they are', (command, opcode, transfer) => {
      expect(command).toMatchObject({ opcode, transfer })
      const values = { CDW10: 10, CDW11: 11, CDW12: 12, CDW13: 13, CDW14: 14, CDW15: 0xffff_ffff }
      expect(dwordsOf(command, values)).toEqual([10, 11, 12, 13, 14, 0xffff_ffff])
    })
  })
})
