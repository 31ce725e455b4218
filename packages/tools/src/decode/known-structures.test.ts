import { expect, test } from 'vitest'
import { unknownIdentify, unknownLog } from './known-structures.js'

test('known structures are listed in one line for programs', () => {
  expect(unknownIdentify(6, 4, Infinity).message.split('\n')).toEqual([
    'Unknown structure: --cns 6 --csi 4',
    '  --cns 6 is known with --csi 0x00=NVM 0x02=ZNS',
    '  Try: gpunvme help nvme decode',
  ])
  expect(unknownIdentify(0x21, 4, Infinity).message).not.toMatch(/COMMAND_SET_CONTROLLER|PORTS_LIST/)
  expect(unknownLog(0x24, Infinity).message.split('\n')).toHaveLength(3)
})

test('known structures are folded to the terminal width', () => {
  const lines = unknownIdentify(0x21, 0, 60).message.split('\n')
  expect(lines.slice(0, 4)).toEqual([
    'Unknown structure: --cns 33 --csi 0',
    '  known --cns: 0x00=NAMESPACE 0x01=CONTROLLER',
    '    0x02=ACTIVE_NAMESPACE_LIST',
    '    0x03=NAMESPACE_DESCRIPTOR_LIST 0x04=NVM_SET_LIST',
  ])
  expect(lines.filter((line) => line.length > 60)).toEqual([])
})
