import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { SecurityReceive, SecuritySend } from './security.js'

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
