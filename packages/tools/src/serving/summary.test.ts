import { expect, test } from 'vitest'
import { chooseDrive } from './served-drive.js'
import { describeServed, servedJson } from './summary.js'

const counters = {
  ...{ clients: 0, connected: false, messages: 0, adminCommands: {}, ioCommands: {}, errors: 0 },
  ...{ bytesRead: 0, bytesWritten: 0, queueDepth: 0, faultsInjected: 0, doorbellWrites: 0, interrupts: { fired: [] } },
}

async function lines(changes: Partial<typeof counters>, rules?: number): Promise<readonly string[]> {
  const drive = await chooseDrive({})
  return describeServed({
    ...{ socket: 's', drive, trace: undefined, rules, wallNs: 1e9, diagnostics: [] },
    counters: { ...counters, ...changes },
  })
}

test('the summary has faults if there was a plan', async () => {
  expect((await lines({})).join()).not.toContain('faults')
  expect(await lines({}, 3)).toContain('  faults      none injected, by 3 rules')
  expect(await lines({ faultsInjected: 14 }, 1)).toContain('  faults      14 injected, by 1 rule')
})

test('the summary has messages if there was a client', async () => {
  expect(await lines({})).toContain('  clients     none')
  expect(await lines({ clients: 2, messages: 9 })).toContain('  clients     2, 9 messages')
})

test('JSON lists the mistakes of the host with code, time and text', async () => {
  const diagnostics = [
    { code: 'doorbell-state', timeNs: 1500, text: 'host rang SQ 1 tail 1, but CSTS.RDY is 0' },
  ] as const
  const drive = await chooseDrive({})
  const served = { socket: 's', drive, trace: undefined, rules: undefined, wallNs: 1e9, counters, diagnostics }
  expect(servedJson(served)).toMatchObject({ diagnostics })
  expect(describeServed(served)).toContain('  mistakes    1 by the host')
})
