import { describe, expect, it } from 'vitest'
import { ready, type Completed, type TestHost } from '../../test/host.js'
import { at, onBlocks } from '../../test/nvm.js'
import { deriveProfile } from '../index.js'

// Base 2.3 §4.2.3: Do Not Retry is 0 if the same command may succeed when it is retried.

const slow = [1e6, 1e6, 1e6, 1e6, 1e6] as const

/** Waits for `count` completions and returns those with an error, in order. */
async function failures(host: TestHost, qid: number, count: number): Promise<readonly Completed[]> {
  return (await host.collect(qid, count)).filter(({ status }) => status !== '0/00')
}

describe('Do Not Retry is 0 for', () => {
  it('Asynchronous Event Request Limit Exceeded', async () => {
    const host = await ready()
    for (let i = 0; i < 5; i++) host.submit(0, { opcode: 0x0c })
    expect(await failures(host, 0, 1)).toMatchObject([{ status: '1/05', dnr: false }])
  })

  it('Abort Command Limit Exceeded', async () => {
    const host = await ready()
    for (let i = 0; i < 6; i++) host.stage(0, { opcode: 0x08, cdw: { 10: 1 } })
    host.ringTail(0)
    const expected = { status: '1/03', dnr: false }
    expect(await failures(host, 0, 6)).toMatchObject([expected, expected])
  })

  it('Command Sequence Error of a Format NVM while commands for the namespace are in flight', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { readNs: slow }) })
    host.submit(1, onBlocks(0x02, 0, 1, at(host, host.alloc(512))))
    await host.pass(100)
    expect(await host.admin({ opcode: 0x80, nsid: 1 })).toMatchObject({ status: '0/0c', dnr: false })
    await host.collect(1, 1)
    expect(await host.admin({ opcode: 0x80, nsid: 1 })).toMatchObject({ status: '0/00' })
  })

  it('Data Transfer Error, and a fused command without its other half', async () => {
    const host = await ready()
    expect(await host.command(1, onBlocks(0x02, 0, 1, { prp1: 0x1000 }))).toMatchObject({ status: '0/04', dnr: false })
    const half = onBlocks(0x05, 0, 1, { ...at(host, host.alloc(512)), cdw: { 0: 1 << 8 } })
    expect(await host.command(1, half)).toMatchObject({ status: '0/0a', dnr: false })
  })

  it('Command Abort Requested, even if the command would have ended with Do Not Retry', async () => {
    const match = { qid: 1, opcode: 0 }
    const host = await ready({
      faults: {
        rules: [
          { match, action: { kind: 'status', sct: 0, sc: 0x82, dnr: true } },
          { match, action: { kind: 'delay-completion', delayNs: 1e9 } },
        ],
      },
    })
    const cid = host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(1000)
    expect(await host.admin({ opcode: 0x08, cdw: { 10: 1 | (cid << 16) } })).toMatchObject({ status: '0/00', dw0: 0 })
    expect(await host.collect(1, 1)).toMatchObject([{ status: '0/07', dnr: false }])
  })

  it('a Successful Completion', async () => {
    expect(await (await ready()).command(1, { opcode: 0, nsid: 1 })).toMatchObject({ status: '0/00', dnr: false })
  })
})

it('Do Not Retry is 1 if the same command would fail again', async () => {
  const host = await ready()
  // Number of Queues after I/O queues have been created.
  expect(await host.admin({ opcode: 0x09, cdw: { 10: 0x07, 11: 0 } })).toMatchObject({ status: '0/0c', dnr: true })
  expect(await host.command(1, onBlocks(0x02, 2 ** 21, 1))).toMatchObject({ status: '0/80', dnr: true })
})
