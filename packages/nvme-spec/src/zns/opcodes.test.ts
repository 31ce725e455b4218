import { expect, it } from 'vitest'
import { commandOf } from '../commands.js'
import { Read } from '../nvm/read-write.js'
import { ZNS_OPCODE } from './opcodes.js'
import { ZoneAppend } from './zone-append.js'
import { ZoneManagementReceive, ZoneManagementSend } from './zone-management.js'

it('opcodes are those of ZNS 1.1 Figure 12, beside those of the NVM Command Set', () => {
  expect(ZNS_OPCODE.values).toEqual({ ZONE_MANAGEMENT_SEND: 0x79, ZONE_MANAGEMENT_RECEIVE: 0x7a, ZONE_APPEND: 0x7d })
  expect([0x79, 0x7a, 0x7d, 0x02].map((opcode) => commandOf('zns', opcode))).toEqual([
    ZoneManagementSend,
    ZoneManagementReceive,
    ZoneAppend,
    Read,
  ])
  expect(commandOf('nvm', 0x79)).toBeUndefined()
})
