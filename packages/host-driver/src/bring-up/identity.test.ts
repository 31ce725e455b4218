import { deriveProfile, simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import type { RunningController } from '../running/running-controller.js'
import { Namespace } from '../namespace/namespace.js'
import { namespaceFormat } from './identity.js'

const NSZE = 0
const NOIOB = 46
const LBAF0 = 128

/** Identify Namespace of 1,000,000 blocks: LBADS in bits 23:16 of LBA format 0. */
function identify(lbads: number, noiob: number): DataView {
  const data = new DataView(new ArrayBuffer(4096))
  data.setUint32(NSZE, 1_000_000, true)
  data.setUint16(NOIOB, noiob, true)
  data.setUint32(LBAF0, lbads << 16, true)
  return data
}

test.each([
  ['none stated', 9, 0, undefined],
  ['256 blocks of 512 bytes', 9, 256, 256],
  ['32 blocks of 4096 bytes', 12, 32, 32],
  ['one that is too close to help', 9, 127, undefined],
])('the boundary that commands should not cross (NOIOB): %s', (_, lbads, noiob, boundaryBlocks) => {
  expect(namespaceFormat(1, identify(lbads, noiob))).toMatchObject({ blocks: 1_000_000, boundaryBlocks })
})

test('plans of a namespace cross no boundary', () => {
  const session = { queues: { forPlans: [{}] }, maxTransferBytes: 1024 * 1024 }
  const namespace = new Namespace({ session } as unknown as RunningController, 1, () =>
    namespaceFormat(1, identify(9, 1024)),
  )
  const plan = namespace.planReads([{ slba: 1000, blocks: 2048, offsetBytes: 0 }])
  expect([...plan.slba]).toEqual([1000, 1024, 2048])
  expect([...plan.blocks]).toEqual([24, 1024, 1000])
})

test('an MDTS of 0 sets no limit: the option applies, and 65536 blocks of NLB (NVM 1.2 §3.3.4)', async () => {
  const profile = deriveProfile('sn740', { identify: { MDTS: 0 } })
  const { transport, diagnostics } = simulate({ profile, namespaces: [{ capacityBytes: 2 ** 26 }] })
  const ctrl = await Controller.open(transport, { maxTransferBytes: 2 ** 26, queueDepth: 2 })
  expect(ctrl.maxTransferBytes).toBe(67_108_864)
  const ns = ctrl.namespace(1)
  const plan = ns.planReads([{ slba: 0, blocks: 65_544, offsetBytes: 0 }])
  expect([...plan.blocks]).toEqual([65_536, 8])
  const memory = ns.dma.alloc(65_544 * 512)
  expect(await ns.execute(plan, memory)).toMatchObject({ succeeded: 2, bytes: 33_558_528 })
  await ctrl.close()
  expect(diagnostics).toEqual([])
})
