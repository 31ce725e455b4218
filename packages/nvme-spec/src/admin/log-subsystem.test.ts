import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import {
  ManagementAddressDescriptor,
  ManagementAddressList,
  ParticipatingNvmSubsystemsHeader,
} from './log-subsystem.js'

describe('Dispersed Namespace Participating NVM Subsystems (LID 17h, Base 2.3 §5.2.12.1.23)', () => {
  it('begins with the fields of Figure 275', () => {
    expect([ParticipatingNvmSubsystemsHeader.bytes, ...bytesOf(ParticipatingNvmSubsystemsHeader)]).toEqual([
      256,
      ['GENCTR', 0, 8],
      ['NUMPSUB', 8, 8],
    ])
    const page = sparse(768, { 0: '03', 8: '02', 256: '6e 71 6e', 512: '6e 71 6e' })
    expect(ParticipatingNvmSubsystemsHeader.decode(page)).toEqual({ GENCTR: 3n, NUMPSUB: 2n })
  })
})

describe('Management Address List (LID 18h, Base 2.3 §5.2.12.1.24)', () => {
  it('is eight descriptors of Figure 277', () => {
    expect([ManagementAddressList.bytes, ...bytesOf(ManagementAddressList)]).toEqual([4096, ['MAD', 0, 4096]])
    expect([ManagementAddressDescriptor.bytes, ...bytesOf(ManagementAddressDescriptor)]).toEqual([
      512,
      ['MAT', 0, 1],
      ['MADRS', 4, 508],
    ])
    expect(valuesOf(ManagementAddressDescriptor.fields.MAT)).toEqual({
      ...{ NONE: 0, NVM_SUBSYSTEM_MANAGEMENT_AGENT: 1, FABRIC_INTERFACE_MANAGER: 2, END_OF_LIST: 255 },
    })
  })

  it('decodes a list of one address', () => {
    const { MAD } = ManagementAddressList.decode(
      sparse(4096, { 0: '01', 4: '68 74 74 70 3a 2f 2f 61 00 78', 512: 'ff' }),
    )
    expect([MAD.length, MAD[0]?.MAT, MAD[0]?.MADRS, MAD[1]?.MAT]).toEqual([8, 1, 'http://a', 255])
  })
})
