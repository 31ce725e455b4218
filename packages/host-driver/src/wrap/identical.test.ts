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

/** How each controller case ends, and what the controller did in it: all of that, and when. */
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
  'every controller case on %s goes through a transport that is traced and faulty, without a fault, as without it',
  async (_, options) => {
    expect(await run(options, both)).toEqual(await run(options, (transport) => transport))
  },
)
