import { describe, expect, it } from 'vitest'
import { identifyStructure } from './identify-structure.js'

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
    [0x0b, 0], // reserved, as the next
    [0x0f, 0],
    [0x1d, 0], // of fabrics, as the next
    [0x1e, 0],
    [0x20, 0],
    [0x21, 0],
    [0xff, 0],
  ])('CNS %i with CSI %i has no declared structure', (cns, csi) => {
    expect(identifyStructure(cns, csi)).toBeUndefined()
  })

  it.each(['constructor', 'toString', '1', 1n, 1.5, -1, NaN, undefined])('is none for %s', (no) => {
    expect(identifyStructure(no as number)).toBeUndefined()
    expect(identifyStructure(0x05, no === undefined ? -1 : (no as number))).toBeUndefined()
    expect(identifyStructure(0x06, no === undefined ? -1 : (no as number))).toBeUndefined()
  })
})
