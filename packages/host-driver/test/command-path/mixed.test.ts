import { simulate } from '@gpunvme/nvme-sim'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000
const SEEDS = Number(process.env['SEEDS'] ?? 300)
const FIRST = Number(process.env['FIRST'] ?? 1)

function random(seed: number) {
  let state = seed * 2654435761
  return (below: number) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0
    return (state >>> 8) % below
  }
}

const ACTIONS: readonly FaultAction[] = [
  { kind: 'hang' },
  { kind: 'drop-completion' },
  { kind: 'delay-completion', delayNs: 55 * MS },
  { kind: 'delay-completion', delayNs: 30 * MS },
  { kind: 'delay-completion', delayNs: 75 * MS },
  { kind: 'duplicate-completion' },
  { kind: 'corrupt-cid', xor: 0x4000 },
  { kind: 'corrupt-phase' },
  { kind: 'fatal-status' },
  { kind: 'surprise-reset' },
  { kind: 'remove-device' },
  { kind: 'status', sct: 0, sc: 0x06, dnr: false },
  { kind: 'status', sct: 0, sc: 0x04, dnr: false },
  { kind: 'resize-namespace', nsid: 1, blocks: 1024 },
  { kind: 'async-event', aet: 1, aei: 0, lid: 2 },
]

async function run(seed: number) {
  const next = random(seed)
  const pairs = next(3) === 0 ? 1 : 4
  const rules = Array.from({ length: 1 + next(4) }, () => ({
    match: { qid: next(3) === 0 ? 0 : 1 + next(pairs === 1 ? 1 : 3), nth: 1 + next(20) + 14 * next(2) },
    action: ACTIONS[next(ACTIONS.length)]!,
  }))
  const simulation = simulate({
    profile: next(2) === 0 ? 'ideal' : 'sn740',
    namespaces: [{ capacityBytes: 1024 * 1024 }],
    faults: { rules },
    seed,
  })
  const log: string[] = []
  let ctrl
  try {
    ctrl = await Controller.open(simulation.transport, {
      write: { serial: simulation.serial },
      queues: 2,
      queueDepth: 3,
      maxTransferBytes: 4096,
      commandTimeoutNs: 50 * MS,
      recovery: { abortNs: 10 * MS, queuesNs: 20 * MS, restartNs: 200 * MS },
    })
  } catch {
    return
  }
  const ns = ctrl.namespace(1)
  const calls: Promise<unknown>[] = []
  const names: string[] = []
  const settled = new Set<number>()
  const events = (async () => {
    for await (const event of ctrl.events()) log.push(event.kind)
  })()
  const add = (name: string, promise: Promise<unknown>) => {
    const index = names.push(name) - 1
    calls.push(
      promise.then(
        () => settled.add(index),
        (error: unknown) => {
          settled.add(index)
          const code = (error as { code?: string }).code ?? (error as Error).message
          log.push(`${name}: ${code}`)
          // Only documented errors.
          if (!/^ERR_GPUNVME|aborted|Abort/.test(code))
            throw new Error(`seed ${seed}: ${name} rejected with ${String((error as Error).stack)}`)
        },
      ),
    )
  }
  for (let index = 0; index < 25; index++) {
    const memory = ns.dma.alloc(16384)
    const abort = new AbortController()
    if (next(4) === 0) setImmediate(() => abort.abort(new Error('aborted')))
    const { signal } = abort
    const slba = next(64)
    switch (next(12)) {
      case 0:
        add('read', ns.read(slba, 32, memory, { signal }))
        break
      case 1:
        add('write', ns.write(slba, 32, memory, { signal }))
        break
      case 2:
        add('flush', ns.flush())
        break
      case 3:
        add('compare', ns.compare(slba, 32, memory, { signal }))
        break
      case 4:
        add('verify', ns.verify(slba, 32, { signal }))
        break
      case 5:
        add('zeroes', ns.writeZeroes(slba, 32, { signal }))
        break
      case 6:
        add('smart', ctrl.smartLog())
        break
      case 7:
        add('errors', ctrl.errorLog(1))
        break
      case 8:
        if (next(5) === 0) add('reset', ctrl.reset())
        break
      case 9:
        add('deallocate', ns.deallocate([{ slba, blocks: 8 }]))
        break
      case 10:
        for (let turn = next(20); turn > 0; turn--) await Promise.resolve()
        break
      case 11:
        await new Promise(setImmediate)
        break
    }
    if (index > 15 && next(40) === 0) add('close', ctrl.close())
  }
  add(
    'last',
    ctrl.close().catch((error: unknown) => {
      if (!/ERR_GPUNVME/.test((error as { code?: string }).code ?? '')) throw error
    }),
  )
  const all = Promise.all(calls)
  const bounded = (async () => {
    for (let turn = 0; turn < 20_000; turn++) {
      await new Promise(setImmediate)
      if (settled.size === names.length) return
    }
    const open = names.filter((_, index) => !settled.has(index))
    throw new Error(`seed ${seed}: never settled: ${open.join()} ${JSON.stringify(rules)} ${log.join(' | ')}`)
  })()
  await Promise.all([all, bounded])
  await events
  const bad = simulation.diagnostics.map(({ text }) => text).filter((text) => !/remove|CFS|CSTS.RDY is 0/.test(text))
  if (bad.length > 0) throw new Error(`seed ${seed}: ${JSON.stringify(rules)}\n${bad.join('\n')}\n${log.join(' | ')}`)
}

test('mixed calls under faults all end', { timeout: 400_000 }, async () => {
  const failures: string[] = []
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
    await run(seed).catch((error: unknown) => failures.push((error as Error).message))
  }
  expect(failures).toEqual([])
})
