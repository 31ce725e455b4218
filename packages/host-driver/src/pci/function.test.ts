import { expect, test } from 'vitest'
import { functionNotFound, notNvme } from './function.js'

const gone = '0000:0b:00.0'

test('the error of an address without a function lists the NVMe controllers to choose from', () => {
  const { message } = functionNotFound(gone, ['0000:01:00.0', '0000:02:00.0'])
  expect(message).toContain('NVMe controllers here: 0000:01:00.0, 0000:02:00.0\n')
  expect(message).toContain('Try: give one of these addresses')
})

test.each([
  ['without a function', functionNotFound(gone, [])],
  ['of another device class', notNvme(gone, 0x02_00_00, [])],
])('the error of an address %s, on a machine without controllers, suggests no other address', (_what, { message }) => {
  expect(message).toContain('NVMe controllers here: none\n')
  expect(message).not.toContain('give one of these')
  expect(message).toContain('Try: check that the drive has power and sits in its slot')
})
