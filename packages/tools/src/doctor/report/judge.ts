import { isSolvable, type Finding } from '../finding.js'
import { GPU_ROUTES, ROUTE_NAMES, ROUTES, withThoseBelow, type Route } from '../route.js'

/**
 * `ready`: no known obstacle. `steps`: each obstacle has steps that remove it. `try`: like `ready` or `steps`, but only
 * a test can tell. `unknown`: a requirement could not be checked. `no`: an obstacle without a remedy here.
 */
export type Readiness = 'ready' | 'steps' | 'try' | 'unknown' | 'no'

/** Whether a route between a drive and a GPU is open, and the findings that decide it. */
export interface Verdict {
  readonly route: Route
  readonly readiness: Readiness
  /** Findings that satisfy its requirements. */
  readonly met: readonly Finding[]
  /** Obstacles; those without a remedy first. */
  readonly unmet: readonly Finding[]
  readonly unknown: readonly Finding[]
}

/** A drive, and a GPU if the machine has one. */
export interface Pair {
  readonly drive: string
  readonly gpu: string | undefined
  readonly verdicts: readonly Verdict[]
  /** Highest route that is open or that steps open; undefined if there is none. */
  readonly best: Verdict | undefined
}

/** Best first. */
const BY_READINESS: readonly Readiness[] = ['ready', 'steps', 'try', 'unknown', 'no']

/** Judges every route between each drive and each GPU; without GPUs, only routes to host memory. */
export function judge(findings: readonly Finding[], drives: readonly string[], gpus: readonly string[]): Pair[] {
  const pairs = drives.flatMap((drive) =>
    gpus.length === 0 ? [judgePair(findings, drive, undefined)] : gpus.map((gpu) => judgePair(findings, drive, gpu)),
  )
  return pairs.sort((a, b) => rank(a) - rank(b))
}

/** Best that a machine can do. */
export type Reach = 'simulator' | 'unknown' | Pair

/** Returns the best pair; 'unknown' if a pair may exist but cannot be judged; 'simulator' otherwise. */
export function reachOf(pairs: readonly Pair[], findings: readonly Finding[]): Reach {
  const best = pairs.find((pair) => pair.best !== undefined)
  if (best !== undefined) return best
  const mayBe = pairs.some(({ verdicts }) => verdicts.some(({ readiness }) => readiness === 'unknown'))
  // Without visible drives there are no pairs.
  const isBlind = findings.some(({ severity, subjects, closes }) => {
    return severity === 'unknown' && subjects.length === 0 && closes.includes('memory')
  })
  return mayBe || isBlind ? 'unknown' : 'simulator'
}

function judgePair(findings: readonly Finding[], drive: string, gpu: string | undefined): Pair {
  const about = findings.filter(({ subjects }) => subjects.every((each) => each === drive || each === gpu))
  const routes = gpu === undefined ? ROUTE_NAMES.filter((route) => !GPU_ROUTES.includes(route)) : ROUTE_NAMES
  const verdicts = routes.map((route) => judgeRoute(about, route))
  return { drive, gpu, verdicts, best: bestOf(verdicts) }
}

function judgeRoute(findings: readonly Finding[], route: Route): Verdict {
  const needs = withThoseBelow(route)
  const concerns = (routes: readonly Route[]) => routes.some((each) => needs.has(each))
  const against = findings.filter(({ closes }) => concerns(closes))
  const unknown = against.filter(({ severity }) => severity === 'unknown')
  const unmet = against
    .filter(({ severity }) => severity !== 'unknown')
    .sort((a, b) => Number(isSolvable(a)) - Number(isSolvable(b)))
  const met = findings.filter(({ opens }) => concerns(opens))
  return { route, readiness: readinessOf(route, unmet, unknown), met, unmet, unknown }
}

function readinessOf(route: Route, unmet: readonly Finding[], unknown: readonly Finding[]): Readiness {
  if (unmet.some((each) => !isSolvable(each))) return 'no'
  if (unknown.length > 0) return 'unknown'
  if (ROUTES[route].trial !== undefined) return 'try'
  return unmet.length > 0 ? 'steps' : 'ready'
}

/** A route that needs a test is the best one only if no other is open. */
function bestOf(verdicts: readonly Verdict[]): Verdict | undefined {
  const open = verdicts.filter(({ readiness }) => readiness === 'ready' || readiness === 'steps')
  return open.at(-1)
}

/** Smaller is better: by tier, then by the work required. */
function rank({ best, verdicts }: Pair): number {
  const readiness = best?.readiness ?? verdicts[0]!.readiness
  const tier = best === undefined ? 0 : ROUTES[best.route].tier + 1
  const todo = Math.min(best?.unmet.length ?? 0, 50)
  return -tier * 1000 + BY_READINESS.indexOf(readiness) * 100 + todo
}
