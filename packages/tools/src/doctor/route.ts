/**
 * Path of bytes from a drive to their destination, by destination and by who rings the doorbells. Tiers are those of
 * the README; engines those of `--engine`.
 */
export type Route = 'memory' | 'tier1' | 'tier1-cuda' | 'tier2-dma-buf' | 'tier2-static-bar1' | 'tier3'

interface RouteFacts {
  readonly title: string
  /** Name in lists. */
  readonly short: string
  /** 0 is host memory, which is not a tier. */
  readonly tier: 0 | 1 | 2 | 3
  /** Whether steps for it are advised to a user who only wants it to work. */
  readonly isAdvised: boolean
  /** Routes that must be possible before this one. */
  readonly above: readonly Route[]
  /**
   * Reason why it is never 'ready' from facts alone and needs a test. No level of the README's table has shown these on
   * a GPU.
   */
  readonly trial?: string
}

export const ROUTES: Readonly<Record<Route, RouteFacts>> = {
  memory: {
    title: 'host memory, engines host and cpu-kernel',
    short: 'host memory',
    tier: 0,
    isAdvised: true,
    above: [],
  },
  tier1: {
    title: 'tier 1, engine host: the CPU rings',
    short: 'tier 1 (host)',
    tier: 1,
    isAdvised: true,
    above: ['memory'],
  },
  'tier1-cuda': {
    title: 'tier 1, engine cuda: the GPU rings',
    short: 'tier 1 (cuda)',
    tier: 1,
    isAdvised: true,
    above: ['tier1'],
    trial: 'only a test can tell whether the GPU can ring doorbells',
  },
  'tier2-dma-buf': {
    title: 'tier 2, by dma-buf',
    short: 'tier 2 (dma-buf)',
    tier: 2,
    isAdvised: true,
    above: ['tier1'],
    trial: 'only a test can tell whether the platform routes writes from SSD to GPU',
  },
  'tier2-static-bar1': {
    title: 'tier 2, by static BAR1',
    short: 'tier 2 (static BAR1)',
    tier: 2,
    isAdvised: false,
    above: ['tier1'],
    trial: 'requires gpunvme load --static-bar1; does not pin GPU memory; has not run on a GPU',
  },
  tier3: {
    title: 'tier 3: queues in GPU memory',
    short: 'tier 3',
    tier: 3,
    isAdvised: true,
    above: ['tier1-cuda', 'tier2-dma-buf'],
    trial: 'it needs peer-to-peer reads, after which some platforms drop the drive',
  },
}

/** From lowest to highest. */
export const ROUTE_NAMES = Object.keys(ROUTES) as readonly Route[]

/** Routes that require a GPU. */
export const GPU_ROUTES: readonly Route[] = ROUTE_NAMES.filter((route) => route !== 'memory')

/** Returns a route and all routes that it requires. */
export function withThoseBelow(route: Route): ReadonlySet<Route> {
  const found = new Set<Route>([route])
  for (const each of found) for (const below of ROUTES[each].above) found.add(below)
  return found
}
