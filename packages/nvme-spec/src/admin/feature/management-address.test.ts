import { describe, expect, it } from 'vitest'
import { toHex } from '../../../test/bytes.js'
import { bytesOf } from '../../../test/figures.js'
import {
  EmbeddedManagementControllerAddress,
  EmbeddedManagementControllerAddressData,
  HostManagementAgentAddress,
  HostManagementAgentAddressData,
} from './management-address.js'

describe('addresses of management agents (Base 2.1 §5.1.25.1.24 and §5.1.25.1.25)', () => {
  it('Embedded Management Controller Address: a URI in bytes 511:04 (Figure 428)', () => {
    expect(EmbeddedManagementControllerAddress.data).toBe(EmbeddedManagementControllerAddressData)
    expect(EmbeddedManagementControllerAddressData.bytes).toBe(512)
    expect(bytesOf(EmbeddedManagementControllerAddressData)).toEqual([['EMCA', 4, 508]])
    const { data } = EmbeddedManagementControllerAddressData.create({ EMCA: 'a:b' })
    expect(toHex(data, 0, 9)).toBe('00 00 00 00 61 3a 62 00 00')
  })

  it('Host Management Agent Address: a URI in bytes 511:04 (Figure 429)', () => {
    expect(HostManagementAgentAddress.data).toBe(HostManagementAgentAddressData)
    expect(HostManagementAgentAddressData.bytes).toBe(512)
    expect(bytesOf(HostManagementAgentAddressData)).toEqual([['HMAA', 4, 508]])
  })
})
