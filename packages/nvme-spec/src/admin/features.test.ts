import { describe, expect, it } from 'vitest'
import {
  Arbitration,
  AsynchronousEventConfiguration,
  AutonomousPowerStateTransition,
  AutonomousPowerStateTransitionEntry,
  AutonomousPowerStateTransitions,
  ControllerDataQueue,
  ControllerDataQueueData,
  FID,
  GetFeatures,
  HostControlledThermalManagement,
  HostMemoryBuffer,
  HostMemoryBufferAttributes,
  HostMemoryBufferDescriptor,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  IoCommandSetProfile,
  KeepAliveTimer,
  NonOperationalPowerStateConfig,
  NumberOfQueues,
  PowerLossSignalingConfig,
  PowerManagement,
  SanitizeConfig,
  SetFeatures,
  SpinupControl,
  SupportedCapabilitiesDw0,
  TemperatureThreshold,
  Timestamp,
  TimestampData,
  VolatileWriteCache,
} from './features.js'
import { allFeatures } from '../all.js'
import { zeroBased } from '../layout/rows.js'
import { fromHex, toHex } from '../../test/bytes.js'
import { bytesOf, dwordsOf, rowsOf } from '../../test/figures.js'

describe('features', () => {
  // Base 2.1 §5.1.25, Figure 385: Feature Identifier and Feature Name; NVM 1.2 §4.1.3, Figure 91, and KV 1.0d §4.1.3, Figure 33
  // (20h), for those of command sets.
  const figure385 = `
  01 Arbitration | 02 Power Management | 03 LBA Range Type | 04 Temperature Threshold | 05 Error Recovery
  06 Volatile Write Cache | 07 Number of Queues | 08 Interrupt Coalescing | 09 Interrupt Vector Configuration
  0a Write Atomicity Normal | 0b Asynchronous Event Configuration | 0c Autonomous Power State Transition
  0d Host Memory Buffer | 0e Timestamp | 0f Keep Alive Timer | 10 Host Controlled Thermal Management
  11 Non-Operational Power State Config | 12 Read Recovery Level Config | 13 Predictable Latency Mode Config
  14 Predictable Latency Mode Window | 15 LBA Status Information Attributes | 16 Host Behavior Support
  17 Sanitize Config | 18 Endurance Group Event Configuration | 19 I/O Command Set Profile | 1a Spinup Control
  1b Power Loss Signaling Config | 1c Performance Characteristics | 1d Flexible Data Placement
  1e Flexible Data Placement Events | 1f Namespace Admin Label | 20 Key Value Configuration
  21 Controller Data Queue
  78 Embedded Management Controller Address | 79 Host Management Agent Address | 7d Enhanced Controller Metadata
  7e Controller Metadata | 7f Namespace Metadata | 80 Software Progress Marker | 81 Host Identifier
  82 Reservation Notification Mask | 83 Reservation Persistence | 84 Namespace Write Protection Config
  85 Boot Partition Write Protection Config`
    .split(/[|\n]/)
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .map((row) => [Number.parseInt(row.slice(0, 2), 16), row.slice(3)] as const)

  describe('FID (Base 2.1 §5.1.25, Figure 385; NVM 1.2 §4.1.3, Figure 91)', () => {
    it('has the identifiers of the figures, under their names, and no others', () => {
      const names = figure385.map(([fid, name]) => [name.replace('I/O', 'IO').toUpperCase().replace(/[ -]/g, '_'), fid])
      expect(Object.entries(FID.values)).toEqual(names)
    })

    it('all are declared except Namespace Admin Label and Key Value Configuration', () => {
      const declared = figure385.filter(
        ([, name]) => name !== 'Namespace Admin Label' && name !== 'Key Value Configuration',
      )
      expect(allFeatures.map(({ fid, name }) => [fid, name])).toEqual(declared)
    })
  })

  describe('Set Features and Get Features (Base 2.1 §5.1.25 and §5.1.11)', () => {
    it('Set Features: FID and SV are in Command Dword 10 (Figure 383), UIDX in Command Dword 14 (Figure 384)', () => {
      const values = { FID: 0xc0, SV: 1, CDW11: 11, CDW12: 12, CDW13: 13, CDW14: 0x7f, CDW15: 15 }
      expect(dwordsOf(SetFeatures, values)).toEqual([0x8000_00c0, 11, 12, 13, 0x7f, 15])
      expect(rowsOf({ fields: SetFeatures.fields.CDW14.rows })).toEqual([['UIDX', 6, 0]])
    })

    it('Get Features: FID and SEL are in Command Dword 10 (Figure 192), UIDX in Command Dword 14 (Figure 193)', () => {
      expect(dwordsOf(GetFeatures, { FID: 0xc0, SEL: 3, CDW11: 11, UIDX: 0x7f })).toEqual([0x3c0, 11, 0, 0, 0x7f, 0])
      expect(GetFeatures.fields.SEL.values).toEqual({ CURRENT: 0, DEFAULT: 1, SAVED: 2, SUPPORTED: 3 })
    })

    it('SupportedCapabilitiesDw0: with SEL 011b, bits 2:0 of Dword 0 are the capabilities of the feature', () => {
      expect(rowsOf(SupportedCapabilitiesDw0)).toEqual([
        ['SAVEABLE', 0, 0],
        ['NS_SPECIFIC', 1, 1],
        ['CHANGEABLE', 2, 2],
      ])
      expect(SupportedCapabilitiesDw0.describe(5)).toBe('SAVEABLE=1 NS_SPECIFIC=0 CHANGEABLE=1')
    })
  })
})

describe('arbitration', () => {
  describe('Arbitration (Base 2.1 §5.1.25.1.1, Figure 386)', () => {
    it("AB is a power of two, the weights are 0's based", () => {
      const values = { AB: 7, LPW: zeroBased(1), MPW: zeroBased(16), HPW: zeroBased(256) }
      expect(Arbitration.CDW11.encode(values)).toBe(0xff0f_0007)
      expect(rowsOf(Arbitration.CDW11)).toEqual([
        ['AB', 2, 0],
        ['LPW', 15, 8],
        ['MPW', 23, 16],
        ['HPW', 31, 24],
      ])
    })

    it('Get Features returns the same rows in Dword 0', () => {
      expect(Arbitration.DW0.decode(0xff0f_0007)).toEqual({ AB: 7, LPW: 0, MPW: 15, HPW: 255 })
    })
  })
})

describe('power', () => {
  describe('Power Management (Base 2.1 §5.1.25.1.2, Figures 387 and 388)', () => {
    it('PS is bits 04:00 and WH bits 07:05, of Command Dword 11 and of Dword 0', () => {
      expect(PowerManagement.CDW11.encode({ PS: 4, WH: 2 })).toBe(0x44)
      expect(PowerManagement.DW0.decode(0xff)).toEqual({ PS: 31, WH: 7 })
    })
  })

  describe('Autonomous Power State Transition (Base 2.1 §5.1.25.1.6, Figures 392 and 393)', () => {
    it('APSTE is bit 0; the data is 32 entries of 8 bytes', () => {
      expect(rowsOf(AutonomousPowerStateTransition.CDW11)).toEqual([['APSTE', 0, 0]])
      expect(AutonomousPowerStateTransition.data).toBe(AutonomousPowerStateTransitions)
      expect([AutonomousPowerStateTransitions.bytes, AutonomousPowerStateTransitionEntry.bytes]).toEqual([256, 8])
    })

    it('ITPT is bits 31:08 and ITPS bits 07:03 of the entry of each power state', () => {
      const table = AutonomousPowerStateTransitions.create()
      const entry = table.APST.at(2)
      entry.ITPS = 3
      entry.ITPT = 0x01_0203
      expect(toHex(table.data, 16, 8)).toBe('18 03 02 01 00 00 00 00')
    })
  })

  describe('other features of power and temperature', () => {
    it('Host Controlled Thermal Management: TMT1 is bits 31:16, TMT2 bits 15:00 (Base 2.1 §5.1.25.1.9, Figure 398)', () => {
      expect(HostControlledThermalManagement.CDW11.encode({ TMT1: 343, TMT2: 353 })).toBe(0x0157_0161)
    })

    it('Non-Operational Power State Config: NOPPME is bit 0 (Base 2.1 §5.1.25.1.10, Figure 399)', () => {
      expect(rowsOf(NonOperationalPowerStateConfig.CDW11)).toEqual([['NOPPME', 0, 0]])
    })

    it('Spinup Control: SCE is set, SCS returned (Base 2.1 §5.1.25.1.18, Figures 412 and 413)', () => {
      expect(rowsOf(SpinupControl.CDW11)).toEqual([['SCE', 0, 0]])
      expect(rowsOf(SpinupControl.DW0)).toEqual([['SCS', 0, 0]])
    })

    it('Power Loss Signaling Config: the mode is bits 1:0 (Base 2.3 §5.2.26.1.19, Figure 433)', () => {
      expect(rowsOf(PowerLossSignalingConfig.CDW11)).toEqual([['PLSM', 1, 0]])
    })
  })
})

describe('temperature threshold', () => {
  it('Temperature Threshold: its four fields (Base 2.3 §5.2.26.1.3.1, Figure 407)', () => {
    expect(rowsOf(TemperatureThreshold.CDW11)).toEqual([
      ['TMPTH', 15, 0],
      ['TMPSEL', 19, 16],
      ['THSEL', 21, 20],
      ['TMPTHH', 24, 22],
    ])
    // libnvme 1.3, nvme_feat_tmpthresh_thsel.
    expect(TemperatureThreshold.CDW11.fields.THSEL.values).toEqual({ OVER: 0, UNDER: 1 })
    expect(TemperatureThreshold.CDW11.encode({ TMPTH: 343, THSEL: 1, TMPTHH: 5 })).toBe(0x0150_0157)
  })
})

describe('volatile write cache', () => {
  it('Volatile Write Cache: WCE is bit 0 (Base 2.1 §5.1.25.1.4, Figure 390)', () => {
    expect(rowsOf(VolatileWriteCache.CDW11)).toEqual([['WCE', 0, 0]])
  })
})

describe('number of queues', () => {
  it('Number of Queues: requested in Command Dword 11, allocated in Dword 0 (libnvme 1.3 NVME_FEAT_NRQS_*)', () => {
    expect(rowsOf(NumberOfQueues.CDW11)).toEqual([
      ['NSQR', 15, 0],
      ['NCQR', 31, 16],
    ])
    expect(rowsOf(NumberOfQueues.DW0)).toEqual([
      ['NSQA', 15, 0],
      ['NCQA', 31, 16],
    ])
  })
})

describe('interrupts', () => {
  describe('interrupt features', () => {
    it("Interrupt Coalescing: THR is 0's based and below TIME (Base 2.1 Figure 445; libnvme 1.3 NVME_FEAT_IRQC_*)", () => {
      expect(InterruptCoalescing.CDW11.encode({ THR: zeroBased(8), TIME: 0x12 })).toBe(0x1207)
      expect(rowsOf(InterruptCoalescing.CDW11)).toEqual([
        ['THR', 7, 0],
        ['TIME', 15, 8],
      ])
    })

    it('Interrupt Vector Configuration: CD is bit 16, IV bits 15:00 (Base 2.1 §5.1.25.2.3, Figure 446)', () => {
      expect(rowsOf(InterruptVectorConfiguration.CDW11)).toEqual([
        ['IV', 15, 0],
        ['CD', 16, 16],
      ])
    })
  })
})

describe('asynchronous event configuration', () => {
  it('Asynchronous Event Configuration: a bit for each kind of notice (Base 2.1 §5.1.25.1.5, Figure 391)', () => {
    expect(rowsOf(AsynchronousEventConfiguration.CDW11)).toEqual([
      ['SHCW', 7, 0],
      ['NAN', 8, 8],
      ['FAN', 9, 9],
      ['TLN', 10, 10],
      ['ANACN', 11, 11],
      ['PLEALCN', 12, 12],
      ['LSIAN', 13, 13],
      ['EGEALCN', 14, 14],
      ['NNSSHDN', 15, 15],
      ['TTHRY', 16, 16],
      ['RASSN', 17, 17],
      ['RGRP0', 18, 18],
      ['ANSAN', 19, 19],
      ['ZDCN', 27, 27],
      ['PMDRLPCN', 28, 28],
      ['ADLPCN', 29, 29],
      ['HDLPCN', 30, 30],
      ['DLPCN', 31, 31],
    ])
  })
})

describe('host memory buffer', () => {
  describe('Host Memory Buffer (Base 2.1 §5.1.25.2.4)', () => {
    it('Command Dwords 11 to 15 are those of Figures 447 to 451', () => {
      expect(rowsOf(HostMemoryBuffer.CDW11)).toEqual([
        ['EHM', 0, 0],
        // Linux 6.1, linux/nvme.h, NVME_HOST_MEM_RETURN; nvme-cli 2.
        ['MR', 1, 1],
        ['HMNARE', 2, 2],
      ])
      expect(rowsOf(HostMemoryBuffer.CDW12)).toEqual([['HSIZE', 31, 0]])
      expect(rowsOf(HostMemoryBuffer.CDW13)).toEqual([['HMDLLA', 31, 0]])
      expect(rowsOf(HostMemoryBuffer.CDW14)).toEqual([['HMDLUA', 31, 0]])
      expect(rowsOf(HostMemoryBuffer.CDW15)).toEqual([['HMDLEC', 31, 0]])
    })

    it('Dword 0 reports whether the buffer is enabled and whether access is restricted (as nvme-cli 2 prints it)', () => {
      expect(rowsOf(HostMemoryBuffer.DW0)).toEqual([
        ['EHM', 0, 0],
        ['HMNARE', 2, 2],
        ['HMNAR', 3, 3],
      ])
    })

    it('HostMemoryBufferDescriptor: addr and size of nvme_host_mem_buf_desc (Linux 6.1, linux/nvme.h)', () => {
      expect(HostMemoryBufferDescriptor.bytes).toBe(16)
      expect(bytesOf(HostMemoryBufferDescriptor)).toEqual([
        ['BADD', 0, 8],
        ['BSIZE', 8, 4],
      ])
    })

    it('HostMemoryBufferAttributes: the members of nvme_host_mem_buf_attrs (libnvme 1.3), in 4096 bytes', () => {
      expect(HostMemoryBufferAttributes.bytes).toBe(4096)
      expect(bytesOf(HostMemoryBufferAttributes)).toEqual([
        ['HSIZE', 0, 4],
        ['HMDLAL', 4, 4],
        ['HMDLAU', 8, 4],
        ['HMDLEC', 12, 4],
      ])
      expect(HostMemoryBuffer.data).toBe(HostMemoryBufferAttributes)
    })
  })
})

describe('timestamp', () => {
  describe('Timestamp (Base 2.1 §5.1.25.1.7, Figures 395 and 396)', () => {
    it('TimestampData is 8 bytes: milliseconds in the first six, attributes in the seventh', () => {
      expect(Timestamp.data).toBe(TimestampData)
      expect(TimestampData.bytes).toBe(8)
      expect(bytesOf(TimestampData)).toEqual([
        ['TSTMP', 0, 6],
        ['TSTMPS', 6, 1],
      ])
      const { rows } = TimestampData.fields.TSTMPS
      expect(rowsOf({ fields: rows })).toEqual([
        ['SYNC', 0, 0],
        ['TSTMPO', 3, 1],
      ])
      expect(rows.TSTMPO.values).toEqual({ RESET: 0, SET_FEATURES: 1 })
    })

    it('holds times beyond 32 bits', () => {
      // 2024-08-05T00:00:00Z is 1,722,816,000,000 milliseconds, 0191 1FD5 F000h.
      const { TSTMP, TSTMPS } = TimestampData.view(fromHex('00 f0 d5 1f 91 01 03 00'))
      expect([TSTMP, TSTMPS]).toEqual([Date.UTC(2024, 7, 5), 3])
    })
  })
})

describe('keep alive timer', () => {
  it('Keep Alive Timer: KATO is the whole dword, 1D4C0h is two minutes (Base 2.1 §5.1.25.1.8, Figure 397)', () => {
    expect(KeepAliveTimer.CDW11.encode({ KATO: 120_000 })).toBe(0x1_d4c0)
    expect(KeepAliveTimer.DW0.decode(0xffff_ffff)).toEqual({ KATO: 0xffff_ffff })
  })
})

describe('sanitize config', () => {
  it('Sanitize Config: NODRM is bit 0 (libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT)', () => {
    expect(rowsOf(SanitizeConfig.CDW11)).toEqual([['NODRM', 0, 0]])
  })
})

describe('io command set profile', () => {
  it('I/O Command Set Profile: IOCSCI is bits 08:00, set and returned (Base 2.1 §5.1.25.1.17, Figures 410, 411)', () => {
    expect(rowsOf(IoCommandSetProfile.CDW11)).toEqual([['IOCSCI', 8, 0]])
    expect(rowsOf(IoCommandSetProfile.DW0)).toEqual([['IOCSCI', 8, 0]])
  })
})

describe('controller data queue', () => {
  it('Controller Data Queue: its identifier, head and trigger (Base 2.1 §5.1.25.1.23, Figures 425 to 427)', () => {
    // Also Base 2.3 §5.2.26.1.23.
    expect(rowsOf(ControllerDataQueue.CDW11)).toEqual([
      ['CDQID', 15, 0],
      ['ETPT', 31, 31],
    ])
    expect(rowsOf(ControllerDataQueue.CDW12)).toEqual([['HP', 31, 0]])
    expect(rowsOf(ControllerDataQueue.CDW13)).toEqual([['TPT', 31, 0]])
    expect(ControllerDataQueue.data).toBe(ControllerDataQueueData)
    expect(ControllerDataQueueData.bytes).toBe(512)
    expect(bytesOf(ControllerDataQueueData)).toEqual([
      ['HP', 0, 4],
      ['TPT', 4, 4],
    ])
  })
})
