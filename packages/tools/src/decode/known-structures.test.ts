import { expect, test } from 'vitest'
import { unknownIdentify, unknownLog } from './known-structures.js'

test('known structures are listed in one line', () => {
  expect(unknownIdentify(6, 4).message.split('\n')).toEqual([
    'Unknown structure: --cns 6 --csi 4',
    '  --cns 6 is known with --csi 0x00=NVM 0x02=ZNS',
    '  Try: gpunvme help nvme decode',
  ])
  expect(unknownIdentify(0x21, 4).message).not.toMatch(/COMMAND_SET_CONTROLLER|PORTS_LIST/)
  expect(unknownLog(0x24).message.split('\n')).toHaveLength(3)
})
