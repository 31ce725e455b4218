import { controllerCases, runControllerCase } from '@gpunvme/nvme-sim/conformance'
import { deriveProfile, simulate, type Simulation, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { expect, it } from 'vitest'
import { faulty } from './faulty.js'
import { traced } from './traced.js'

type Wrap = (transport: Transport) => Transport

const controllers: Readonly<Record<string, SimulationOptions>> = {
  sn740: { profile: 'sn740', namespaces: [{ capacityBytes: 32 * 1024 * 1024 }] },
  'with doorbells 32 bytes apart': {
    profile: deriveProfile('ideal', { CAP: { DSTRD: 3 } }),
    namespaces: [{ capacityBytes: 32 * 1024 * 1024 }],
  },
}

const both: Wrap = (transport) => traced(faulty(transport, { rules: [] }), () => undefined)

/** Runs every controller case; returns their outcomes and the trace hashes of the controllers. */
async function run(options: SimulationOptions, wrap: Wrap): Promise<readonly unknown[]> {
  const results: unknown[] = []
  for (const each of controllerCases) {
    const simulations: Simulation[] = []
    const open = () => {
      const simulation = simulate(options)
      simulations.push(simulation)
      return Promise.resolve(wrap(simulation.transport))
    }
    const { outcome } = await runControllerCase(each, open)
    results.push([each.id, outcome, ...simulations.map(({ traceHash }) => traceHash)])
  }
  return results
}

it.each(Object.entries(controllers))(
  'every controller case on %s has the same outcome and trace hash through the wrappers traced and faulty without faults',
  async (_, options) => {
    expect(await run(options, both)).toEqual(await run(options, (transport) => transport))
  },
)
