import { planResidence } from '@gpunvme/layer-loader/residence'
import { expect, test } from 'vitest'
import { DRIVE, facts, GPU } from '../../../test/doctor/facts.js'
import { isKnown } from '../../machine/known.js'
import { copyCostOf, machineDefaults } from '../../model/machine-cost.js'
import { examine } from './examine.js'
import { expectationOf } from './expect.js'

test('doctor predicts what plan predicts for the same machine', () => {
  const rig = facts()
  const { pairs } = examine(rig)
  const pair = pairs.find(({ drive, gpu }) => drive === DRIVE && gpu === GPU)!
  const expected = expectationOf(rig, pair)
  const { vramBytes, gpuLink, drive } = machineDefaults(rig.machine, rig.process!.cuda, DRIVE)
  // 855,638,016 weights in blocks of 210 bytes for 256 weights (Q6_K).
  const layers = Array.from({ length: 80 }, (_, index) => ({ name: String(index), lengthBytes: 701_890_560 }))
  const { predicted } = planResidence(layers, {
    budget: { vramBytes: vramBytes!, ramBytes: 24 * 1024 ** 3 },
    tier: 1,
    cost: { ...drive!.cost, ...copyCostOf(gpuLink!) },
    costFrom: 'preset sn740',
  })
  expect(isKnown(expected) && expected.tokens[1]).toEqual({
    quantisation: 'Q6',
    seconds: predicted.passNs / 1e9,
    hotSeconds: predicted.sustained!.passNs / 1e9,
  })
})
