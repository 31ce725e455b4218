import { expect, it } from 'vitest'
import { allCommands } from '../all.js'
import { NVM_OPCODE } from './opcodes.js'

it('opcodes are those of NVM 1.2 Figure 21', () => {
  expect(NVM_OPCODE.values).toEqual({
    FLUSH: 0x00,
    WRITE: 0x01,
    READ: 0x02,
    WRITE_UNCORRECTABLE: 0x04,
    COMPARE: 0x05,
    WRITE_ZEROES: 0x08,
    DATASET_MANAGEMENT: 0x09,
    VERIFY: 0x0c,
    RESERVATION_REGISTER: 0x0d,
    RESERVATION_REPORT: 0x0e,
    RESERVATION_ACQUIRE: 0x11,
    IO_MANAGEMENT_RECEIVE: 0x12,
    RESERVATION_RELEASE: 0x15,
    CANCEL: 0x18,
    COPY: 0x19,
    IO_MANAGEMENT_SEND: 0x1d,
  })
})

it('each is that of a command which is declared, and the other way round', () => {
  const declared = allCommands.filter(({ set }) => set === 'nvm')
  const name = (text: string) => text.toUpperCase().replace('I/O', 'IO').replaceAll(' ', '_')
  expect(Object.fromEntries(declared.map((command) => [name(command.name), command.opcode]))).toEqual(NVM_OPCODE.values)
})
