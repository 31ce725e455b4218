import { HostEngine, type WriteRequest } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { openEngine, type EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BenchReason, BenchSource } from '../report/bench-results.js'
import { BASELINE_KINDS, type BaselineName } from './baselines.js'
import type { Contender } from './contender.js'
import { EngineContender } from './engine-contender.js'
import { engineSource } from './engine-sources.js'
import { reasonOf } from './error-reason.js'
import type { Setting } from './setting.js'

/** All who were named: those who can take part, and why the others cannot. */
export interface Participants {
  readonly contenders: readonly Contender[]
  readonly sources: readonly BenchSource[]
}

/** The engines that are tried where nobody names any: where registers are no memory, only one can be. */
export function defaultEngines({ transport }: Pick<OpenedTransport, 'transport'>): readonly EngineName[] {
  return transport.bar.window === undefined ? ['host'] : ['host', 'cpu-kernel', 'cuda']
}

export function participantsOf(
  engines: readonly EngineName[],
  baselines: readonly BaselineName[],
  opened: OpenedTransport,
  measure: { readonly setting: Setting; readonly nsid: number; readonly write: WriteRequest | undefined },
): Participants {
  const found = engines.map((name) => ({ name, missing: missingEngine(name, opened) }))
  return {
    contenders: found
      .filter(({ missing }) => missing === undefined)
      .map(({ name }) => new EngineContender({ name, opened, ...measure, makeEngine: engineMaker(name) })),
    sources: [
      ...found.map(({ name, missing }) => withMissing(engineSource(name), missing)),
      ...baselines.map((name) => withMissing(BASELINE_KINDS[name].source, noKernel(opened))),
    ],
  }
}

export function withMissing(source: BenchSource, missing: BenchReason | undefined): BenchSource {
  return missing === undefined ? source : { ...source, missing }
}

/** How an engine of that name is made anew for a repeat. */
export function engineMaker(name: EngineName): ConstructorParameters<typeof EngineContender>[0]['makeEngine'] {
  if (name !== 'host') return (transport) => openEngine(name, transport)
  return (transport, { onCompleted }) => new HostEngine(transport, { onCompleted })
}

/** Why an engine cannot drive this transport; undefined where it can. */
export function missingEngine(name: EngineName, { transport }: OpenedTransport): BenchReason | undefined {
  try {
    openEngine(name, transport)
    return undefined
  } catch (error) {
    if (!(error instanceof GpuNvmeError)) throw error
    return reasonOf(error)
  }
}

/** The kernel's driver and ours cannot have a drive at the same time. */
function noKernel({ name }: OpenedTransport): BenchReason {
  if (name === 'sim' || name === 'qtest') {
    return { reason: "no kernel has this drive: it is simulated, and Linux's way to it cannot be compared with" }
  }
  if (name === 'vfio-user') {
    return {
      reason: 'no kernel here has this drive: it is reached by a socket; in a guest of QEMU, it is the other way round',
    }
  }
  return {
    reason: "our driver has the drive, so that Linux's has not",
    next: '--hand-over while Linux has the drive, which takes turns',
  }
}
