import { isSolvable, type Finding } from './finding.js'
import { GPU_ROUTES, ROUTE_NAMES, ROUTES, withThoseBelow, type Route } from './route.js'

/**
 * `ready`: nothing that can be read stands against it. `steps`: what stands against it has steps that remove it. `try`: the
 * same as one of these, but only trying tells. `unknown`: something it hangs on could not be looked at. `no`: something
 * stands against it that nobody can remove here.
 */
export type Outlook = 'ready' | 'steps' | 'try' | 'unknown' | 'no'

/** Whether a route is open between a drive and a GPU, and by which findings. */
export interface Verdict {
  readonly route: Route
  readonly outlook: Outlook
  /** Needs of it that are met, by the findings that say so. */
  readonly met: readonly Finding[]
  /** What stands against it: first what cannot be removed. */
  readonly unmet: readonly Finding[]
  readonly unknown: readonly Finding[]
}

/** A drive, and a GPU where there is one. */
export interface Pair {
  readonly drive: string
  readonly gpu: string | undefined
  readonly verdicts: readonly Verdict[]
  /** The highest route that is open, or that steps open; undefined where there is none. */
  readonly best: Verdict | undefined
}

/** Best first: what is ready before what takes steps, before what has to be tried. */
const OUTLOOKS: readonly Outlook[] = ['ready', 'steps', 'try', 'unknown', 'no']

/** Judges every route between each drive and each GPU; those to host memory where there is no GPU. */
export function judge(findings: readonly Finding[], drives: readonly string[], gpus: readonly string[]): Pair[] {
  const pairs = drives.flatMap((drive) =>
    gpus.length === 0 ? [judgePair(findings, drive, undefined)] : gpus.map((gpu) => judgePair(findings, drive, gpu)),
  )
  return pairs.sort((a, b) => rank(a) - rank(b))
}

/** What a machine can do, at best. */
export type Reach = 'simulator' | 'unknown' | Pair

/** The best pair that goes beyond the simulator; 'unknown' where one might, and cannot be judged from here. */
export function reachOf(pairs: readonly Pair[], findings: readonly Finding[]): Reach {
  const best = pairs.find((pair) => pair.best !== undefined)
  if (best !== undefined) return best
  const mayBe = pairs.some(({ verdicts }) => verdicts.some(({ outlook }) => outlook === 'unknown'))
  // Where not even drives can be seen, there are no pairs.
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
  return { route, outlook: outlookOf(route, unmet, unknown), met, unmet, unknown }
}

function outlookOf(route: Route, unmet: readonly Finding[], unknown: readonly Finding[]): Outlook {
  if (unmet.some((each) => !isSolvable(each))) return 'no'
  if (unknown.length > 0) return 'unknown'
  if (ROUTES[route].trial !== undefined) return 'try'
  return unmet.length > 0 ? 'steps' : 'ready'
}

/** What has to be tried is no reason to promise it: it is the best only where nothing else is open. */
function bestOf(verdicts: readonly Verdict[]): Verdict | undefined {
  const open = verdicts.filter(({ outlook }) => outlook === 'ready' || outlook === 'steps')
  return open.at(-1)
}

/** Smaller is better: by tier, then by how much is to be done. */
function rank({ best, verdicts }: Pair): number {
  const outlook = best?.outlook ?? verdicts[0]!.outlook
  const tier = best === undefined ? 0 : ROUTES[best.route].tier + 1
  const todo = Math.min(best?.unmet.length ?? 0, 50)
  return -tier * 1000 + OUTLOOKS.indexOf(outlook) * 100 + todo
}
