import {
  negotiateTier,
  probeReads,
  probeWrites,
  withVram,
  type AcceptedMemory,
  type Tier,
  type VramAllocator,
  type VramProvider,
} from '@gpunvme/cuda-native/vram'
import type { Namespace } from '@gpunvme/host-driver'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { Choice } from './choice.js'
import type { Target } from './gpu.js'
import type { ComposeOptions } from './options.js'
import type { FindReach, GpuReach } from './reach.js'
import type { Teardown } from './teardown.js'

export interface ReachedTier {
  /** 0: no GPU; layers stay in host memory. */
  readonly tier: Tier | 0
  /** Allocates GPU memory that the controller can access; absent in tier 1. */
  readonly vram?: VramAllocator
  readonly choice: Choice
}

/** Input of the decision on a tier. */
export interface TierInput {
  readonly transport: Transport
  readonly namespace: Namespace
  readonly target: Target
  readonly options: Pick<ComposeOptions, 'tier' | 'allowPeerReads' | 'staticBar1' | 'vram'>
  readonly findReach: FindReach
}

/**
 * Negotiates the highest tier whose probe passes, and opens its memory.
 * @param teardown runs after the controller has stopped, and not at all if it could not be stopped
 */
export async function reachTier(input: TierInput, teardown: Teardown): Promise<ReachedTier> {
  const { transport, namespace, target, options, findReach } = input
  const { tier: maxTier = 2, allowPeerReads = false } = options
  if (target.gpu === undefined) return throughHost(target, options, 'no GPU')
  if (maxTier === 1) return tierOne('tier 1 was requested')
  const { cuda, device } = target.gpu
  const reach = await findReach(target.gpu, transport, options)
  teardown.add(() => reach.close())
  const probed = (provider: VramProvider, flush: (() => void) | undefined) => {
    const vram = withVram(namespace.dma, provider, reach.memory, flush && { flush })
    return { namespace, host: namespace.dma, vram, gpu: reach.memory }
  }
  const { tier, memory, reasons } = await negotiateTier({
    maxTier,
    can: transport.can,
    ordering: device.ordering,
    flush: () => cuda.flushWrites(),
    providers: reach.providers,
    probe: (provider, flush) => probeWrites(probed(provider, flush)),
    ...(allowPeerReads && {
      peerReads: { probe: (provider: VramProvider, flush?: () => void) => probeReads(probed(provider, flush)) },
    }),
  })
  // A failed probe keeps memory that its last command may still write to.
  for (const { quarantined } of reasons) if (quarantined !== undefined) teardown.add(() => quarantined.free())
  const rejected = reasons.map(({ tier: missed, provider, message, code }) => {
    return { option: `tier ${missed}${provider === undefined ? '' : ` by ${provider}`}`, reason: message, code }
  })
  if (memory === undefined) return tierOneAfter(rejected)
  const vram = openVram(transport, memory, reach)
  teardown.add(() => vram.close())
  const reason = `${memory.provider.name}: ${memory.facts.at(-1) ?? 'its probe passed'}`
  return { tier, vram, choice: { subject: 'tier', chosen: String(tier), reason, rejected } }
}

function openVram({ dma }: Transport, { provider, flush }: AcceptedMemory, { memory }: GpuReach): VramAllocator {
  return withVram(dma, provider, memory, flush && { flush })
}

/** Returns the tier for a source that cannot write to GPU memory. @param reason why not */
export function throughHost(
  { gpu }: Pick<Target, 'gpu'>,
  { vram = 0 }: Pick<ComposeOptions, 'vram'>,
  reason: string,
): ReachedTier {
  if (gpu !== undefined || vram > 0) return tierOne(reason)
  const choice = {
    subject: 'tier',
    chosen: 'none',
    reason: 'layers stay in host memory',
    rejected: [],
  } as const
  return { tier: 0, choice }
}

/** @param reason why the drive does not write to GPU memory */
function tierOne(reason: string): ReachedTier {
  return tierOneAfter([{ option: 'tier 2', reason }])
}

function tierOneAfter(rejected: Choice['rejected']): ReachedTier {
  return { tier: 1, choice: { subject: 'tier', chosen: '1', reason: 'data go through host memory', rejected } }
}
