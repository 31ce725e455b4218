import { expect, it } from 'vitest'
import { KeepAliveTimer } from './keep-alive-timer.js'

it('Keep Alive Timer: KATO is the whole dword, 1D4C0h are two minutes (Base 2.1 §5.1.25.1.8, Figure 397)', () => {
  expect(KeepAliveTimer.CDW11.encode({ KATO: 120_000 })).toBe(0x1_d4c0)
  expect(KeepAliveTimer.DW0.decode(0xffff_ffff)).toEqual({ KATO: 0xffff_ffff })
})
