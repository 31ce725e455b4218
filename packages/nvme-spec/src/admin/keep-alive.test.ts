import { expect, it } from 'vitest'
import { sqeFields } from '../layout/command.js'
import { KeepAlive } from './keep-alive.js'

it('Keep Alive is opcode 18h, transfers no data and has no command specific field (Base 2.1 §5.1.14)', () => {
  expect(KeepAlive).toMatchObject({ opcode: 0x18, set: 'admin', transfer: 'none' })
  expect(Object.keys(KeepAlive.fields)).toEqual(Object.keys(sqeFields))
})
