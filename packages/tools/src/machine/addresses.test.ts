import { expect, test } from 'vitest'
import { DRIVE, GPU, MACHINE, PORT } from '../../test/doctor/facts.js'
import { addressesOf, NothingThereError } from './addresses.js'
import { UsageError } from '../command-line/tools-error.js'

test('addressesOf accepts full and short addresses, and Linux names of drives', () => {
  const words = ['0000:0b:00.0', '0B:00.0', 'nvme1', '/dev/nvme1n1', '0a:00.0']
  expect(addressesOf(MACHINE, words)).toEqual([DRIVE, GPU])
})

test('addressesOf rejects missing devices, and devices that are neither GPU nor drive', () => {
  expect(() => addressesOf(MACHINE, ['nvme7'])).toThrow(NothingThereError)
  expect(() => addressesOf(MACHINE, ['0000:7f:00.0'])).toThrow('There is no PCI function 0000:7f:00.0')
  expect(() => addressesOf(MACHINE, [PORT])).toThrow(`${PORT} is neither a GPU nor an NVMe drive`)
})

test('addressesOf rejects invalid words', () => {
  for (const word of ['sda', '', '0b:00', 'nvme', '../../etc'])
    expect(() => addressesOf(MACHINE, [word])).toThrow(UsageError)
})
