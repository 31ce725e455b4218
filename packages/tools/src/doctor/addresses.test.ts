import { expect, test } from 'vitest'
import { DRIVE, GPU, MACHINE, PORT } from '../../test/doctor/facts.js'
import { addressesOf, NothingThereError } from './addresses.js'
import { UsageError } from '../command-line/usage-error.js'

test("a drive is named by its address, whole or short, or by Linux's name; a GPU by its address", () => {
  const words = ['0000:0b:00.0', '0B:00.0', 'nvme1', '/dev/nvme1n1', '0a:00.0']
  expect(addressesOf(MACHINE, words)).toEqual([DRIVE, GPU])
})

test('what is not there is not found, and what is neither GPU nor drive is called what it is', () => {
  expect(() => addressesOf(MACHINE, ['nvme7'])).toThrow(NothingThereError)
  expect(() => addressesOf(MACHINE, ['0000:7f:00.0'])).toThrow('There is no PCI function 0000:7f:00.0')
  expect(() => addressesOf(MACHINE, [PORT])).toThrow(`${PORT} is neither a GPU nor an NVMe drive`)
})

test('words that name nothing are refused as such', () => {
  for (const word of ['sda', '', '0b:00', 'nvme', '../../etc'])
    expect(() => addressesOf(MACHINE, [word])).toThrow(UsageError)
})
