// `npm run bench -- --against REV`: compares the working tree with a revision, as docs/how-to/bench.md describes.
import { join } from 'node:path'
import { instructionsOf, missingCallgrind, worksOf } from './instructions.mjs'
import { compareRounds, ratioOf } from './ratios.mjs'
import { buildNative, buildRevision, needsNative, shareBenches, withRevision } from './revision.mjs'
import { benchFiles, figuresOf } from './run.mjs'

const say = (...words) => console.error('bench:', ...words)

/** Compares the benches that `selects` accepts. Returns the result of --json, without the machine. */
export function compareWith(root, commit, { rounds, selects }) {
  const ours = benchFiles(root).filter(selects)
  const native = ours.some(({ name }) => needsNative(root, name))
  return withRevision(root, commit, (folder) => {
    say(`building ${commit.slice(0, 12)}`)
    if (native) buildNative(root)
    buildRevision(folder, { native })
    const theirs = benchFiles(folder).filter(selects)
    const pathsIn = shareBenches(root, folder)
    const isIn = (list) => (each) => list.some(({ id }) => id === each.id)
    const callgrind = missingCallgrind()
    if (callgrind !== undefined) say(`instructions are not counted: ${callgrind}`)
    const benches = ours
      .filter((bench) => pathsIn(bench).length > 0)
      .map((bench) => {
        const here = join(root, 'packages', bench.name, 'bench', bench.file)
        return compareBench(bench.id, here, pathsIn(bench), { rounds, count: callgrind === undefined })
      })
    return {
      benches,
      onlyInWorkingTree: ours.filter((bench) => pathsIn(bench).length === 0).map(({ id }) => id),
      onlyInRevision: theirs.filter((each) => !isIn(ours)(each)).map(({ id }) => id),
    }
  })
}

/**
 * Runs a bench in both trees, alternating. `there` lists the bench's files in the revision's tree: that of the working
 * tree first, then the revision's own, which replaces it if it fails.
 */
function compareBench(id, here, there, { rounds, count }) {
  const result = { id, figures: [], onlyInWorkingTree: [], onlyInRevision: [], instructions: [], failures: [] }
  let [path, fallback] = there
  const measured = []
  const runTheirs = () => {
    try {
      return figuresOf(path)
    } catch (error) {
      if (fallback === undefined) throw error
      say(`${id}: the working tree's bench file fails on the revision; the revision's own is used: ${error.message}`)
      path = fallback
      fallback = undefined
      result.benchFile = 'own'
      return figuresOf(path)
    }
  }
  try {
    for (let round = 0; round < rounds; round++) {
      const startMs = performance.now()
      // The order alternates too, so that a slowdown of the machine favours neither tree.
      const first = round % 2 === 0 ? figuresOf(here) : runTheirs()
      const second = round % 2 === 0 ? runTheirs() : figuresOf(here)
      measured.push(round % 2 === 0 ? { ours: first, theirs: second } : { ours: second, theirs: first })
      say(`${id}: round ${round + 1} of ${rounds}, ${((performance.now() - startMs) / 1000).toFixed(1)} s`)
    }
    const { figures, onlyOurs, onlyTheirs } = compareRounds(measured)
    Object.assign(result, { figures, onlyInWorkingTree: onlyOurs, onlyInRevision: onlyTheirs })
  } catch (error) {
    say(`${id} could not be run: ${error.message}`)
    result.failures.push(`could not be run: ${error.message}`)
    return result
  }
  if (count) countInstructions(result, here, path)
  return result
}

function countInstructions(result, here, there) {
  const works = worksOf(here)
  if (works.length === 0) return say(`${result.id}: instructions are not counted: the bench exports no \`works\``)
  const common = works.filter((work) => worksOf(there).includes(work))
  const startMs = performance.now()
  try {
    const [ours, theirs] = [here, there].map((path) => instructionsOf(path, common))
    for (const work of common)
      result.instructions.push({
        work,
        ours: ours[work],
        theirs: theirs[work],
        ratio: ratioOf(ours[work], theirs[work]),
      })
    say(`${result.id}: instructions counted, ${((performance.now() - startMs) / 1000).toFixed(1)} s`)
  } catch (error) {
    say(`${result.id}: instructions are not counted: ${error.message}`)
  }
}

/** Formats a comparison as text: ratios first, since names are long. */
export function describe({ benches, onlyInWorkingTree, onlyInRevision }) {
  const number = (value) => String(Number(value.toPrecision(3)))
  const ratio = (value) => value.toFixed(3)
  const lines = []
  for (const bench of benches) {
    lines.push('', `${bench.id}${bench.benchFile === 'own' ? ' (the revision runs its own bench file)' : ''}`)
    for (const { name, unit, ours, theirs, ratio: spread, verdict } of bench.figures) {
      const values = `${number(theirs)} -> ${number(ours)} ${unit}`.trim()
      const ratios = spread === undefined ? '' : `${ratio(spread.median)} (${ratio(spread.min)}..${ratio(spread.max)})`
      lines.push(`  ${ratios.padEnd(21)}  ${verdict.padEnd(8)}  ${values.padEnd(32)}  ${name}`)
    }
    for (const { work, ours, theirs, ratio: each } of bench.instructions) {
      const values = `${theirs.toFixed(1)} -> ${ours.toFixed(1)}`
      lines.push(
        `  ${ratio(each).padEnd(31)}  ${values.padEnd(32)}  instructions per operation of ${work}, by callgrind`,
      )
    }
    for (const name of bench.onlyInWorkingTree) lines.push(`  only in the working tree: ${name}`)
    for (const name of bench.onlyInRevision) lines.push(`  only in the revision: ${name}`)
    for (const failure of bench.failures) lines.push(`  ${failure}`)
  }
  if (onlyInWorkingTree.length + onlyInRevision.length > 0) lines.push('')
  for (const id of onlyInWorkingTree) lines.push(`only in the working tree: ${id}`)
  for (const id of onlyInRevision) lines.push(`only in the revision: ${id}`)
  return lines.join('\n')
}
