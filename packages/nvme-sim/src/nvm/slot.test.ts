import { expect, it } from 'vitest'
import { ready } from '../../test/host.js'
import { at, onBlocks } from '../../test/nvm.js'
import { deriveProfile } from '../index.js'

it.each([
  ['Verify', onBlocks(0x0c, 0, 2048)],
  ['Flush', { opcode: 0, nsid: 1 }],
])('a %s does not change the time of a later Read in the same slot', async (_, other) => {
  const host = await ready({ profile: deriveProfile('ideal', { commandSlots: 1, readBytesPerSecond: 1e9 }) })
  const read = onBlocks(0x02, 0, 1, at(host, host.alloc(512)))
  const took = async () => {
    await host.pass(1e9)
    const startNs = host.clock.now()
    return (await host.command(1, read)).atNs - startNs
  }
  const alone = await took()
  expect((await host.command(1, other)).status).toBe('0/00')
  expect(await took()).toBe(alone)
})
