import { expect, test } from 'vitest'
import { functionNotFound, notNvme } from './function.js'

const gone = '0000:0b:00.0'

test('an address where nothing is names the controllers that there are, to choose from', () => {
  const { message } = functionNotFound(gone, ['0000:01:00.0', '0000:02:00.0'])
  expect(message).toContain('NVMe controllers here: 0000:01:00.0, 0000:02:00.0\n')
  expect(message).toContain('Try: give one of these addresses')
})

test.each([
  ['where nothing is', functionNotFound(gone, [])],
  ['of something else', notNvme(gone, 0x02_00_00, [])],
])('an address %s, on a machine without a controller, sends nobody to choose from none', (_what, { message }) => {
  expect(message).toContain('NVMe controllers here: none\n')
  expect(message).not.toContain('give one of these')
  expect(message).toContain('Try: check that the drive has power and sits in its slot')
})
