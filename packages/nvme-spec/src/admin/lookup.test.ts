import { describe, expect, it } from 'vitest'
import { identifyStructure, logStructure, persistentEventData } from './lookup.js'

describe('identify structure', () => {
  describe('identifyStructure (Base 2.1 §5.1.13.1, Figure 310)', () => {
    it.each([
      [0x00, 'Identify Namespace'],
      [0x01, 'Identify Controller'],
      [0x02, 'Active Namespace ID list'],
      [0x04, 'NVM Set List'],
      [0x05, 'NVM Command Set Identify Namespace'],
      [0x06, 'NVM Command Set Identify Controller'],
      [0x07, 'Active Namespace ID list'],
      [0x08, 'I/O Command Set Independent Identify Namespace'],
      [0x09, 'Identify Namespace'],
      [0x0a, 'NVM Command Set Identify Namespace'],
      [0x10, 'Allocated Namespace ID list'],
      [0x11, 'Identify Namespace'],
      [0x12, 'Controller List'],
      [0x13, 'Controller List'],
      [0x14, 'Primary Controller Capabilities'],
      [0x15, 'Secondary Controller List'],
      [0x16, 'Namespace Granularity List'],
      [0x17, 'UUID List'],
      [0x18, 'Domain List'],
      [0x19, 'Endurance Group List'],
      [0x1a, 'Allocated Namespace ID list'],
      [0x1b, 'NVM Command Set Identify Namespace'],
      [0x1c, 'Identify I/O Command Set'],
      [0x1f, 'I/O Command Set Independent Identify Namespace'],
    ])('CNS %i of the NVM Command Set is %s', (cns, name) => {
      expect(identifyStructure(cns)).toMatchObject({ name, bytes: 4096 })
      expect(identifyStructure(cns, 0)).toBe(identifyStructure(cns))
    })

    it.each([
      [0x05, 'Zoned Namespace Command Set Identify Namespace'],
      [0x06, 'Zoned Namespace Command Set Identify Controller'],
      [0x07, 'Active Namespace ID list'],
      [0x0a, 'Zoned Namespace Command Set Identify Namespace'],
      [0x1a, 'Allocated Namespace ID list'],
      [0x1b, 'Zoned Namespace Command Set Identify Namespace'],
    ])('CNS %i of the Zoned Namespace Command Set is %s', (cns, name) => {
      expect(identifyStructure(cns, 2)?.name).toBe(name)
    })

    it.each([
      [0x03, 0], // a list of entries of different lengths
      [0x05, 1], // Key Value
      [0x06, 4], // Computational Programs
      [0x0b, 0], // reserved, like the next
      [0x0f, 0],
      [0x1d, 0], // Fabrics, like the next
      [0x1e, 0],
      [0x20, 0],
      [0x21, 0],
      [0xff, 0],
    ])('CNS %i with CSI %i has no declared structure', (cns, csi) => {
      expect(identifyStructure(cns, csi)).toBeUndefined()
    })

    it.each(['constructor', 'toString', '1', 1n, 1.5, -1, NaN, undefined])('returns undefined for %s', (no) => {
      expect(identifyStructure(no as number)).toBeUndefined()
      expect(identifyStructure(0x05, no === undefined ? -1 : (no as number))).toBeUndefined()
      expect(identifyStructure(0x06, no === undefined ? -1 : (no as number))).toBeUndefined()
    })
  })
})

describe('log pages', () => {
  describe('logStructure', () => {
    // Log page identifier, and the length of the page, or of its header or entry if the page has no fixed length.
    it.each([
      [0x00, 1024],
      [0x01, 64],
      [0x02, 512],
      [0x03, 512],
      [0x04, 4096],
      [0x05, 4096],
      [0x06, 564],
      [0x07, 512],
      [0x08, 512],
      [0x09, 512],
      [0x0a, 512],
      [0x0b, 8],
      [0x0c, 16],
      [0x0d, 512],
      [0x0e, 16],
      [0x0f, 8],
      [0x10, 16],
      [0x11, 16],
      [0x12, 1024],
      [0x13, 4096],
      [0x14, 512],
      [0x15, 16],
      [0x16, 512],
      [0x17, 256],
      [0x18, 4096],
      [0x1a, 16],
      [0x1b, 16],
      [0x1c, 4096],
      [0x20, 16],
      [0x21, 8],
      [0x22, 64],
      [0x23, 64],
      [0x80, 64],
      [0x81, 512],
      [0xbf, 4096],
    ])('the structure of log page %i has %i bytes', (lid, bytes) => {
      expect(logStructure(lid)?.bytes).toBe(bytes)
    })

    it('distinguishes pages of equal length', () => {
      expect([0x04, 0x1c, 0x07, 0x08].map((lid) => logStructure(lid)?.name)).toEqual([
        'Changed Attached Namespace List',
        'Changed Allocated Namespace List',
        'Telemetry Host-Initiated header',
        'Telemetry Controller-Initiated header',
      ])
    })

    it('returns undefined for reserved, Fabrics and vendor specific pages', () => {
      expect([0x19, 0x24, 0x70, 0x82, 0xc0, 0xff, -1].map(logStructure)).toEqual(Array(7).fill(undefined))
    })
  })

  describe('persistentEventData', () => {
    it.each([
      [0x01, 512, 'SMART / Health Information'],
      [0x02, 22, 'Firmware Commit Event data'],
      [0x03, 16, 'Timestamp Change Event data'],
      [0x04, 8, 'Power-on or Reset Event data'],
      [0x05, 4, 'NVM Subsystem Hardware Error Event data'],
      [0x06, 48, 'Change Namespace Event data'],
      [0x07, 12, 'Format NVM Start Event data'],
      [0x08, 12, 'Format NVM Completion Event data'],
      [0x09, 12, 'Sanitize Start Event data'],
      [0x0a, 8, 'Sanitize Completion Event data'],
      [0x0b, 4, 'Set Feature Event data'],
      [0x0d, 2, 'Thermal Excursion Event data'],
      [0xde, 6, 'Vendor Specific Event Descriptor'],
    ])('an event of type %i carries %i bytes: %s', (type, bytes, name) => {
      expect(persistentEventData(type)).toMatchObject({ bytes, name })
    })

    it('returns undefined for telemetry, media verification, TCG and reserved types', () => {
      expect([0x00, 0x0c, 0x0e, 0x10, 0xdf].map(persistentEventData)).toEqual(Array(5).fill(undefined))
    })
  })
})
