// One token of a 70B model larger than memory, on the predecessor's rig: its schedule and ours, in virtual time.
import { openResidence, planResidence } from '@gpunvme/layer-loader'
import { originalToken } from './lib/original-schedule.mjs'
import { COMPUTE_NS, COPY_NS, cost, LAYER_BYTES, LAYERS, layers, onRig, plainSource, READS } from './lib/rig.mjs'

/** As measured there; it reports 201 ms in one place and 202 ms in another. */
const READ_MS = 202

export async function bench() {
  const original = await onRig(originalToken)
  const tier2 = await ours({ tier: 2, vramSlots: 4, ramSlots: 0 })
  const tier1 = await ours({ tier: 1, vramSlots: 4, ramSlots: 2 })
  const rig = '80 layers of 669.4 MiB, 20 in VRAM, 30 in RAM, 30 on an SN740; PCIe Gen3 x8 to the GPU'
  return [
    {
      name: `Modelled: a token of Llama 3.1 70B Q6_K with the predecessor’s schedule, tier 2 (${rig})`,
      value: original / 1e9,
      unit: 's',
      goal: '9.1 s ± 0.2, as measured there',
      met: Math.abs(original / 1e9 - 9.1) <= 0.2,
      note: 'its schedule, re-created: 30 layers copied, then 30 read',
    },
    ...[tier2, tier1].map((run) => rowOf(run, original)),
    {
      name: 'Modelled: speed of the first token with our schedule, tier 2, compared with the predecessor’s',
      value: original / tier2.firstNs,
      unit: '×',
      goal: '≥ 1.35',
      met: original / tier2.firstNs >= 1.35,
      note: `tier 1, where the drive does not write to the GPU: ${(original / tier1.firstNs).toFixed(2)} ×`,
    },
  ]
}

function rowOf({ plan, firstNs, nextNs, times }) {
  const { driveNs, gpuLinkNs } = plan.predicted
  const boundNs = Math.max(30 * READ_MS * 1e6, 60 * COPY_NS) + LAYERS * COMPUTE_NS + plan.predicted.fillNs
  const overlap = times.bothBusyNs / Math.min(times.driveBusyNs, times.copyBusyNs)
  const seconds = (ns) => (ns / 1e9).toFixed(2)
  return {
    name: `Modelled: the same token with our schedule, tier ${plan.tier}, without read-ahead`,
    value: firstNs / 1e9,
    unit: 's',
    goal: `≤ 1.05 × the lower bound of ${seconds(boundNs)} s`,
    met: firstNs <= 1.05 * boundNs,
    note:
      `lower bound: max(30 × ${READ_MS} ms read, 60 × ${COPY_NS / 1e6} ms over the GPU’s link) + ${(LAYERS * COMPUTE_NS) / 1e6} ms ` +
      `computed + ${plan.predicted.fillNs / 1e6} ms until the first layer arrives; each later token ${seconds(nextNs)} s, ` +
      `${seconds(plan.predicted.passNs)} s predicted (drive ${seconds(driveNs)}, link ${seconds(gpuLinkNs)}; costs from ${plan.costFrom}); ` +
      `both links were busy during ${(overlap * 100).toFixed(0)} % of the time of the less busy one`,
  }
}

/** Computes two tokens with a plan for the memory budget of the predecessor plus slots. */
function ours({ tier, vramSlots, ramSlots }) {
  const budget = { vramBytes: (20 + vramSlots) * LAYER_BYTES, ramBytes: (30 + ramSlots) * LAYER_BYTES }
  const reads = READS
  const plan = planResidence(layers, { budget, tier, cost, costFrom: 'preset sn740', reads, computeNs: COMPUTE_NS })
  return onRig(async (rig) => {
    const { gpu, clock } = rig
    const model = await openResidence(plan, { source: plainSource(rig), copies: gpu.copies })
    const token = async (options) => {
      const startNs = clock.now()
      for await (const layer of model.pass(options)) {
        await gpu.compute(COMPUTE_NS)
        layer.release()
      }
      return clock.now() - startNs
    }
    const firstNs = await token()
    const nextNs = await token()
    const times = model.statistics
    await model.close()
    return { plan, firstNs, nextNs, times }
  })
}
